//! Finding out which era a server is of, as the specification describes.
//!
//! The first message of the client goes to the server as it is, so that nothing changes where both are of
//! one era. Only a server that refuses it is asked by the bridge itself.
//!
//! Silence tells nothing: a server may still start, or ignore what it does not know. A legacy client's server is not
//! asked anything then, because some end at what they do not expect. A modern client's server has `server/discover`
//! already; it gets `tools/list` of the modern revision and `initialize`, too. Servers of both eras go by the first
//! request that is not `server/discover`, so that they stay modern and refuse `initialize`, and one that knows nothing
//! else answers it.

use std::time::{Duration, Instant};

use bytestring::ByteString;
use toolbond_contract::Revision;

use super::capability::log_level;
use super::io::{Io, Users};
use super::legacy_client::LegacyClient;
use super::message::{
    Incoming, LEGACY, MODERN, UNKNOWN_INFO, is_http_refusal, is_modern_error, is_modern_request,
    is_modern_version, meta, supported_versions,
};
use super::modern_client::ModernClient;
use crate::json::object::Object;
use crate::message::{Frame, Id, Sent, code};

/// How long a modern client's server may be silent before it is asked in the other era, too.
pub(super) const SILENCE: Duration = Duration::from_secs(2);

/// How long a legacy client's further messages wait for the answer to its first one, and that for a second opinion.
pub(super) const PATIENCE: Duration = Duration::from_secs(10);

/// How long a server may take to answer `initialize`, or that was started again.
const START: Duration = Duration::from_secs(30);

/// The most bytes of messages that wait for the era of the server.
const MAX_HELD: usize = 16 << 20;

/// How far a bridge is.
pub(super) enum BridgeState {
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

/// A server whose era is being found out.
pub(super) struct Detect {
    client: ClientEra,
    /// The first request of the client, its id and its parameters.
    sent: Sent,
    first: Id,
    params: Object,
    /// Whether the server has the first request; else it waits with the others.
    is_forwarded: bool,
    held: Vec<Sent>,
    bytes: usize,
    /// What the server answered to the first request, if it was an error.
    refusal: Option<Frame>,
    /// The requests of the bridge itself that have no answer yet.
    asked: Vec<(Id, Probe)>,
    deadline: Option<Instant>,
    /// Whether the era of the server is taken from what is known already.
    is_known: bool,
    /// Whether the server was started again.
    is_second: bool,
    stage: Stage,
}

/// The era of the client whose first message is at hand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum ClientEra {
    Legacy,
    Modern,
}

/// A request that finds out the era of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Probe {
    Discover,
    Initialize,
    ListTools,
}

/// How far the detection has come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stage {
    /// The server is asked.
    Asking,
    /// The server was silent for so long that it gets what the client sends.
    Passing,
    /// The server has refused `initialize` and is silent about `server/discover`.
    Refused,
}

impl Detect {
    /// Begins with the first message of the client; `None` where it does not tell the era of the client.
    pub(super) fn new(io: &Io, sent: &Sent) -> Option<Self> {
        let Incoming::Request { id } = Incoming::of_client(sent) else { return None };
        let Frame { text, part } = &sent.frame;
        let is_modern = is_modern_request(text, part);
        if !is_modern && sent.frame.method() != "initialize" {
            return None;
        }
        let known = io.server.eras();
        let is_known = if is_modern { known.is_legacy_only() } else { known.is_modern_only() };
        Some(Self {
            client: if is_modern { ClientEra::Modern } else { ClientEra::Legacy },
            first: id,
            sent: sent.clone(),
            params: sent.params().unwrap_or_default(),
            is_forwarded: false,
            held: Vec::new(),
            bytes: 0,
            refusal: None,
            asked: Vec::new(),
            deadline: Some(io.now + if is_modern { SILENCE } else { PATIENCE }),
            is_known,
            is_second: false,
            stage: Stage::Asking,
        })
    }

    /// Sends the first message of the client on, or asks the server before.
    pub(super) fn start(&mut self, io: &mut Io, sent: Sent) {
        let is_discover = sent.frame.method() == "server/discover";
        if self.is_known {
            self.deadline = None;
            self.hold(io, sent);
            self.ask_other_era(io);
        } else if !self.is_modern_client() || (is_discover && is_complete(&self.params)) {
            self.is_forwarded = true;
            io.forward(sent);
        } else {
            // A legacy server may run a modern call as if it were a legacy one.
            self.hold(io, sent);
            self.ask(io, Probe::Discover);
        }
    }

    fn is_modern_client(&self) -> bool {
        self.client == ClientEra::Modern
    }

    pub(super) fn next_timeout(&self) -> Option<Instant> {
        self.deadline
    }

    /// Whether the server, which has ended, has to be asked once more.
    pub(super) fn wants_restart(&self) -> bool {
        let is_asked = self.refusal.is_some() || !self.asked.is_empty();
        !self.is_second && (is_asked || self.is_modern_client())
    }

    /// Asks a server that was started again, in the other era only.
    pub(super) fn on_restart(&mut self, io: &mut Io) {
        self.is_second = true;
        self.deadline = self.refusal.is_some().then(|| io.now + START);
        self.asked.clear();
        // The server that ended does not answer it any more.
        if self.is_forwarded && self.refusal.is_none() {
            self.is_forwarded = false;
            self.held.insert(0, self.sent.clone());
        }
        self.ask_other_era(io);
    }

    /// Takes a message of the client before the era of the server is known. A client that does not wait for the answer
    /// to its first message has the others wait for it.
    pub(super) fn on_client(&mut self, io: &mut Io, sent: Sent) {
        if self.stage == Stage::Passing && self.refusal.is_none() {
            io.forward(sent);
        } else {
            self.hold(io, sent);
        }
    }

    /// Keeps a message of the client until the era of the server is known.
    fn hold(&mut self, io: &mut Io, sent: Sent) {
        let bytes = sent.frame.part.span.len();
        self.bytes += bytes;
        if self.bytes > MAX_HELD {
            if let Incoming::Request { id } = Incoming::of_client(&sent) {
                let message = "too many messages wait for the server to start";
                io.refuse(&id, code::INTERNAL, message);
            }
            self.bytes -= bytes;
            return;
        }
        self.held.push(sent);
    }

    /// The messages of the client that wait, and the requests of the bridge that may still be answered.
    pub(super) fn into_rest(self) -> (Vec<Sent>, Vec<Id>) {
        (self.held, self.asked.into_iter().map(|(id, _)| id).collect())
    }

    /// Takes a message of the server; returns what it tells about its era.
    pub(super) fn on_server(
        &mut self,
        io: &mut Io,
        frame: Frame,
        incoming: Incoming,
    ) -> Option<BridgeState> {
        let Incoming::Answer { id, outcome } = incoming else {
            // What a server tells before it answers: its log.
            io.send_client(frame);
            return None;
        };
        if self.is_forwarded && id.among(|id| *id == self.first).is_some() {
            return self.on_first_answer(io, frame, &outcome);
        }
        if let Some(at) = self.asked.iter().position(|(own, _)| *own == id) {
            return match self.asked.remove(at).1 {
                Probe::Discover => self.on_discover(io, &outcome),
                Probe::Initialize => self.on_initialize(io, &outcome),
                Probe::ListTools => {
                    let result = Object::read(outcome.ok().as_ref()).unwrap_or_default();
                    result.get("resultType").map(|_| Self::is_modern(io))
                }
            };
        }
        io.send_client(frame);
        None
    }

    /// Notes that the server is of the era of its modern client.
    fn is_modern(io: &mut Io) -> BridgeState {
        io.server.eras().set_modern();
        BridgeState::Same
    }

    /// Takes the answer to the request that the client itself sent.
    fn on_first_answer(
        &mut self,
        io: &mut Io,
        frame: Frame,
        outcome: &Result<ByteString, ByteString>,
    ) -> Option<BridgeState> {
        match outcome {
            Err(error) if is_http_refusal(error) => {
                io.send_client(frame);
                Some(BridgeState::Idle)
            }
            Ok(_) => {
                if self.is_modern_client() {
                    io.server.eras().set_modern();
                } else {
                    io.server.eras().set_legacy();
                }
                io.send_client(frame);
                Some(BridgeState::Same)
            }
            Err(error) if self.is_modern_client() && is_modern_error(error) => {
                io.server.eras().set_modern();
                io.send_client(frame);
                Some(BridgeState::Same)
            }
            // The server may refuse it for what the client wrote.
            Err(_) if !self.is_modern_client() && !is_initialize_params(&self.params) => {
                io.send_client(frame);
                Some(BridgeState::Same)
            }
            Err(_) => {
                self.refusal = Some(frame);
                if self.stage == Stage::Refused {
                    return Some(self.give_up(io));
                }
                // A legacy server may do much at `initialize`.
                self.deadline =
                    Some(io.now + if self.is_modern_client() { START } else { PATIENCE });
                self.ask_other_era(io);
                None
            }
        }
    }

    /// Asks the server as a client of the other era would.
    fn ask_other_era(&mut self, io: &mut Io) {
        self.ask(io, if self.is_modern_client() { Probe::Initialize } else { Probe::Discover });
    }

    /// Asks the server, unless it was asked this already.
    fn ask(&mut self, io: &mut Io, probe: Probe) {
        if self.is_asked(probe) {
            return;
        }
        let discover = || discover_params(&self.params, self.is_modern_client());
        let (method, params) = match probe {
            Probe::Discover => ("server/discover", discover()),
            Probe::ListTools => ("tools/list", discover()),
            Probe::Initialize => {
                ("initialize", initialize_params(&self.params.object("_meta"), io.users))
            }
        };
        let id = io.own_id();
        io.request(&id, method, params);
        self.asked.push((id, probe));
    }

    fn is_asked(&self, probe: Probe) -> bool {
        self.asked.iter().any(|(_, asked)| *asked == probe)
    }

    fn on_discover(
        &mut self,
        io: &mut Io,
        outcome: &Result<ByteString, ByteString>,
    ) -> Option<BridgeState> {
        if let Err(error) = outcome
            && is_http_refusal(error)
        {
            return Some(self.refuse_held(io, error));
        }
        // A legacy server does not know the method.
        let is_modern = outcome.as_ref().map_or_else(|error| is_modern_error(error), |_| true);
        if self.is_modern_client() {
            if is_modern {
                return Some(Self::is_modern(io));
            }
            if self.stage == Stage::Refused {
                return Some(self.give_up(io));
            }
            // It is alive: it answers `initialize`, too.
            self.ask_other_era(io);
            self.deadline = None;
            return None;
        }
        match outcome {
            Ok(result) => {
                let mut bridge = LegacyClient::new(&self.params);
                if !self.is_known && self.tells_era() {
                    io.server.eras().set_modern_only();
                    io.report_once(format!(
                        "server: speaks no revision before {MODERN}; the guard translates for clients that do"
                    ));
                }
                bridge.answer_initialize(io, &self.first, &self.params, result);
                self.drop_first();
                Some(BridgeState::Legacy(Box::new(bridge)))
            }
            Err(_) => Some(self.give_up(io)),
        }
    }

    /// Whether the refusal of the client's `initialize` is about its era: a server of both eras may refuse a version that
    /// it does not know.
    fn tells_era(&self) -> bool {
        let refusal = self.refusal.as_ref().map(Incoming::of_server);
        let names_modern_only = match refusal {
            Some(Incoming::Answer { outcome: Err(error), .. }) => {
                let versions = supported_versions(&error);
                versions.is_some_and(|it| it.iter().all(|version| is_modern_version(version)))
            }
            _ => false,
        };
        names_modern_only || names_legacy_version(&self.params)
    }

    fn on_initialize(
        &mut self,
        io: &mut Io,
        outcome: &Result<ByteString, ByteString>,
    ) -> Option<BridgeState> {
        match outcome {
            Err(error) if is_http_refusal(error) => Some(self.refuse_held(io, error)),
            Err(error) if is_modern_error(error) && self.refusal.is_none() => {
                Some(Self::is_modern(io))
            }
            Ok(result) => {
                io.server.eras().set_legacy_only();
                io.report_once(format!(
                    "server: speaks no revision after {LEGACY}; the guard translates for clients that do"
                ));
                io.notify("notifications/initialized", Object::default());
                let bridge = ModernClient::new(result);
                if self.is_forwarded {
                    // The client asked with `server/discover`, and the server has refused that.
                    bridge.answer_discover(io, &self.first);
                }
                Some(BridgeState::Modern(Box::new(bridge)))
            }
            // The server may still answer `server/discover`.
            Err(_)
                if self.is_asked(Probe::Discover)
                    || (self.is_forwarded && self.refusal.is_none()) =>
            {
                self.stage = Stage::Refused;
                self.deadline = Some(io.now + SILENCE);
                None
            }
            Err(_) => Some(self.give_up(io)),
        }
    }

    /// Answers all requests that wait with the error with which the server refuses this client.
    fn refuse_held(&mut self, io: &mut Io, error: &str) -> BridgeState {
        if let Some(refusal) = self.refusal.take() {
            io.send_client(refusal);
            return BridgeState::Idle;
        }
        for sent in std::mem::take(&mut self.held) {
            if let Incoming::Request { id } = Incoming::of_client(&sent) {
                io.send_client(Frame::error(&id, error));
            }
        }
        BridgeState::Idle
    }

    /// Gives up translating, because the server speaks neither era with the bridge, and sends the client what the server said.
    fn give_up(&mut self, io: &mut Io) -> BridgeState {
        if self.is_known {
            io.server.eras().forget();
        }
        if let Some(refusal) = self.refusal.take() {
            io.send_client(refusal);
        }
        BridgeState::Same
    }

    /// Removes the first request from those that wait, because it has its answer.
    fn drop_first(&mut self) {
        if !self.is_forwarded && !self.held.is_empty() {
            self.held.remove(0);
        }
    }

    pub(super) fn on_timeout(&mut self, io: &mut Io) -> Option<BridgeState> {
        if self.deadline.is_none_or(|deadline| deadline > io.now) {
            return None;
        }
        self.deadline = None;
        if self.refusal.is_some() || self.stage == Stage::Refused {
            return Some(self.give_up(io));
        }
        if self.is_modern_client() {
            self.ask(io, Probe::ListTools);
            self.ask_other_era(io);
            return None;
        }
        self.stage = Stage::Passing;
        for sent in std::mem::take(&mut self.held) {
            io.forward(sent);
        }
        None
    }
}

/// What the bridge says to a legacy server for the modern client whose `_meta` this is.
fn initialize_params(client: &Object, users: Users) -> Object {
    // Where several clients use the pipe, the server cannot ask one of them.
    let capabilities = match users {
        Users::One | Users::Caller(_) => {
            super::capability::shared_capabilities(client.get(meta::CAPABILITIES))
        }
        Users::Many => "{}".to_owned(),
    };
    let info = client.get(meta::CLIENT_INFO).map_or(UNKNOWN_INFO, |info| info);
    Object::from([
        ("protocolVersion", format!("\"{LEGACY}\"")),
        ("capabilities", capabilities),
        ("clientInfo", info.to_owned()),
    ])
}

/// The parameters of `server/discover` in the name of a client whose first request has `params`.
fn discover_params(params: &Object, is_modern: bool) -> Object {
    // A modern server refuses a request that is not complete, as a legacy one does.
    let meta = if is_modern {
        meta::on_behalf_of(&params.object("_meta"), MODERN)
    } else {
        LegacyClient::new(params).meta()
    };
    Object::from([("_meta", meta)])
}

/// Whether a modern request says what every modern server needs to know.
fn is_complete(params: &Object) -> bool {
    let about = params.object("_meta");
    let level = about.get(meta::LOG_LEVEL);
    about.string(meta::VERSION).as_deref() == Some(MODERN)
        && is_object(about.get(meta::CAPABILITIES))
        && about.get(meta::CLIENT_INFO).is_none_or(|info| meta::is_info(info))
        && level
            .is_none_or(|_| about.string(meta::LOG_LEVEL).as_deref().and_then(log_level).is_some())
}

/// Whether the parameters of `initialize` name a legacy revision.
fn names_legacy_version(params: &Object) -> bool {
    let version = params.string("protocolVersion").unwrap_or_default();
    let revision = Revision::from(version.as_str());
    Revision::PUBLISHED.contains(&revision) && !revision.is_natural()
}

/// Whether the parameters of `initialize` are what every legacy server takes.
fn is_initialize_params(params: &Object) -> bool {
    params.string("protocolVersion").is_some()
        && is_object(params.get("capabilities"))
        && params.get("clientInfo").is_some_and(|info| meta::is_info(info))
}

fn is_object(text: Option<&ByteString>) -> bool {
    text.is_some_and(|text| text.starts_with('{'))
}

/// Whether `frame` is an `initialize` that every legacy server takes; with that, whether it names a legacy revision.
pub fn is_initialize(frame: &Frame) -> Option<bool> {
    let params = frame.params().ok().filter(is_initialize_params)?;
    (frame.method() == "initialize").then(|| names_legacy_version(&params))
}

/// A request that finds out the era of a server on HTTP.
fn probe(method: &str, params: &Object) -> Frame {
    Frame::request(Some(&Id::String("toolbond-era".to_owned())), method, params)
}

/// The request `initialize` in the name of the modern client that sent `first`.
pub fn initialize_request(first: &Frame) -> Frame {
    let params = first.params().unwrap_or_default();
    probe("initialize", &initialize_params(&params.object("_meta"), Users::Many))
}

/// The request `server/discover` in the name of the client that sent `first`.
pub fn discover_request(first: &Frame) -> Frame {
    let is_modern = is_modern_request(&first.text, &first.part);
    let params = first.params().unwrap_or_default();
    probe("server/discover", &discover_params(&params, is_modern))
}
