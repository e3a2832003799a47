//! The streams on which the clients of a session are reached.

use std::collections::{HashMap, VecDeque};
use std::sync::{Arc, Weak};

use tokio::time::Instant;

use super::history::{Resumable, ResumableConnection};
use super::mailbox::{Mail, Mailbox};
use toolbond_guard_core::conversation::StreamId;
use toolbond_guard_core::lock::lock;

/// The streams of the clients of a session.
pub(super) struct Streams {
    /// Those of requests, by the stream of the conversation.
    pub(super) requests: HashMap<StreamId, Arc<Mailbox>>,
    /// The connections of those that may be resumed.
    pub(super) connections: HashMap<StreamId, Weak<ResumableConnection>>,
    /// Those whose connection broke, oldest first, until their client resumes them.
    pub(super) suspended: VecDeque<Resumable>,
    /// The event stream that the client opened with GET.
    pub(super) listener: Option<Arc<Mailbox>>,
    /// Messages that arrived while no stream was open, and their weight.
    pub(super) backlog: VecDeque<Mail>,
    pub(super) weight: usize,
    pub(super) is_missing: bool,
    pub(super) used: Instant,
    /// Whether the client has had a GET stream.
    pub(super) has_listened: bool,
}

impl Streams {
    pub(super) fn new() -> Self {
        Self {
            requests: HashMap::new(),
            connections: HashMap::new(),
            suspended: VecDeque::new(),
            listener: None,
            backlog: VecDeque::new(),
            weight: 0,
            is_missing: false,
            used: Instant::now(),
            has_listened: false,
        }
    }

    pub(super) fn listens(&self) -> bool {
        self.listener.as_ref().is_some_and(|listener| !listener.is_closed())
    }

    /// The mailbox of a request.
    pub(super) fn mailbox(&self, stream: StreamId) -> Option<Arc<Mailbox>> {
        let suspended = || self.suspended.iter().find(|suspended| suspended.stream == stream);
        let own = self.requests.get(&stream);
        own.or_else(|| suspended().map(|suspended| &suspended.inflow.mailbox)).cloned()
    }

    /// Takes a stream back from its connection, which may be broken, or from those whose connection broke.
    pub(super) fn take(&mut self, stream: StreamId) -> Option<Resumable> {
        let connection = self.connections.remove(&stream).and_then(|it| it.upgrade());
        if let Some(mut taken) = connection.and_then(|connection| lock(&connection).take()) {
            taken.rewind();
            taken.inflow.replace_mailbox();
            return Some(taken);
        }
        let index = self.suspended.iter().position(|suspended| suspended.stream == stream)?;
        self.suspended.remove(index)
    }

    /// Whether the client seems to be gone without having said so: its GET stream closed, and nothing else is
    /// open. SDKs open the stream again within seconds.
    pub(super) fn seems_left(&self) -> bool {
        self.has_listened && !self.listens() && self.requests.is_empty()
    }
}
