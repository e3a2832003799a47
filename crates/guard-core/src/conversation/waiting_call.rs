//! Calls that wait: for the tool list, or for their arguments to be checked.

use std::sync::Arc;
use std::time::Instant;

use bytestring::ByteString;
use serde_json::Value;
use toolbond_contract::judge::tool_error;

use super::action::{AskId, StreamId, Ticket};
use super::held::Decision;
use super::pending::Key;
use crate::contract::arguments::Clearance;
use crate::contract::catalog::ListKey;
use crate::contract::header_changes::HeaderChange;
use crate::contract::param_headers::ParamHeaders;
use crate::contract::refusal_text;
use crate::environment::CallSpan;
use crate::event::CallSource;
use crate::json::edit::{EditError, Span};
use crate::message::{Changes, Envelope, Id};

/// A call that waits: for the tool list, or for its arguments to be checked.
#[derive(Debug)]
pub(super) struct WaitingCall {
    pub(super) ticket: Ticket,
    pub(super) index: usize,
    pub(super) stream: StreamId,
    pub(super) key: Key,
    /// Tells it from another call of the same key.
    pub(super) serial: u64,
    /// The id that the client gave it.
    pub(super) id: Id,
    /// What the client calls itself.
    pub(super) client: Option<Arc<str>>,
    /// The name that the client calls the tool, and where it stands in the text.
    pub(super) name: String,
    pub(super) name_at: Span,
    pub(super) arguments: Option<ByteString>,
    pub(super) meta: Option<ByteString>,
    /// The tool list that it is checked against.
    pub(super) list: ListKey,
    /// The headers that repeat arguments, where there are headers to check.
    pub(super) headers: Option<Arc<ParamHeaders>>,
    /// The message that the call is a part of, and where in it the call stands.
    pub(super) text: ByteString,
    pub(super) part: Envelope,
    /// What changes in the call on its way to the server.
    pub(super) changes: Changes,
    /// When it came.
    pub(super) received: Instant,
    /// Whether the list was requested again because of it.
    pub(super) is_rechecked: bool,
    /// How many lists it has waited for.
    pub(super) waits: usize,
    /// Why the list that it waited for did not come.
    pub(super) failure: Option<ListFailure>,
    /// The headers that change with it, beside those that follow from the arguments.
    pub(super) header_changes: Vec<HeaderChange>,
    pub(super) call_span: Option<CallSpan>,
}

impl WaitingCall {
    /// Returns what the server gets: the call under the name that the server has for the tool, and with the arguments of
    /// `clearance` in place of those of the client if they were restored or repaired.
    pub(super) fn to_send(
        &self,
        own_name: &str,
        clearance: Clearance,
        is_translated: bool,
    ) -> Result<Decision, EditError> {
        let Changes { mut edits, meta } = self.changes.clone();
        if own_name != self.name {
            edits.push((self.name_at, Value::from(own_name).to_string()));
        }
        if let Some(new) = clearance.into_replacement() {
            let old = self.arguments.as_deref().ok_or(EditError)?;
            edits.push((Span::locate(&self.text, old).ok_or(EditError)?, new));
        }
        changed(&self.text, &self.part, Changes { edits, meta }, is_translated)
    }

    /// Which call it is.
    pub(super) fn source(&self) -> CallSource {
        CallSource { id: Some(self.id.clone()), client: self.client.clone() }
    }

    /// Returns the tool error for a call that could not be checked, as JSON.
    pub(super) fn failure_text(&self, reason: &str) -> String {
        let text = format!("could not check the arguments for tool `{}`: {reason}", self.name);
        refusal_text(tool_error(text), &self.list.audience.revision)
    }
}

/// A part that leaves for the server with `changes`. Whoever translates it makes them.
pub(super) fn changed(
    text: &ByteString,
    part: &Envelope,
    changes: Changes,
    is_translated: bool,
) -> Result<Decision, EditError> {
    if changes.is_empty() {
        return Ok(Decision::Same);
    }
    if is_translated {
        return Ok(Decision::Changed(changes));
    }
    changes.apply(text, part).map(Decision::Edited)
}

/// Why a list could not be fetched.
#[derive(Clone, Debug)]
pub(super) struct ListFailure {
    /// The request that failed, if one was sent for this call.
    pub(super) ask: Option<AskId>,
    pub(super) reason: Arc<str>,
}
