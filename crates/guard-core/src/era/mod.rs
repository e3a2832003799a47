//! Clients and servers of different eras.
//!
//! From revision 2026-07-28 on (*modern*) each request says what its client can do, and a server that
//! needs input asks for it in a result. Before (*legacy*) both sides shake hands first, and servers send
//! requests. A [`Bridge`] stands between a conversation and its server. Where both are of one era, it
//! forwards every message as it is; where they are not, it translates. It does no I/O: messages and
//! time go in, [`Output`]s come out.

mod capability;
mod detect;
mod legacy_client;
mod listen;
mod message;
mod modern_client;
mod subscriptions;
#[cfg(test)]
mod tests;

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

pub use self::capability::Asks;
use self::detect::Detect;
pub use self::detect::{discover_request, initialize_request, is_initialize};
use self::legacy_client::LegacyClient;
pub use self::legacy_client::may_need_input;
pub(crate) use self::message::cancelled;
pub use self::message::{
    HTTP_REFUSAL, Incoming, MODERN, error, is_modern_error, is_modern_request, meta,
};
use self::modern_client::ModernClient;
pub use self::modern_client::pipe_of_state;
use crate::event::Event;
use crate::json::object::Object;
use crate::message::{Frame, Id, Kind, Outgoing, Sent, code as rpc};
use crate::server::Server;

/// How often one request may ask its client for input.
const MAX_ROUNDS: usize = 32;

/// The most requests of one conversation that wait for input at a time.
const MAX_WAITING: usize = 1024;

/// How long a request waits for input: a person may have to think.
const INPUT_TIMEOUT: Duration = Duration::from_secs(600);

/// The most questions that one request may have open at a time.
const MAX_INPUTS: usize = 64;

/// The most bytes of the questions and the state of one request, and of all that wait.
const MAX_STATE: usize = 1 << 20;
const MAX_STATES: usize = 16 << 20;

/// What comes out of a bridge.
#[derive(Debug)]
pub enum Output {
    /// A message for the server.
    Server(Outgoing),
    /// A message for the clients of the conversation, as if the server had sent it.
    Client(Translated),
    /// The tool list has changed, and the client has not asked to be told.
    ToolsChanged,
}

/// A message of the server as the conversation gets it.
#[derive(Clone, Debug)]
pub struct Translated {
    pub frame: Frame,
    /// The id that takes the place of its own.
    pub id: Option<Id>,
    /// Members of its result that it gets unless it has them, and their values as JSON.
    pub defaults: Defaults,
}

/// Members and their values as JSON.
pub type Defaults = &'static [(&'static str, &'static str)];

impl From<Frame> for Translated {
    fn from(frame: Frame) -> Self {
        Self { frame, id: None, defaults: &[] }
    }
}

/// Who uses a pipe to a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Users {
    /// One client.
    One,
    /// Clients that look alike. The server can ask where it is clear whom. State that a client gets back starts with
    /// this number.
    Caller(u64),
    /// Several clients at once: the server cannot ask any of them for input.
    Many,
}

/// What all parts of a bridge use: where messages go, and who the server is.
struct Io {
    server: Arc<Server>,
    users: Users,
    out: VecDeque<Output>,
    random: u128,
    last: u64,
}

impl Io {
    /// Sends a message of the client on to the server.
    fn forward(&mut self, sent: Sent) {
        self.out.push_back(Output::Server(Outgoing::Sent(sent)));
    }

    /// Sends a request to the server.
    fn request(&mut self, id: &Id, method: &str, params: Object) {
        let (id, method) = (Some(id.clone()), method.to_owned());
        self.out.push_back(Output::Server(Outgoing::Request { id, method, params }));
    }

    /// Sends a notification to the server.
    fn notify(&mut self, method: &str, params: Object) {
        let method = method.to_owned();
        self.out.push_back(Output::Server(Outgoing::Request { id: None, method, params }));
    }

    /// Tells the server that nobody waits for the answer to the request `id`.
    fn cancel(&mut self, id: &Id, reason: &str) {
        self.notify("notifications/cancelled", cancelled(id, reason));
    }

    /// Answers a request of the server.
    fn answer_server(&mut self, answer: Frame) {
        self.out.push_back(Output::Server(Outgoing::Sent(answer.into())));
    }

    /// Sends a message to the client.
    fn send_client(&mut self, message: impl Into<Translated>) {
        self.out.push_back(Output::Client(message.into()));
    }

    /// Answers a request of the client with a result.
    fn answer(&mut self, id: &Id, result: &str) {
        self.send_client(Frame::result(id, result));
    }

    /// Answers a request of the client with an error.
    fn refuse(&mut self, id: &Id, code: i32, message: &str) {
        self.send_client(Frame::error(id, &message::error(code, message, None)));
    }

    /// An id for a request of the bridge itself, which no client can guess.
    fn own_id(&mut self) -> Id {
        self.last += 1;
        Id::String(format!("toolbond-era/{:032x}/{}", self.random, self.last))
    }

    fn warn(&self, message: impl Into<String>) {
        self.server.report(Event::warning(message));
    }

    /// Reports that something has no counterpart in the other era, once.
    fn report_once(&self, message: String) {
        self.server.report_event_once(Event::info(message));
    }
}

enum Phase {
    /// The client has not said which era it is of.
    Idle,
    /// The era of the server is being found out.
    Detecting(Box<Detect>),
    /// Client and server are of one era.
    Same,
    /// A legacy client and a modern server.
    Legacy(Box<LegacyClient>),
    /// A modern client and a legacy server.
    Modern(Box<ModernClient>),
}

/// What stands between a conversation and its server.
pub struct Bridge {
    io: Io,
    phase: Phase,
    /// Requests of the bridge that the server may still answer, although nobody waits for that any more.
    stray: Vec<Id>,
}

impl Bridge {
    /// A bridge to `server`, whose pipe `users` use.
    pub fn new(server: Arc<Server>, users: Users) -> Self {
        // Without random numbers, ids are merely unusual.
        let random = server.random().unwrap_or_default();
        let io = Io { server, users, out: VecDeque::new(), random, last: 0 };
        Self { io, phase: Phase::Idle, stray: Vec::new() }
    }

    /// The next output, if there is one.
    pub fn poll(&mut self) -> Option<Output> {
        self.io.out.pop_front()
    }

    /// Whether every message passes as it is.
    pub fn is_transparent(&self) -> bool {
        (matches!(self.phase, Phase::Same) && self.stray.is_empty())
            || !self.io.server.rules().settings.bridge_eras
    }

    /// Whether the bridge may have to write messages of its own.
    pub fn is_bridging(&self) -> bool {
        !self.is_transparent() && !matches!(self.phase, Phase::Idle)
    }

    /// Whether the server, which has ended, has to be started again: some end when a client of another era talks
    /// to them.
    pub fn wants_restart(&self) -> bool {
        matches!(&self.phase, Phase::Detecting(detect) if detect.wants_restart())
    }

    /// Goes on with a server that was started again.
    pub fn on_restart(&mut self, now: Instant) {
        if let Phase::Detecting(detect) = &mut self.phase {
            detect.on_restart(&mut self.io, now);
        }
    }

    /// Whether a request waits for input of its client, which comes with another request.
    pub fn is_waiting(&self) -> bool {
        matches!(&self.phase, Phase::Modern(bridge) if bridge.is_waiting())
    }

    /// Takes a message for the server.
    pub fn on_client(&mut self, sent: Sent, now: Instant) {
        let io = &mut self.io;
        match &mut self.phase {
            Phase::Same => io.forward(sent),
            Phase::Legacy(bridge) => bridge.on_client(io, sent),
            Phase::Modern(bridge) => bridge.on_client(io, sent, now),
            Phase::Detecting(detect) => detect.on_client(io, sent),
            Phase::Idle => match Detect::new(io, &sent, now) {
                Some(mut detect) => {
                    detect.start(io, sent);
                    self.phase = Phase::Detecting(Box::new(detect));
                }
                None => io.forward(sent),
            },
        }
    }

    /// Takes a message of the server.
    pub fn on_server(&mut self, frame: Frame, now: Instant) {
        let incoming = Incoming::of_server(&frame);
        if let Incoming::Answer { id, .. } = &incoming
            && let Some(at) = self.stray.iter().position(|stray| stray == id)
        {
            self.stray.remove(at);
            return;
        }
        // It seems to answer a request, and is no proper answer.
        if matches!(frame.part.kind, Kind::Other)
            && let Some(id) = frame.part.id.and_then(|id| Id::parse(id.text(&frame.text)))
            && let Some(client_id) = self.take_retried(&id)
        {
            return self.io.refuse(&client_id, rpc::INTERNAL, "the server sent a broken answer");
        }
        let io = &mut self.io;
        match &mut self.phase {
            Phase::Legacy(bridge) => bridge.on_server(io, frame, incoming, now),
            Phase::Modern(bridge) => bridge.on_server(io, frame, incoming, now),
            Phase::Detecting(detect) => {
                let found = detect.on_server(io, frame, incoming, now);
                self.settle(found, now);
            }
            Phase::Idle | Phase::Same => io.send_client(frame),
        }
    }

    /// Forgets the request that the server knows as `id`, to which its answer cannot be read; the id that its client
    /// knows, if that is another one.
    pub fn take_retried(&mut self, id: &Id) -> Option<Id> {
        match &mut self.phase {
            Phase::Legacy(bridge) => bridge.take_retried(id),
            Phase::Modern(bridge) => bridge.take_retried(id),
            Phase::Idle | Phase::Detecting(_) | Phase::Same => None,
        }
    }

    /// The client sends nothing any more: it cannot answer questions.
    pub fn on_client_end(&mut self) {
        if let Phase::Legacy(bridge) = &mut self.phase {
            bridge.on_client_end(&mut self.io);
        }
    }

    /// Acts on time that has passed.
    pub fn on_timeout(&mut self, now: Instant) {
        let io = &mut self.io;
        match &mut self.phase {
            Phase::Legacy(bridge) => bridge.on_timeout(io, now),
            Phase::Modern(bridge) => bridge.on_timeout(io, now),
            Phase::Detecting(detect) => {
                let found = detect.on_timeout(io, now);
                self.settle(found, now);
            }
            Phase::Idle | Phase::Same => {}
        }
    }

    /// When [`Bridge::on_timeout`] has to be called.
    pub fn next_timeout(&self) -> Option<Instant> {
        match &self.phase {
            Phase::Legacy(bridge) => bridge.next_timeout(),
            Phase::Modern(bridge) => bridge.next_timeout(),
            Phase::Detecting(detect) => detect.next_timeout(),
            Phase::Idle | Phase::Same => None,
        }
    }

    /// Goes on with what was found out about the server, and with the messages that waited for it.
    fn settle(&mut self, found: Option<detect::Found>, now: Instant) {
        let Some(found) = found else { return };
        let Phase::Detecting(detect) = std::mem::replace(&mut self.phase, Phase::Same) else {
            return;
        };
        let (held, stray) = detect.into_rest();
        self.stray = stray;
        match found {
            detect::Found::Nothing => self.phase = Phase::Idle,
            detect::Found::Same => {}
            detect::Found::Legacy(bridge) => self.phase = Phase::Legacy(bridge),
            detect::Found::Modern(bridge) => self.phase = Phase::Modern(bridge),
        }
        for message in held {
            self.on_client(message, now);
        }
    }
}
