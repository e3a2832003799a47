//! What stands between a conversation and its server.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Instant;

use super::detect::{BridgeState, Detect};
use super::io::{Io, Output, Users};
use super::message::Incoming;
use crate::message::{Frame, Id, Kind, Sent, code};
use crate::server::Server;

/// What stands between a conversation and its server.
pub struct Bridge {
    io: Io,
    state: BridgeState,
    /// Requests of the bridge that the server may still answer, although nobody waits for that any more.
    stray: Vec<Id>,
    /// Whether the transport has to know what each message is, even where nothing is translated.
    reads_all: bool,
}

impl Bridge {
    /// A bridge to `server`, whose pipe `users` use.
    pub fn new(server: Arc<Server>, users: Users) -> Self {
        // Without random numbers, ids are merely unusual.
        let random = server.random().unwrap_or_default();
        let now = server.environment().now();
        let io = Io { server, users, out: VecDeque::new(), now, random, last: 0 };
        Self { io, state: BridgeState::Idle, stray: Vec::new(), reads_all: false }
    }

    /// The same bridge, which hands on each message for itself and as what it is, also where nothing is translated.
    #[must_use]
    pub fn reading_all(self) -> Self {
        Self { reads_all: true, ..self }
    }

    /// The next output, if there is one.
    pub fn poll(&mut self) -> Option<Output> {
        self.io.out.pop_front()
    }

    /// Whether every message passes as it is, and the bridge need not see it.
    pub fn is_transparent(&self) -> bool {
        !self.reads_all
            && (matches!(self.state, BridgeState::Same) && self.stray.is_empty() || self.is_off())
    }

    /// Whether nothing is to be translated.
    fn is_off(&self) -> bool {
        !self.io.server.rules().settings.translate.eras
    }

    /// Whether the bridge may have to write messages of its own, or has to see each one.
    pub fn is_bridging(&self) -> bool {
        self.reads_all || (!self.is_transparent() && !matches!(self.state, BridgeState::Idle))
    }

    /// Whether a modern client talks to a legacy server.
    pub fn has_legacy_server(&self) -> bool {
        matches!(self.state, BridgeState::Modern(_)) && !self.is_transparent()
    }

    /// Whether the server, which has ended, has to be started again: some end when a client of another era talks
    /// to them.
    pub fn wants_restart(&self) -> bool {
        matches!(&self.state, BridgeState::Detecting(detect) if detect.wants_restart())
    }

    /// Resumes with a server that was started again.
    pub fn on_restart(&mut self, now: Instant) {
        self.io.now = now;
        if let BridgeState::Detecting(detect) = &mut self.state {
            detect.on_restart(&mut self.io);
        }
    }

    /// Whether a request waits for input of its client, which comes with another request.
    pub fn is_waiting(&self) -> bool {
        matches!(&self.state, BridgeState::Modern(bridge) if bridge.is_waiting())
    }

    /// Takes a message for the server.
    pub fn on_client(&mut self, sent: Sent, now: Instant) {
        self.io.now = now;
        let is_off = self.is_off();
        let io = &mut self.io;
        match &mut self.state {
            _ if is_off => io.forward(sent),
            BridgeState::Same => io.forward(sent),
            BridgeState::Legacy(bridge) => bridge.on_client(io, sent),
            BridgeState::Modern(bridge) => bridge.on_client(io, sent),
            BridgeState::Detecting(detect) => detect.on_client(io, sent),
            BridgeState::Idle => match Detect::new(io, &sent) {
                Some(mut detect) => {
                    detect.start(io, sent);
                    self.state = BridgeState::Detecting(Box::new(detect));
                }
                None => io.forward(sent),
            },
        }
    }

    /// Takes a message of the server.
    pub fn on_server(&mut self, frame: Frame, now: Instant) {
        self.io.now = now;
        let incoming = Incoming::of_server(&frame);
        if let Incoming::Answer { id, .. } = &incoming
            && let Some(at) = self.stray.iter().position(|stray| stray == id)
        {
            self.stray.remove(at);
            return;
        }
        // It seems to answer a request that its client knows by another id, and is no proper answer.
        if matches!(frame.part.kind, Kind::Other)
            && let Some(id) = frame.part.id.and_then(|id| Id::parse(id.text(&frame.text)))
            && self.is_retried(&id)
            && let Some(client_id) = self.take_retried(&id)
        {
            return self.io.refuse(&client_id, code::INTERNAL, "the server sent a broken answer");
        }
        let io = &mut self.io;
        match &mut self.state {
            BridgeState::Legacy(bridge) => bridge.on_server(io, frame, incoming),
            BridgeState::Modern(bridge) => bridge.on_server(io, frame, incoming),
            BridgeState::Detecting(detect) => {
                let found = detect.on_server(io, frame, incoming);
                self.settle(found);
            }
            BridgeState::Idle | BridgeState::Same => io.send_client(frame),
        }
    }

    /// Whether the client of the request that the server knows as `id` knows it by another id.
    fn is_retried(&self, id: &Id) -> bool {
        match &self.state {
            BridgeState::Legacy(bridge) => bridge.is_retried(id),
            BridgeState::Modern(bridge) => bridge.is_retried(id),
            BridgeState::Idle | BridgeState::Detecting(_) | BridgeState::Same => false,
        }
    }

    /// Forgets the request that the server knows as `id`, whose answer cannot be read, and returns the id that its client
    /// knows if that is another one.
    pub fn take_retried(&mut self, id: &Id) -> Option<Id> {
        match &mut self.state {
            BridgeState::Legacy(bridge) => bridge.take_retried(id),
            BridgeState::Modern(bridge) => bridge.take_retried(id),
            BridgeState::Idle | BridgeState::Detecting(_) | BridgeState::Same => None,
        }
    }

    /// Handles the end of the client's input: it cannot answer questions any more.
    pub fn on_client_end(&mut self) {
        if let BridgeState::Legacy(bridge) = &mut self.state {
            bridge.on_client_end(&mut self.io);
        }
    }

    /// Acts on time that has passed.
    pub fn on_timeout(&mut self, now: Instant) {
        self.io.now = now;
        let io = &mut self.io;
        match &mut self.state {
            BridgeState::Legacy(bridge) => bridge.on_timeout(io),
            BridgeState::Modern(bridge) => bridge.on_timeout(io),
            BridgeState::Detecting(detect) => {
                let found = detect.on_timeout(io);
                self.settle(found);
            }
            BridgeState::Idle | BridgeState::Same => {}
        }
    }

    /// When [`Bridge::on_timeout`] has to be called.
    pub fn next_timeout(&self) -> Option<Instant> {
        match &self.state {
            BridgeState::Legacy(bridge) => bridge.next_timeout(),
            BridgeState::Modern(bridge) => bridge.next_timeout(),
            BridgeState::Detecting(detect) => detect.next_timeout(),
            BridgeState::Idle | BridgeState::Same => None,
        }
    }

    /// Enters the state that was found out, and handles the messages that waited for it.
    fn settle(&mut self, found: Option<BridgeState>) {
        let Some(found) = found else { return };
        let BridgeState::Detecting(detect) = std::mem::replace(&mut self.state, BridgeState::Same)
        else {
            return;
        };
        let (held, stray) = detect.into_rest();
        self.stray = stray;
        self.state = found;
        for message in held {
            self.on_client(message, self.io.now);
        }
    }
}
