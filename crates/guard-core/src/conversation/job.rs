//! Checks that take too long for the I/O thread.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use bytestring::ByteString;
use toolbond_contract::{Contract, Revision};
use toolbond_targets::{UsedNames, View};

use crate::audience::Audience;
use crate::contract::arguments::{ArgumentCheck, CheckedArguments, restore_bytes};
use crate::contract::budget::{Budget, OutOfBudget};
use crate::contract::catalog::{PageRequest, Tool};
use crate::contract::list::{CheckedPage, PageCheck};
use crate::contract::param_headers::ParamHeaders;
use crate::contract::result::{CheckedResult, ResultCheck};
use crate::environment::{Bundle, CallSpan};
use crate::event::CallSource;
use crate::json::strict::value_bytes;
use crate::message::INLINE_BYTES;
use crate::server::{Rules, Server};

/// A call whose result is checked.
#[derive(Clone, Debug)]
pub(super) struct AnsweredCall {
    pub(super) tool: Option<Tool>,
    pub(super) revision: Revision,
    /// Whether the call became a task, and this is its result.
    pub(super) is_of_task: bool,
    pub(super) source: CallSource,
    pub(super) span: Option<CallSpan>,
}

impl AnsweredCall {
    pub(super) fn check<'a>(&'a self, server: &'a Server, rules: &'a Rules) -> ResultCheck<'a> {
        let Self { tool, revision, is_of_task, source, span } = self;
        let (tool, span) = (tool.as_ref(), span.as_ref());
        ResultCheck { server, rules, tool, revision, is_of_task: *is_of_task, source, span }
    }
}

/// A job of a conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct JobId(pub(super) u64);

/// A check that takes too long for the I/O thread.
pub struct Job {
    pub id: JobId,
    pub(super) server: Arc<Server>,
    pub(super) rules: Arc<Rules>,
    pub(super) check: JobKind,
    pub(super) abandoned: Arc<AtomicBool>,
    /// Whether it was run before, and has waited since.
    pub(super) has_waited: AtomicBool,
}

/// What to check.
pub(super) enum JobKind {
    Arguments {
        contract: Contract,
        view: Option<Arc<View>>,
        headers: Option<Arc<ParamHeaders>>,
        arguments: Option<ByteString>,
        revision: Revision,
        source: CallSource,
        span: Option<CallSpan>,
    },
    Result {
        call: AnsweredCall,
        result: ByteString,
    },
    Page {
        request: PageRequest,
        others: UsedNames,
        result: ByteString,
        audience: Audience,
    },
}

/// What a job came to.
#[derive(Debug)]
pub enum JobOutcome {
    Arguments(CheckedArguments),
    Result(CheckedResult),
    Page(CheckedPage),
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
            JobKind::Arguments { arguments, .. } => arguments.as_ref().map_or(0, |it| it.len()),
            JobKind::Result { result, .. } | JobKind::Page { result, .. } => result.len(),
        }
    }

    /// The bytes that parsed values may take while it runs, at most `cap`.
    pub fn memory(&self, cap: usize) -> usize {
        let bytes = match &self.check {
            JobKind::Arguments { arguments: None, .. } => 0,
            JobKind::Arguments { arguments: Some(arguments), view: Some(_), .. } => {
                restore_bytes(arguments)
            }
            JobKind::Arguments { arguments: Some(arguments), .. } => value_bytes(arguments),
            JobKind::Result { result, .. } => value_bytes(result),
            // The text and the value of each tool, and the shaped copy.
            JobKind::Page { result, .. } => 3 * value_bytes(result),
        };
        if bytes <= INLINE_BYTES { 0 } else { bytes.min(cap) }
    }

    /// Makes the job finish with the documents that are there.
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
            JobKind::Arguments { contract, view, headers, arguments, revision, source, span } => {
                let (view, headers, span) = (view.as_deref(), headers.as_deref(), span.as_ref());
                let check = ArgumentCheck {
                    server,
                    rules,
                    contract,
                    view,
                    headers,
                    revision,
                    source,
                    span,
                };
                JobOutcome::Arguments(check.check(arguments.as_deref(), &mut budget)?)
            }
            JobKind::Result { call, result } => {
                let check = call.check(server, rules);
                JobOutcome::Result(check.check(result, None, &mut budget)?)
            }
            JobKind::Page { request, others, result, audience } => {
                let may_wait = !self.has_waited.load(Ordering::Relaxed);
                let (request, memory) = (*request, budget.memory);
                let check =
                    PageCheck { server, rules, request, others, audience, may_wait, memory };
                JobOutcome::Page(check.check(result))
            }
        })
    }
}
