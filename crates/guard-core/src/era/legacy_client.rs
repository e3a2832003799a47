//! A legacy client in front of a modern server.

use std::time::Instant;

use ahash::AHashMap;
use bytestring::ByteString;
use serde_json::Value;
use toolbond_contract::Revision;

use super::capability::{Asks, Features, capability, log_level, shared_capabilities};
use super::io::{
    INPUT_TIMEOUT, Io, MAX_INPUTS, MAX_ROUNDS, MAX_STATE, MAX_STATES, MAX_WAITING, Translated,
    no_input,
};
use super::listen::{Listening, Subscribed};
use super::message::{Incoming, LEGACY, MODERN, UNKNOWN_INFO, cancelled, cancelled_request, meta};
use crate::json::members::members;
use crate::json::object::Object;
use crate::message::{Frame, Id, Sent, code, error_message};

/// A legacy client in front of a modern server.
pub(super) struct LegacyClient {
    /// What the client said about itself, as JSON.
    info: Option<ByteString>,
    capabilities: String,
    asks: Asks,
    log_level: Option<String>,
    features: Features,
    /// The requests that the server has, by the id that it knows.
    requests: AHashMap<Id, Request>,
    /// The id at the server of a request that was sent again, by the id that the client gave it.
    retried: AHashMap<Id, Id>,
    /// The requests that wait for input, by the id that the client gave them.
    waiting: AHashMap<Id, AwaitedInput>,
    /// The questions that the client has: by their id, the request they are for and their key in it.
    asked: AHashMap<Id, (Id, String)>,
    listening: Listening,
}

/// A request of the client that the server has.
struct Request {
    client_id: Id,
    /// What it takes to send it again with the input that it needs.
    again: Option<Resend>,
}

#[derive(Clone)]
struct Resend {
    method: String,
    params: Object,
    rounds: usize,
}

/// A request that waits for input of the client.
struct AwaitedInput {
    again: Resend,
    /// The state to send back, as JSON.
    state: Option<ByteString>,
    /// The bytes of its questions and its state.
    size: usize,
    /// The questions, and the answers that are here.
    answers: Vec<(String, Option<ByteString>)>,
    deadline: Instant,
}

impl LegacyClient {
    /// A client that sent `initialize` with `params`.
    pub(super) fn new(params: &Object) -> Self {
        let capabilities = params.get("capabilities");
        Self {
            info: params.get("clientInfo").cloned(),
            capabilities: shared_capabilities(capabilities),
            asks: Asks::read(capabilities),
            log_level: None,
            features: Features::default(),
            requests: AHashMap::new(),
            retried: AHashMap::new(),
            waiting: AHashMap::new(),
            asked: AHashMap::new(),
            listening: Listening::default(),
        }
    }

    /// The `_meta` of a request, as JSON.
    pub(super) fn meta(&self) -> String {
        self.meta_over(Object::default())
    }

    /// `meta` of a request, with what a modern server reads in it.
    fn meta_over(&self, mut object: Object) -> String {
        object.set(meta::VERSION, format!("\"{MODERN}\""));
        if let Some(info) = &self.info {
            object.set(meta::CLIENT_INFO, info.clone());
        }
        object.set(meta::CAPABILITIES, self.capabilities.clone());
        if let Some(level) = &self.log_level {
            object.set(meta::LOG_LEVEL, Value::from(level.as_str()).to_string());
        }
        object.to_string()
    }

    /// Answers `initialize` with the result of `server/discover`.
    pub(super) fn answer_initialize(
        &mut self,
        io: &mut Io,
        id: &Id,
        params: &Object,
        discovered: &ByteString,
    ) {
        let discovered = Object::read(Some(discovered)).unwrap_or_default();
        self.features = Features::read(discovered.get("capabilities"));
        let asked = params.string("protocolVersion").unwrap_or_default();
        let is_legacy =
            |revision: &Revision| !revision.is_natural() && Revision::PUBLISHED.contains(revision);
        let revision = Some(Revision::from(asked.as_str())).filter(is_legacy);
        let version = revision.map_or_else(|| LEGACY.to_owned(), |revision| revision.to_string());
        let mut answer = Object::default();
        answer.set("protocolVersion", Value::from(version).to_string());
        answer.set("capabilities", shared_capabilities(discovered.get("capabilities")));
        let told = discovered.object("_meta");
        let info = told.get(meta::SERVER_INFO).map_or(UNKNOWN_INFO, |info| info);
        answer.set("serverInfo", info);
        if let Some(instructions) = discovered.get("instructions") {
            answer.set("instructions", instructions.clone());
        }
        io.answer(id, &answer.to_string());
    }

    pub(super) fn next_timeout(&self) -> Option<Instant> {
        let inputs = self.waiting.values().map(|waiting| waiting.deadline).min();
        [inputs, self.listening.next_timeout()].into_iter().flatten().min()
    }

    pub(super) fn on_timeout(&mut self, io: &mut Io) {
        let late = self.waiting.iter().filter(|(_, waiting)| waiting.deadline <= io.now);
        let late: Vec<_> = late.map(|(id, _)| id.clone()).collect();
        for id in late {
            let text = no_input();
            self.stop_asking(io, &id, &text);
            io.refuse(&id, code::INTERNAL, &text);
        }
        let meta = self.meta();
        self.listening.on_timeout(io, &meta);
    }

    /// Takes a message of the client.
    pub(super) fn on_client(&mut self, io: &mut Io, sent: Sent) {
        match Incoming::of_client(&sent) {
            Incoming::Request { id } => self.on_request(io, &sent, id),
            Incoming::Notification => self.on_notification(io, sent),
            Incoming::Answer { id, outcome } => self.on_answer_of_client(io, &id, outcome),
            Incoming::Other => io.forward(sent),
        }
    }

    fn on_request(&mut self, io: &mut Io, sent: &Sent, id: Id) {
        let method = &*sent.frame.method();
        let mut object = match sent.params() {
            Ok(object) => object,
            Err(error) => return io.refuse(&id, code::PARAMS, &format!("#/params: {error}")),
        };
        match method {
            "initialize" => io.refuse(&id, code::REQUEST, "the connection is initialized already"),
            "ping" => io.answer(&id, "{}"),
            "logging/setLevel" if self.features.logging => {
                let level = object.string("level").filter(|level| log_level(level).is_some());
                match level {
                    Some(level) => {
                        self.log_level = Some(level);
                        io.answer(&id, "{}");
                    }
                    None => io.refuse(&id, code::PARAMS, "#/params/level: expected a log level"),
                }
            }
            "resources/subscribe" | "resources/unsubscribe" if self.features.subscribe => {
                let Some(uri) = object.string("uri") else {
                    return io.refuse(&id, code::PARAMS, "#/params/uri: expected a URI");
                };
                let meta = self.meta();
                let is_new = method == "resources/subscribe";
                self.listening.subscribe(io, &meta, id, uri, is_new);
            }
            "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => {
                let text = format!("the server does not offer what `{method}` needs");
                io.refuse(&id, code::METHOD, &text);
            }
            method if method.starts_with("tasks/") => {
                let text = format!(
                    "`{method}` of {LEGACY} has no counterpart in {MODERN}, which the server speaks"
                );
                io.refuse(&id, code::METHOD, &text);
            }
            _ => {
                if self.requests.contains_key(&id) {
                    let text = format!("request id {id} is already in use");
                    return io.refuse(&id, code::REQUEST, &text);
                }
                let again = may_need_input(method).then(|| Resend {
                    method: method.to_owned(),
                    params: object.clone(),
                    rounds: 0,
                });
                let meta = self.meta_over(object.object("_meta"));
                object.set("_meta", meta);
                io.request(&id, method, object);
                self.requests.insert(id.clone(), Request { client_id: id, again });
            }
        }
    }

    fn on_notification(&mut self, io: &mut Io, sent: Sent) {
        match &*sent.frame.method() {
            "notifications/initialized" => {
                let meta = self.meta();
                self.listening.start(io, &meta, self.features);
            }
            "notifications/cancelled" => {
                let Some(id) = cancelled_request(&sent) else { return };
                if self.waiting.contains_key(&id) {
                    return self.stop_asking(io, &id, "the request was cancelled");
                }
                let at_server = self.retried.remove(&id).unwrap_or(id);
                if self.requests.remove(&at_server).is_some() {
                    io.cancel(&at_server, "the client cancelled the request");
                }
            }
            method @ ("notifications/roots/list_changed" | "notifications/progress") => {
                io.report_once(format!(
                    "client: `{method}` of {LEGACY} has no counterpart in {MODERN}, which the server speaks"
                ));
            }
            _ => io.forward(sent),
        }
    }

    /// Takes the answer of the client to a question.
    fn on_answer_of_client(
        &mut self,
        io: &mut Io,
        id: &Id,
        outcome: Result<ByteString, ByteString>,
    ) {
        // Answered twice, too late, or never asked.
        let Some((request, key)) = self.asked.remove(id) else { return };
        let Some(waiting) = self.waiting.get_mut(&request) else { return };
        let Some((_, answer)) = waiting.answers.iter_mut().find(|(known, _)| *known == key) else {
            return;
        };
        *answer = Some(match outcome {
            Ok(result) => result,
            // Modern servers know no error in the place of an answer.
            Err(error) => {
                let message = error_message(&error);
                let message = message.as_deref().unwrap_or("no message");
                let text = format!("the client could not answer the server: {message}");
                self.stop_asking(io, &request, &text);
                return io.refuse(&request, code::INTERNAL, &text);
            }
        });
        if waiting.answers.iter().all(|(_, answer)| answer.is_some())
            && let Some(waiting) = self.waiting.remove(&request)
        {
            self.send_again(io, request, waiting);
        }
    }

    /// Sends a request again, with the input that it needs.
    fn send_again(&mut self, io: &mut Io, client_id: Id, waiting: AwaitedInput) {
        let AwaitedInput { mut again, state, answers, .. } = waiting;
        again.rounds += 1;
        let mut object = again.params.clone();
        let meta = self.meta_over(object.object("_meta"));
        object.set("_meta", meta);
        if !answers.is_empty() {
            let mut responses = Object::default();
            for (key, answer) in answers {
                responses.set(&key, answer.unwrap_or_else(|| "null".into()));
            }
            object.set("inputResponses", responses.to_string());
        }
        if let Some(state) = state {
            object.set("requestState", state);
        }
        let id = io.own_id();
        io.request(&id, &again.method, object);
        self.retried.insert(client_id.clone(), id.clone());
        self.requests.insert(id, Request { client_id, again: Some(again) });
    }

    /// Whether the client knows the request `id` of the server by another id.
    pub(super) fn is_retried(&self, id: &Id) -> bool {
        self.requests.get(id).is_some_and(|request| request.client_id != *id)
    }

    /// Forgets the request that the server knows as `id`, and returns the id that its client knows if that is another one.
    pub(super) fn take_retried(&mut self, id: &Id) -> Option<Id> {
        let id = id.among(|id| self.requests.contains_key(id))?;
        let Request { client_id, .. } = self.requests.remove(&id)?;
        self.retried.remove(&client_id);
        (client_id != id).then_some(client_id)
    }

    /// Handles the end of the client's input: it cannot answer questions any more.
    pub(super) fn on_client_end(&mut self, io: &mut Io) {
        let waiting: Vec<Id> = self.waiting.keys().cloned().collect();
        for id in waiting {
            let text = "the client closed its input before it answered the server's questions";
            self.stop_asking(io, &id, text);
            io.refuse(&id, code::INTERNAL, text);
        }
    }

    /// Withdraws the questions of a request that waits for input.
    fn stop_asking(&mut self, io: &mut Io, request: &Id, reason: &str) {
        self.waiting.remove(request);
        self.asked.retain(|id, (asked_for, _)| {
            if asked_for == request {
                let params = cancelled(id, reason);
                io.send_client(Frame::request(None, "notifications/cancelled", &params));
            }
            asked_for != request
        });
    }

    /// Takes a message of the server.
    pub(super) fn on_server(&mut self, io: &mut Io, frame: Frame, incoming: Incoming) {
        match incoming {
            Incoming::Answer { id, outcome } => self.on_answer(io, frame, &id, outcome),
            Incoming::Notification => {
                let (method, params) = (frame.method(), frame.params().unwrap_or_default());
                match self.listening.on_notification(io, &method, params) {
                    Subscribed::Taken => {}
                    Subscribed::Told(params) => {
                        io.send_client(Frame::request(None, &method, &params));
                    }
                    Subscribed::Other => {
                        drop(method);
                        io.send_client(frame);
                    }
                }
            }
            Incoming::Request { id } => {
                let method = frame.method();
                io.warn(format!(
                    "server: sent the request `{method}`, which {MODERN} does not allow"
                ));
                let text = format!("servers of {MODERN} ask in a result, not with a request");
                io.refuse_server(&id, code::METHOD, &text);
            }
            Incoming::Other => io.send_client(frame),
        }
    }

    fn on_answer(
        &mut self,
        io: &mut Io,
        frame: Frame,
        id: &Id,
        outcome: Result<ByteString, ByteString>,
    ) {
        if self.listening.on_answer(io, id, &outcome) {
            return;
        }
        // Cancelled, or answered before.
        let own = id.among(|id| self.requests.contains_key(id));
        let Some(Request { client_id, again }) = own.and_then(|own| self.requests.remove(&own))
        else {
            return;
        };
        self.retried.remove(&client_id);
        let translated = |client_id: Id| {
            let own = (client_id != *id).then_some(client_id);
            Translated { id: own, ..frame.into() }
        };
        let Ok(content) = outcome else { return io.send_client(translated(client_id)) };
        let kind = result_type(&content);
        match (kind.as_deref(), again) {
            (Some("input_required"), Some(again)) => {
                let needed = Object::read(Some(&content)).unwrap_or_default();
                self.ask(io, client_id, again, &needed);
            }
            (None | Some("complete"), _) => io.send_client(translated(client_id)),
            (Some(kind), _) => {
                let kind: String = kind.chars().take(60).collect();
                let text = format!(
                    "the server of {MODERN} answered with a result of type `{kind}`, which has no counterpart in {LEGACY}"
                );
                io.refuse(&client_id, code::INTERNAL, &text);
            }
        }
    }

    /// Asks the client for the input that a request needs.
    fn ask(&mut self, io: &mut Io, client_id: Id, again: Resend, needed: &Object) {
        let questions = match Object::read(needed.get("inputRequests")) {
            Ok(questions) => questions,
            Err(wrong) => {
                let text = format!("the server asked for input: #/inputRequests: {wrong}");
                return io.refuse(&client_id, code::INTERNAL, &text);
            }
        };
        let state = needed.get("requestState").cloned();
        let size = questions.to_string().len() + state.as_ref().map_or(0, |state| state.len());
        let count = questions.iter().count();
        let refusal = if again.rounds >= MAX_ROUNDS {
            Some(format!("the server asked for input {MAX_ROUNDS} times"))
        } else if size > MAX_STATE || count > MAX_INPUTS {
            Some(format!(
                "the server asked {count} questions in {size} bytes; the limits are {MAX_INPUTS} and {MAX_STATE}"
            ))
        } else if self.waiting.values().map(|it| it.size).sum::<usize>() + size > MAX_STATES {
            Some(format!("requests with {MAX_STATES} bytes of state wait for input already"))
        } else if self.waiting.len() >= MAX_WAITING {
            Some(format!("{MAX_WAITING} requests wait for input already"))
        } else if count == 0 && state.is_none() {
            Some("the server asked for input, and did not say which".to_owned())
        } else {
            self.undeclared(&questions)
        };
        if let Some(text) = refusal {
            return io.refuse(&client_id, code::INTERNAL, &text);
        }
        let mut answers = Vec::new();
        for (key, question) in questions.iter() {
            let question = Object::read(Some(question)).unwrap_or_default();
            let method = question.string("method").unwrap_or_default();
            let mut params = question.object("params");
            let id = io.own_id();
            if params.string("mode").as_deref() == Some("url") {
                // Legacy clients tell URL elicitations apart by an id of their own.
                params.set_default("elicitationId", id.to_string());
            }
            io.send_client(Frame::request(Some(&id), &method, &params));
            self.asked.insert(id, (client_id.clone(), key.to_owned()));
            answers.push((key.to_owned(), None));
        }
        let deadline = io.now + INPUT_TIMEOUT;
        let waiting = AwaitedInput { again, state, size, answers, deadline };
        if waiting.answers.is_empty() {
            return self.send_again(io, client_id, waiting);
        }
        self.waiting.insert(client_id, waiting);
    }

    /// Why the client may not be asked these questions.
    fn undeclared(&self, questions: &Object) -> Option<String> {
        questions.iter().find_map(|(_, question)| {
            let question = Object::read(Some(question)).unwrap_or_default();
            let method = question.string("method").unwrap_or_default();
            let params = question.get("params");
            (!self.asks.allows(&method, params)).then(|| {
                let needed = capability(&method, params).unwrap_or("roots");
                let method: String = method.chars().take(60).collect();
                format!(
                    "the server needs `{method}`, and the client did not declare the capability `{needed}`"
                )
            })
        })
    }
}

/// The `resultType` of a result.
fn result_type(result: &str) -> Option<String> {
    let [kind] = members(result, ["resultType"]).ok()?;
    serde_json::from_str(kind?).ok()
}

/// Whether a result may ask for input.
pub fn may_need_input(method: &str) -> bool {
    matches!(method, "tools/call" | "prompts/get" | "resources/read")
}
