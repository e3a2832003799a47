//! What the core needs from outside: time, random numbers, and somebody who listens.
//!
//! The core calls these, in place of handing out actions for them: checks run on worker threads, apart from their
//! conversation, and what they report stays in order with what is decided.

use std::any::Any;
use std::fmt::Debug;
use std::sync::Arc;
use std::time::Instant;

use serde_json::Value;
use toolbond_contract::{Action, Finding, Revision, judge::CallCheck};

use crate::event::{CallSource, Event};
use crate::learned::Learned;

/// What the core needs from outside.
pub trait Environment: Send + Sync {
    /// Now.
    fn now(&self) -> Instant;

    /// 128 random bits; `None` where the system has none.
    fn random(&self) -> Option<u128>;

    /// Takes an event.
    fn report(&self, event: Event);

    /// Counts something.
    fn record(&self, record: &Record<'_>);

    /// Whether calls are traced.
    fn is_tracing(&self) -> bool {
        false
    }

    /// Starts the span of a call; `None` where calls are not traced.
    fn start_call(&self, _call: &CallStart<'_>) -> Option<CallSpan> {
        None
    }

    /// Calls `work` with each number below `count`, maybe on several threads at once.
    fn for_each(&self, count: usize, work: &(dyn Fn(usize) + Sync)) {
        (0..count).for_each(work);
    }

    /// Says in the findings about `tool` why the documents that it refers to are not there.
    fn explain_references(
        &self,
        _findings: &mut [Finding],
        _tool: &Value,
        _bundle: Option<&dyn Bundle>,
    ) {
    }
}

/// Something that is counted.
#[derive(Debug)]
pub enum Record<'a> {
    /// What a server says about itself: its name and version, and the revision that was negotiated.
    Handshake { server: Option<String>, revision: Option<&'a Revision> },
    /// A listed tool.
    Tool { name: &'a str, findings: &'a [Finding], status: ToolStatus },
    /// A call; `None` for a tool that is not listed.
    Call { tool: Option<&'a str>, revision: &'a Revision, source: &'a CallSource },
    /// A call that is answered with an error, of the guard or of the server.
    Failed { tool: &'a str, source: &'a CallSource, message: &'a str },
    /// A tool whose server breaks its output schema, and what is known of that.
    BrokenOutput { tool: &'a str, learned: &'a Learned },
    /// A check of arguments or a result, as part of a span.
    Check { tool: &'a str, check: CallCheck, span: Option<&'a CallSpan> },
}

/// What clients get of a tool.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ToolStatus {
    /// The server has not listed it yet.
    #[default]
    Unknown,
    /// Clients get it.
    Kept,
    /// Clients get it without a member of it, or repaired.
    Changed,
    /// Clients do not get it.
    Dropped,
    /// Clients do not get it, because the settings hide it.
    Hidden,
}

impl ToolStatus {
    /// The status that the findings about a tool amount to.
    #[must_use]
    pub fn from_findings(findings: &[Finding]) -> Self {
        let did = |action| findings.iter().any(|finding| finding.action == action);
        if did(Action::ToolDropped) {
            Self::Dropped
        } else if did(Action::MemberDropped) || did(Action::Repaired) {
            Self::Changed
        } else {
            Self::Kept
        }
    }
}

/// The trace that a call belongs to, as it is written: `traceparent` and `tracestate`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct TraceFields {
    pub traceparent: String,
    pub tracestate: Option<String>,
}

/// What is known of a call when it starts.
#[derive(Debug)]
pub struct CallStart<'a> {
    /// The traces that it says it belongs to; the first one that can be read counts.
    pub parents: &'a [TraceFields],
    pub revision: &'a Revision,
    pub request_id: String,
    pub session: Option<&'a str>,
    /// Whether its messages are lines of a pipe.
    pub is_pipe: bool,
}

/// The span of a call. Clones are the same span, which ends once.
pub type CallSpan = Arc<dyn Span>;

/// What happens to a call, for whoever traces it.
pub trait Span: Debug + Send + Sync {
    /// What passes the trace on, with this span as the parent; `None` where there is nothing to change.
    fn fields(&self) -> Option<TraceFields>;

    /// Sets the name of the tool. Names that are not `listed` are anybody's.
    fn set_tool(&self, name: &str, listed: bool);

    /// Reports `event`, which is about these findings, in the context of this span.
    fn report(&self, findings: &[Finding], report: &mut dyn FnMut());

    /// The call does not reach the tool.
    fn set_refused(&self);

    /// A tool error takes the place of the result.
    fn set_withheld(&self);

    /// The result gets the shape of an older revision.
    fn set_projected(&self);

    /// The result says that the tool failed.
    fn set_tool_error(&self);

    /// Adds the arguments, as JSON.
    fn set_arguments(&self, text: &str);

    /// Adds the result, as JSON.
    fn set_result(&self, text: &str);

    /// Adds what a check came to.
    fn add_check(&self, check: &CallCheck);

    /// The result leaves.
    fn end_result(&self);

    /// An error with this code leaves.
    fn end_error(&self, code: i64);

    /// Nobody waits for the answer any more.
    fn end_cancelled(&self);
}

/// Gets the documents that the schemas of tools refer to.
pub trait Documents: Send + Sync {
    /// What has become of `tool`, whose text is `text`; `None` if it refers to nothing outside itself. Its bytes are added
    /// to `used`, those of the list so far, which may be too many. It does not wait.
    fn bundle(&self, text: &str, tool: &Value, used: &mut usize) -> Option<Arc<dyn Bundle>>;
}

/// What has become of a tool whose schemas refer to other documents.
pub trait Bundle: Any + Debug + Send + Sync {
    /// The tool with its schemas bundled, and the bytes of its text.
    fn ready(&self) -> Option<(&Value, usize)>;

    /// Whether its documents are being fetched.
    fn is_pending(&self) -> bool;
}
