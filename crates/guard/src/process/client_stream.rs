//! A stream of a client: the answers to the requests of one POST, or what it hears on GET.

use std::sync::Arc;
use std::time::Duration;

use hyper::Response;
use tokio::time::timeout;

use super::history::{History, Suspended};
use super::mailbox::{Inflow, Mail};
use super::session::ProcessSession;
use crate::http::respond::{Body, join};
use crate::remote::headers::OwnHeaders;
use toolbond_guard_core::conversation::StreamId;
use toolbond_guard_core::message::INLINE_BYTES;

/// The interval of keep-alive comments in an event stream.
const ALIVE: Duration = Duration::from_secs(15);

/// A stream of a client, which closes when this is dropped.
pub(super) struct ClientStream {
    pub(super) session: Arc<ProcessSession>,
    /// The stream of the conversation; `None` where the client listens.
    pub(super) stream: Option<StreamId>,
    pub(super) inflow: Inflow,
    /// The headers to send with its requests to an HTTP server.
    pub(super) headers: Option<OwnHeaders>,
    /// Whether one of its requests is `initialize`.
    pub(super) is_initialize: bool,
}

impl ClientStream {
    fn new(session: &Arc<ProcessSession>, stream: Option<StreamId>, inflow: Inflow) -> Self {
        let session = Arc::clone(session);
        Self { session, stream, inflow, headers: None, is_initialize: false }
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

    /// Takes back a stream that was kept.
    pub(super) fn resume(
        session: &Arc<ProcessSession>,
        stream: StreamId,
    ) -> Option<(Self, History)> {
        let Suspended { inflow, history, .. } = session.resume(stream)?;
        Some((Self::new(session, Some(stream), inflow), history))
    }

    /// Whether all answers are here, or there will be no more.
    pub(super) fn is_complete(&self) -> bool {
        self.inflow.expected == 0
    }

    /// The response where the server has refused all requests with a status.
    pub(super) fn refused(&mut self, is_batch: bool) -> Option<Response<Body>> {
        let seen = &mut self.inflow.seen;
        if self.inflow.expected > 0 || !seen.iter().all(|mail| mail.refusal.is_some()) {
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
        while !self.is_complete() {
            let mail = self.inflow.mailbox.take().await;
            if mail.is_empty() {
                self.inflow.expected = 0;
            }
            for mail in mail {
                if mail.is_answer {
                    self.inflow.expected = self.inflow.expected.saturating_sub(1);
                    self.check_initialize(&mail);
                }
                self.inflow.seen.push_back(mail);
            }
            if !all || self.inflow.seen.iter().any(|mail| !mail.is_answer) {
                break;
            }
        }
    }

    /// Ends the session if `initialize` failed.
    fn check_initialize(&self, mail: &Mail) {
        let is_error =
            || serde_json::from_slice::<Failed>(&mail.message.joined()).is_ok_and(|it| it.error);
        // A result may be large; an error is not.
        if self.is_initialize && mail.message.length() <= INLINE_BYTES && is_error() {
            self.session.end();
        }
    }

    /// Waits for the next message or the end; `false` if it is time to show that the stream is alive.
    pub(super) async fn wait(&mut self) -> bool {
        !self.inflow.seen.is_empty() || timeout(ALIVE, self.fill(false)).await.is_ok()
    }

    /// Leaves the stream open for a client that may come back.
    pub(super) fn suspend(mut self, history: History) {
        if let Some(stream) = self.stream.take() {
            let inflow = std::mem::take(&mut self.inflow);
            self.session.suspend(Suspended { stream, inflow, history });
        }
    }
}

impl Drop for ClientStream {
    fn drop(&mut self) {
        self.inflow.mailbox.close();
        if let Some(stream) = self.stream {
            self.session.close_stream(stream);
        }
    }
}

/// Whether an answer is an error.
struct Failed {
    error: bool,
}

impl<'de> serde::Deserialize<'de> for Failed {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let members =
            std::collections::HashMap::<String, serde::de::IgnoredAny>::deserialize(deserializer)?;
        Ok(Self { error: members.contains_key("error") })
    }
}
