//! A stream of a client: the answers to the requests of one POST, or what it hears on GET.

use std::sync::Arc;

use hyper::Response;

use super::history::Resumable;
use super::inflow::Inflow;
use super::session::ProcessSession;
use crate::back::remote::headers::OwnHeaders;
use crate::http::respond::{Body, join};
use toolbond_guard_core::conversation::StreamId;

/// A stream of a client, which closes when this is dropped.
pub(super) struct ClientStream {
    pub(super) session: Arc<ProcessSession>,
    /// The stream of the conversation; `None` where the client listens.
    pub(super) stream: Option<StreamId>,
    pub(super) inflow: Inflow,
    /// The headers to send with its requests to an HTTP server.
    pub(super) headers: Option<OwnHeaders>,
}

impl ClientStream {
    fn new(session: &Arc<ProcessSession>, stream: Option<StreamId>, inflow: Inflow) -> Self {
        Self { session: Arc::clone(session), stream, inflow, headers: None }
    }

    /// Opens the stream of `expected` requests.
    pub(super) fn open(session: &Arc<ProcessSession>, answers_only: bool, expected: usize) -> Self {
        let (stream, mailbox) = session.open(answers_only);
        Self::new(session, Some(stream), Inflow::new(mailbox, expected))
    }

    /// Opens the stream of a client that listens; `None` if one is open.
    pub(super) fn listen(session: &Arc<ProcessSession>) -> Option<Self> {
        Some(Self::new(session, None, Inflow::new(session.listen()?, usize::MAX)))
    }

    /// The response where the server has refused all requests with a status.
    pub(super) fn refused(&mut self, is_batch: bool) -> Option<Response<Body>> {
        let is_complete = self.inflow.is_complete();
        let seen = &mut self.inflow.seen;
        if !is_complete || !seen.iter().all(|mail| mail.refusal.is_some()) {
            return None;
        }
        let refusal = seen.front_mut()?.refusal.take()?;
        let memory = self.session.memory();
        let texts = seen.drain(..).map(|mail| mail.message.into_one(memory).into_bytes());
        let texts: Vec<_> = texts.collect();
        let message = memory.count(join(&texts, is_batch));
        Some(refusal.respond(message.into_bytes()))
    }

    /// Receives messages until all answers are here, or some other message. Without `all`, returns after the
    /// first messages.
    pub(super) async fn fill(&mut self, all: bool) {
        while !self.inflow.is_complete() {
            self.inflow.mailbox.wait().await;
            self.session.collect(&mut self.inflow);
            if !all || self.inflow.seen.iter().any(|mail| !mail.is_answer) {
                break;
            }
        }
    }

    /// Makes the stream of requests one that the client may resume, if it is one.
    pub(super) fn take_resumable(&mut self) -> Option<(Resumable, Option<OwnHeaders>)> {
        let stream = self.stream.take()?;
        let inflow = std::mem::take(&mut self.inflow);
        Some((Resumable::new(stream, inflow), self.headers.take()))
    }
}

impl Drop for ClientStream {
    fn drop(&mut self) {
        let left = self.inflow.close();
        if let Some(stream) = self.stream {
            self.session.close_stream(stream);
        }
        self.session.take_back(left);
    }
}
