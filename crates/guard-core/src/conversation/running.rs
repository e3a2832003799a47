//! Jobs that run, and what their outcomes are for.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::action::{AskId, StreamId, Ticket};
use super::job::AnsweredCall;
use super::waiting_call::WaitingCall;
use crate::contract::catalog::{ListKey, Tool};
use crate::era::Defaults;
use crate::json::edit::Span;
use crate::message::{Envelope, Id};

/// What a finished job was for.
#[derive(Debug)]
#[expect(clippy::large_enum_variant, reason = "most jobs check calls")]
pub(super) enum JobPurpose {
    /// The arguments of a call.
    Call(WaitingCall, Tool),
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
    pub(super) purpose: AnswerPurpose,
}

/// What the server has answered.
#[derive(Debug)]
pub(super) enum AnswerPurpose {
    Call(AnsweredCall),
    /// A request for a page of this tool list.
    List(ListKey),
}

#[derive(Debug)]
pub(super) struct RunningJob {
    pub(super) stream: Option<StreamId>,
    pub(super) purpose: JobPurpose,
    pub(super) abandoned: Arc<AtomicBool>,
}
