//! What all parts of a bridge use: its limits, where messages go, and who the server is.

use std::collections::VecDeque;
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::message::cancelled;
use crate::event::Event;
use crate::json::object::Object;
use crate::message::{Frame, Id, Outgoing, Sent, error_object};
use crate::server::Server;

/// How often one request may ask its client for input.
pub(super) const MAX_ROUNDS: usize = 32;

/// The most requests of one conversation that wait for input at a time.
pub(super) const MAX_WAITING: usize = 1024;

/// How long a request waits for input: a person may have to think.
pub(super) const INPUT_TIMEOUT: Duration = Duration::from_secs(600);

/// What is said of a request whose client did not answer in that time.
pub(super) fn no_input() -> String {
    let seconds = INPUT_TIMEOUT.as_secs();
    format!("the client did not answer the server's questions within {seconds} s")
}

/// The most questions that one request may have open at a time.
pub(super) const MAX_INPUTS: usize = 64;

/// The most bytes of the questions and the state of one request, and of all that wait.
pub(super) const MAX_STATE: usize = 1 << 20;
pub(super) const MAX_STATES: usize = 16 << 20;

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
pub(super) struct Io {
    pub(super) server: Arc<Server>,
    pub(super) users: Users,
    pub(super) out: VecDeque<Output>,
    /// The time of what is being handled.
    pub(super) now: Instant,
    pub(super) random: u128,
    pub(super) last: u64,
}

impl Io {
    /// Sends a message of the client on to the server.
    pub(super) fn forward(&mut self, sent: Sent) {
        self.out.push_back(Output::Server(Outgoing::Sent(Box::new(sent))));
    }

    /// Sends a request to the server.
    pub(super) fn request(&mut self, id: &Id, method: &str, params: Object) {
        let (id, method) = (Some(id.clone()), method.to_owned());
        self.out.push_back(Output::Server(Outgoing::Request { id, method, params }));
    }

    /// Sends a notification to the server.
    pub(super) fn notify(&mut self, method: &str, params: Object) {
        let method = method.to_owned();
        self.out.push_back(Output::Server(Outgoing::Request { id: None, method, params }));
    }

    /// Answers a request of the server with an error.
    pub(super) fn refuse_server(&mut self, id: &Id, code: i32, message: &str) {
        self.answer_server(Frame::error(id, &error_object(code, message, None)));
    }

    /// Tells the server that nobody waits for the answer to the request `id`.
    pub(super) fn cancel(&mut self, id: &Id, reason: &str) {
        self.notify("notifications/cancelled", cancelled(id, reason));
    }

    /// Answers a request of the server.
    pub(super) fn answer_server(&mut self, answer: Frame) {
        self.out.push_back(Output::Server(Outgoing::Sent(Box::new(answer.into()))));
    }

    /// Sends a message to the client.
    pub(super) fn send_client(&mut self, message: impl Into<Translated>) {
        self.out.push_back(Output::Client(message.into()));
    }

    /// Answers a request of the client with a result.
    pub(super) fn answer(&mut self, id: &Id, result: &str) {
        self.send_client(Frame::result(id, result));
    }

    /// Answers a request of the client with an error.
    pub(super) fn refuse(&mut self, id: &Id, code: i32, message: &str) {
        self.send_client(Frame::error(id, &error_object(code, message, None)));
    }

    /// An id for a request of the bridge itself, which no client can guess.
    pub(super) fn own_id(&mut self) -> Id {
        self.last += 1;
        Id::String(format!("toolbond-era/{:032x}/{}", self.random, self.last))
    }

    pub(super) fn warn(&self, message: impl Into<String>) {
        self.server.report(Event::warning(message));
    }

    /// Reports that something has no counterpart in the other era, once.
    pub(super) fn report_once(&self, message: String) {
        self.server.report_event_once(Event::info(message));
    }
}
