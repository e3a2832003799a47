//! What was asked, and what its answer becomes.

use serde_json::value::RawValue;
use tokio::sync::oneshot;
use toolpact_contract::Revision;

use crate::catalog::{Known, Place};
use crate::inspector::{Later, Pace, Ruling};
use crate::message::{Message, code, error};
use crate::patch::splice;
use crate::tasks::Task;
use crate::{Id, Inspector};

/// What a request is about, as far as its answer is looked at.
#[derive(Debug)]
pub(crate) enum Asked {
    /// The handshake, or what takes its place: its answer names the server and the revision.
    Initialize,
    /// A page of the tool list.
    List {
        /// How it was asked for.
        place: Place,
        /// The revision that the client reads.
        revision: Revision,
    },
    /// A call that is not sent yet.
    Held,
    /// A call.
    Call {
        /// Its tool, where it is known.
        known: Option<Known>,
        /// The revision that the client reads.
        revision: Revision,
    },
    /// A task, whose result is that of a call where it has come to its end.
    Task {
        /// The tool of the call, where it is known.
        known: Option<Known>,
        /// The revision that the client reads.
        revision: Revision,
    },
    /// Asked by the guard itself: where the text of the answer goes.
    Own(oneshot::Sender<Vec<u8>>),
    /// Anything else.
    Other,
}

/// What takes the place of an answer where judging it failed.
pub(crate) const UNJUDGED: &str = "the answer of the server could not be judged";

impl Asked {
    /// The answer as the client gets it, at a pace for which its `line` has to be read again; nothing
    /// where that is how it came.
    pub(crate) fn judge_line(
        &self,
        inspector: &Inspector,
        id: Option<&Id>,
        line: &[u8],
        pace: Pace,
    ) -> Result<Option<Vec<u8>>, Later> {
        match Message::read(line) {
            Ok(message) => self.judge(inspector, id, &message, line, pace),
            Err(_) => Ok(None),
        }
    }

    /// The answer as the client gets it; nothing where that is `line`, which `message` was read from.
    pub(crate) fn judge(
        &self,
        inspector: &Inspector,
        id: Option<&Id>,
        message: &Message<'_>,
        line: &[u8],
        pace: Pace,
    ) -> Result<Option<Vec<u8>>, Later> {
        // A notification about a task has parameters like the result of a request about it.
        let result = message.result.or(message.params.map(RawValue::get));
        let Some(mut result) = result else { return Ok(None) };
        let ruling = match self {
            // Compiling schemas takes its time.
            Self::List { .. } if pace == Pace::Quick => return Err(Later),
            Self::List { place, revision } => inspector.list(result, *place, revision),
            Self::Call { known, revision } => {
                let outline = message.outline.as_ref();
                inspector.result(known.as_ref(), result, outline, revision, pace)?
            }
            Self::Task { known, revision } => {
                let Some(inside) = Task::read(result).and_then(|task| task.result) else {
                    return Ok(None);
                };
                result = inside.get();
                inspector.result(known.as_ref(), result, None, revision, pace)?
            }
            _ => Ruling::Same,
        };
        Ok(match ruling {
            Ruling::Same => None,
            Ruling::Replaced(new) => std::str::from_utf8(line)
                .ok()
                .map(|line| splice(line, &[(result, new)]).into_bytes()),
            Ruling::Refused(message) => Some(error(id, code::INTERNAL, &message)),
        })
    }
}
