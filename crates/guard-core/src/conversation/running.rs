//! Jobs that run, and what their outcomes are for.

use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use toolbond_contract::Revision;

use super::action::{AskId, StreamId, Ticket};
use super::waiting_call::WaitingCall;
use crate::contract::catalog::{ListKey, Tool};
use crate::contract::result::ResultCheck;
use crate::environment::CallSpan;
use crate::era::Defaults;
use crate::json::edit::Span;
use crate::message::{Envelope, Id};
use crate::server::{Rules, Server};

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

/// A call whose result is checked.
#[derive(Clone, Debug)]
pub(super) struct AnsweredCall {
    pub(super) tool: Option<Tool>,
    pub(super) revision: Revision,
    pub(super) span: Option<CallSpan>,
}

impl AnsweredCall {
    pub(super) fn check<'a>(&'a self, server: &'a Server, rules: &'a Rules) -> ResultCheck<'a> {
        let Self { tool, revision, span } = self;
        ResultCheck { server, rules, tool: tool.as_ref(), revision, span: span.as_ref() }
    }
}

#[derive(Debug)]
pub(super) struct RunningJob {
    pub(super) stream: Option<StreamId>,
    pub(super) purpose: JobPurpose,
    pub(super) abandoned: Arc<AtomicBool>,
}
