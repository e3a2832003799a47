//! Checks that take too long for the I/O thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytestring::ByteString;
use toolbond_contract::{Contract, Revision};
use toolbond_targets::{UsedNames, View};

use crate::audience::Audience;
use crate::contract::arguments::{ArgumentCheck, CheckedArguments};
use crate::contract::budget::{Budget, OutOfBudget, value_bytes};
use crate::contract::catalog::{PageRequest, Tool};
use crate::contract::list::{CheckedPage, PageCheck};
use crate::contract::result::{CheckedResult, ResultCheck};
use crate::contract::view::{Unrestored, restore_arguments};
use crate::environment::{Bundle, CallSpan};
use crate::message::INLINE_BYTES;
use crate::server::{Rules, Server};

/// A job of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JobId(pub(super) u64);

/// A check that takes too long for the I/O thread.
pub struct Job {
    pub id: JobId,
    pub(super) server: Arc<Server>,
    pub(super) rules: Arc<Rules>,
    pub(super) check: Check,
    pub(super) abandoned: Arc<AtomicBool>,
    /// Whether it was run before, and has waited since.
    pub(super) has_waited: AtomicBool,
}

/// What to check.
pub(super) enum Check {
    Arguments {
        contract: Contract,
        arguments: Option<ByteString>,
        revision: Revision,
        span: Option<CallSpan>,
    },
    Result {
        tool: Option<Tool>,
        result: ByteString,
        revision: Revision,
        span: Option<CallSpan>,
    },
    Page {
        request: PageRequest,
        others: UsedNames,
        result: ByteString,
        audience: Audience,
    },
    Restore {
        view: Arc<View>,
        arguments: ByteString,
    },
}

/// What a job came to.
#[derive(Debug)]
pub enum JobOutcome {
    Arguments(CheckedArguments),
    Result(CheckedResult),
    Page(CheckedPage),
    /// The arguments of a call, where they are not those of the client.
    Restored(Result<Option<String>, Unrestored>),
    /// The check could not be run to its end.
    Failed(&'static str),
}

impl JobOutcome {
    /// The tools that are left out of a page until their documents are fetched.
    pub fn pending(&self) -> &[Arc<dyn Bundle>] {
        match self {
            Self::Page(page) => &page.pending,
            _ => &[],
        }
    }
}

impl std::fmt::Debug for Job {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Job").field(&self.id).finish()
    }
}

impl Job {
    /// The bytes of the text that it checks.
    pub fn text_len(&self) -> usize {
        match &self.check {
            Check::Arguments { arguments, .. } => arguments.as_ref().map_or(0, |it| it.len()),
            Check::Result { result, .. } | Check::Page { result, .. } => result.len(),
            Check::Restore { arguments, .. } => arguments.len(),
        }
    }

    /// The bytes that parsed values may take while it runs, at most `cap`.
    pub fn memory(&self, cap: usize) -> usize {
        let bytes = match &self.check {
            Check::Arguments { arguments, .. } => {
                arguments.as_ref().map_or(0, |it| value_bytes(it))
            }
            Check::Result { result, .. } => value_bytes(result),
            // The text and the value of each tool, and the shaped copy.
            Check::Page { result, .. } => 3 * value_bytes(result),
            Check::Restore { arguments, .. } => restore_bytes(arguments),
        };
        if bytes <= INLINE_BYTES { 0 } else { bytes.min(cap) }
    }

    /// Lets it finish with what is there.
    pub fn stop_waiting(&self) {
        self.has_waited.store(true, Ordering::Relaxed);
    }

    /// Whether nobody waits for its outcome any more.
    pub fn is_abandoned(&self) -> bool {
        self.abandoned.load(Ordering::Relaxed)
    }

    /// Runs it under `budget`.
    pub fn run(&self, mut budget: Budget) -> Result<JobOutcome, OutOfBudget> {
        let (server, rules) = (&*self.server, &*self.rules);
        Ok(match &self.check {
            Check::Arguments { contract, arguments, revision, span } => {
                let check =
                    ArgumentCheck { server, rules, contract, revision, span: span.as_ref() };
                JobOutcome::Arguments(check.check(arguments.as_deref(), &mut budget)?)
            }
            Check::Result { tool, result, revision, span } => {
                let (tool, span) = (tool.as_ref(), span.as_ref());
                let check = ResultCheck { server, rules, tool, revision, span };
                JobOutcome::Result(check.check(result, None, &mut budget)?)
            }
            // What is too large to be restored is checked as it came.
            Check::Restore { arguments, .. } if restore_bytes(arguments) > budget.memory => {
                JobOutcome::Restored(Ok(None))
            }
            Check::Restore { view, arguments } => {
                JobOutcome::Restored(restore_arguments(view, arguments))
            }
            Check::Page { request, others, result, audience } => {
                let may_wait = !self.has_waited.load(Ordering::Relaxed);
                let (request, memory) = (*request, budget.memory);
                let check =
                    PageCheck { server, rules, request, others, audience, may_wait, memory };
                JobOutcome::Page(check.check(result))
            }
        })
    }
}

/// The bytes of the values of `arguments` before and after they are restored, and of the new text.
fn restore_bytes(arguments: &str) -> usize {
    value_bytes(arguments).saturating_mul(3)
}
