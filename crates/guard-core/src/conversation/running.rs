//! Jobs that run, and what their outcomes are for.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use toolbond_contract::Revision;

use super::action::{AskId, StreamId, Ticket};
use super::waiting_call::WaitingCall;
use crate::audience::Audience;
use crate::caller::Caller;
use crate::contract::catalog::Tool;
use crate::environment::CallSpan;
use crate::era::Defaults;
use crate::json::edit::Span;
use crate::message::{Envelope, Id};

/// What a finished job was for.
#[derive(Debug)]
pub(super) enum JobPurpose {
    /// The arguments of a call.
    Call(WaitingCall, Tool),
    /// The arguments of a call of a view, as the tool takes them.
    Restore(WaitingCall, Tool),
    /// An answer of the server.
    Answer(HeldAnswer),
    /// A page that the guard requested itself.
    OwnPage(AskId),
}

/// A part of a held message of the server whose result is being checked.
#[derive(Debug)]
pub(super) struct HeldAnswer {
    pub(super) ticket: Ticket,
    pub(super) index: usize,
    /// The part in the text of the message, and the result in it.
    pub(super) part: Envelope,
    pub(super) result: Span,
    /// What is needed whatever comes of the check.
    pub(super) edits: Vec<(Span, String)>,
    pub(super) defaults: Defaults,
    /// The request that it answers.
    pub(super) id: Option<Id>,
    pub(super) then: Then,
}

/// What to do with a checked answer, beside sending it.
#[derive(Debug)]
pub(super) enum Then {
    /// Remember the tasks that it created, and end the span.
    Call { tool: Option<Tool>, revision: Revision, span: Option<CallSpan> },
    /// Add the page to the catalog.
    List { caller: Caller, audience: Audience },
}

#[derive(Debug)]
pub(super) struct RunningJob {
    pub(super) stream: Option<StreamId>,
    pub(super) purpose: JobPurpose,
    pub(super) abandoned: Arc<AtomicBool>,
}
