//! What a conversation asks its transport to do.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;

use super::job::Job;
use crate::contract::header_changes::HeaderChange;
use crate::era::cancelled;
use crate::message::{Frame, Id, Outgoing};
use crate::server::Server;

/// A way to one client: standard output, or one HTTP request and what answers it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StreamId(u64);

impl StreamId {
    /// The one stream of a client on a pipe.
    pub const PIPE: Self = Self(0);

    /// Parses what `Display` writes.
    pub fn parse(text: &str) -> Option<Self> {
        text.parse().ok().map(Self)
    }

    /// A stream that no conversation knows yet.
    #[expect(clippy::new_without_default, reason = "each one is another")]
    pub fn new() -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self(NEXT.fetch_add(1, Ordering::Relaxed))
    }
}

impl std::fmt::Display for StreamId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

/// A message that a conversation was given.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Ticket(pub(super) u64);

/// The id of a request of the guard itself. It is no [`Id`], and no client can use it first: it is random.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct AskId(u128);

/// How the ids of the guard's own requests start on the wire.
const OWN: &str = "toolbond-guard/";

impl AskId {
    /// A new one; `None` where the system has no random numbers.
    pub fn new(server: &Server) -> Option<Self> {
        server.random().map(Self)
    }

    /// Reads the id of an answer; `None` if it is not that of a request of a guard.
    pub fn of_answer(id: &Id) -> Option<Self> {
        let Id::String(text) = id else { return None };
        let digits = text.strip_prefix(OWN)?;
        u128::from_str_radix(digits, 16).ok().filter(|_| digits.len() == 32).map(Self)
    }

    /// The id on the wire.
    pub fn to_id(self) -> Id {
        Id::String(format!("{OWN}{:032x}", self.0))
    }
}

/// Where a message goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Destination {
    /// The server; on HTTP, as the request of this stream.
    Server(StreamId),
    /// The client behind this stream: the answer to one of its requests.
    Answer(StreamId),
    /// The client behind this stream: anything else.
    Client(StreamId),
    /// The client, on whichever stream it listens for messages that belong to no request.
    Listener,
}

/// What a conversation asks its transport to do.
#[derive(Debug)]
pub enum Action {
    /// Send a message.
    Send {
        to: Destination,
        /// The message that it is what is left of; `None` for messages of the guard itself.
        ticket: Option<Ticket>,
        message: Outgoing,
    },
    /// Change headers of the request of this stream before it is sent. Only where each request has its own stream to
    /// the server.
    SetHeaders { stream: StreamId, headers: Vec<HeaderChange> },
    /// Nothing more will be sent for this message.
    Done(Ticket),
    /// One of the requests of this stream gets no answer: its client has cancelled it, or the server a subscription.
    NoAnswer(StreamId),
    /// Ask the server on behalf of the guard, as the client behind `stream` would, and hand in the
    /// answer. Only where each request has its own stream to the server.
    Ask { ask: AskId, stream: StreamId, bytes: Bytes },
    /// Nobody waits for the answer to this request of the guard any more. Only where each request has its own stream to
    /// the server.
    StopAsking(AskId),
    /// The request of this stream is refused because the request `ask` for the tool list failed. Only where each request
    /// has its own stream to the server.
    Unlisted { stream: StreamId, ask: Option<AskId> },
    /// Run this job and hand in its outcome.
    Judge(Box<Job>),
}

/// The notification that cancels the request `id`.
pub(super) fn cancellation(id: &Id, reason: &str) -> Frame {
    Frame::request(None, "notifications/cancelled", &cancelled(id, reason))
}
