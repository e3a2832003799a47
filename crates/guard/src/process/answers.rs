//! The answers to the requests of one POST, and how they become an event stream.

use std::collections::VecDeque;
use std::time::Duration;

use futures_util::stream::{Stream, StreamExt as _, iter};
use http_body_util::{BodyExt as _, StreamBody};
use hyper::Response;
use hyper::body::Frame;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use tokio::time::{Instant, sleep_until};

use super::mailbox::Mail;
use super::session::ClientStream;
use crate::http::respond::{Body, join};
use crate::pipe::pieces::Pieces;
use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::message::INLINE_BYTES;

/// The interval of keep-alive comments in an event stream.
pub(super) const ALIVE: Duration = Duration::from_secs(15);

/// The comment.
pub(super) const COMMENT: Counted = Counted::from_static(b": alive\n\n");

/// The next part of an event stream.
pub(super) enum Next {
    /// A message.
    Message(Pieces),
    /// A comment, which shows that the stream is alive.
    Alive(Counted),
}

/// The answers to the requests of one POST.
pub(super) struct Answers {
    pub(super) client: ClientStream,
    /// The answers that are still to come.
    pub(super) expected: usize,
    /// Messages that are not sent yet.
    pub(super) seen: VecDeque<Mail>,
    pub(super) is_initialize: bool,
}

impl Answers {
    pub(super) fn is_complete(&self) -> bool {
        self.expected == 0
    }

    /// The response where the server has refused all requests with a status.
    pub(super) fn refused(&mut self, is_batch: bool) -> Option<Response<Body>> {
        if !self.is_complete() || !self.seen.iter().all(|mail| mail.refusal.is_some()) {
            return None;
        }
        let refusal = self.seen.front_mut()?.refusal.take()?;
        let memory = self.client.session.memory();
        let texts = self.seen.drain(..).map(|mail| mail.message.into_one(memory).into_bytes());
        let texts: Vec<_> = texts.collect();
        let message = memory.count(join(&texts, is_batch));
        Some(refusal.respond(message.into_bytes()))
    }

    /// Receives messages until all answers are here, or some other message. Without `all`, returns after the
    /// first messages.
    pub(super) async fn fill(&mut self, all: bool) {
        while !self.is_complete() {
            let mail = self.client.mailbox.take().await;
            let is_over = mail.is_empty();
            for mail in mail {
                if mail.is_answer {
                    self.expected = self.expected.saturating_sub(1);
                    self.check_initialize(&mail);
                }
                self.seen.push_back(mail);
            }
            if is_over {
                self.expected = 0;
            }
            if !all || self.seen.iter().any(|mail| !mail.is_answer) {
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
            self.client.session.end();
        }
    }

    /// The next part of the stream; `None` after the last answer.
    pub(super) async fn next(&mut self) -> Option<Next> {
        if self.seen.is_empty() && !self.is_complete() {
            let alive = Instant::now() + ALIVE;
            tokio::select! {
                biased;
                () = self.fill(false) => {}
                () = sleep_until(alive) => return Some(Next::Alive(COMMENT)),
            }
        }
        self.seen.pop_front().map(|mail| Next::Message(mail.message))
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

type Error = Box<dyn std::error::Error + Send + Sync>;

/// A response with an event stream.
pub(super) fn events(events: impl Stream<Item = Pieces> + Send + 'static) -> Response<Body> {
    let frame = |piece: Counted| Ok::<_, Error>(Frame::data(piece.into_bytes()));
    let frames = events.flat_map(move |event| iter(event.into_iter().map(frame)));
    let mut response = Response::new(StreamBody::new(frames).boxed_unsync());
    let headers = response.headers_mut();
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    headers.insert("cache-control", HeaderValue::from_static("no-cache"));
    headers.insert("x-accel-buffering", HeaderValue::from_static("no"));
    response
}
