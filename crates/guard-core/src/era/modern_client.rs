//! A modern client in front of a legacy server.

use std::time::Instant;

use ahash::AHashMap;
use bytestring::ByteString;
use serde_json::Value;

use super::capability::{Asks, Features, capability, log_level, shared_capabilities};
use super::io::{
    Defaults, INPUT_TIMEOUT, Io, MAX_INPUTS, MAX_ROUNDS, MAX_WAITING, Translated, Users, no_input,
};
use super::legacy_client::may_need_input;
use super::message::{
    Incoming, LEGACY, MODERN, UNKNOWN_INFO, cancelled_request, error_code, meta,
    unsupported_version,
};
use super::subscriptions::Subscriptions;
use crate::json::object::Object;
use crate::message::{Frame, Id, Sent, code};

/// A modern client in front of a legacy server.
pub(super) struct ModernClient {
    /// The result of `server/discover`, as JSON.
    discovered: String,
    features: Features,
    /// The requests that the server has, by the id that it knows.
    calls: AHashMap<Id, Call>,
    /// The id at the server of a request that the client sent again, by its last id.
    retried: AHashMap<Id, Id>,
    /// The requests whose client has been asked for input, by the state that it sends back.
    waiting: AHashMap<String, AwaitedRetry>,
    subscriptions: Subscriptions,
    log_level: Option<String>,
    /// Counts requests: the higher, the later.
    clock: u64,
}

/// A request that the server has.
struct Call {
    /// The id that the client waits for; `None` while the client has been asked for input.
    client_id: Option<Id>,
    method: String,
    /// What the client sent; empty where nobody needs it again.
    params: Object,
    asks: Asks,
    log_level: Option<usize>,
    /// The progress token that the server knows, and the one of the client's last request, as JSON.
    token: Option<(Id, ByteString)>,
    /// What the server wants to know and has no answer to.
    inputs: Vec<Input>,
    rounds: usize,
    started: u64,
    /// The answer of the server, which came while the client was asked.
    answer: Option<Frame>,
    /// Whether the server has answered, and gets the request again.
    is_over: bool,
}

/// A question of the server.
struct Input {
    key: String,
    /// The id of its request; `None` where an error asked.
    id: Option<Id>,
    method: String,
    params: String,
}

struct AwaitedRetry {
    call: Id,
    deadline: Instant,
}

impl ModernClient {
    /// A bridge to a server that answered `initialize` with this result.
    pub(super) fn new(initialized: &ByteString) -> Self {
        let told = Object::read(Some(initialized)).unwrap_or_default();
        let mut discovered = Object::default();
        discovered.set("resultType", "\"complete\"");
        discovered.set("supportedVersions", format!("[\"{MODERN}\"]"));
        discovered.set("capabilities", shared_capabilities(told.get("capabilities")));
        if let Some(instructions) = told.get("instructions") {
            discovered.set("instructions", instructions.clone());
        }
        discovered.set("ttlMs", "0");
        discovered.set("cacheScope", "\"private\"");
        let info = told.get("serverInfo");
        let info = info.map_or(UNKNOWN_INFO, |info| info);
        discovered.set("_meta", format!("{{\"{}\":{info}}}", meta::SERVER_INFO));
        Self {
            discovered: discovered.to_string(),
            features: Features::read(told.get("capabilities")),
            calls: AHashMap::new(),
            retried: AHashMap::new(),
            waiting: AHashMap::new(),
            subscriptions: Subscriptions::default(),
            log_level: None,
            clock: 0,
        }
    }

    /// Answers `server/discover`.
    pub(super) fn answer_discover(&self, io: &mut Io, id: &Id) {
        io.answer(id, &self.discovered);
    }

    /// Whether a request waits for its client.
    pub(super) fn is_waiting(&self) -> bool {
        !self.waiting.is_empty()
    }

    pub(super) fn next_timeout(&self) -> Option<Instant> {
        self.waiting.values().map(|waiting| waiting.deadline).min()
    }

    pub(super) fn on_timeout(&mut self, io: &mut Io) {
        let late = self.waiting.iter().filter(|(_, waiting)| waiting.deadline <= io.now);
        let late: Vec<_> = late.map(|(state, _)| state.clone()).collect();
        for state in late {
            let Some(waiting) = self.waiting.remove(&state) else { continue };
            let text = no_input();
            io.warn(format!("client: {text}"));
            if let Some(call) = self.calls.remove(&waiting.call) {
                for input in call.inputs {
                    refuse_input(io, &input, &text);
                }
                io.cancel(&waiting.call, &text);
            }
        }
    }

    /// Takes a message of the client.
    pub(super) fn on_client(&mut self, io: &mut Io, sent: Sent) {
        let method = sent.frame.method();
        match Incoming::of_client(&sent) {
            Incoming::Request { id } => self.on_request(io, &sent, &id),
            Incoming::Notification if method == "notifications/cancelled" => {
                let Some(id) = cancelled_request(&sent) else { return };
                if self.subscriptions.close(io, &id) {
                    return;
                }
                let at_server = self.retried.remove(&id).unwrap_or_else(|| id.clone());
                let is_open = |call: &Call| call.client_id.as_ref() == Some(&id);
                if self.calls.get(&at_server).is_some_and(is_open) {
                    self.calls.remove(&at_server);
                    io.cancel(&at_server, "the client cancelled the request");
                }
            }
            Incoming::Notification if method == "notifications/initialized" => {}
            Incoming::Notification | Incoming::Other => {
                drop(method);
                io.forward(sent);
            }
            // Modern clients send no answers.
            Incoming::Answer { .. } => {}
        }
    }

    fn on_request(&mut self, io: &mut Io, sent: &Sent, id: &Id) {
        let method = &*sent.frame.method();
        let object = match sent.params() {
            Ok(object) => object,
            Err(error) => return io.refuse(id, code::PARAMS, &format!("#/params: {error}")),
        };
        if method == "initialize" {
            let requested = object.string("protocolVersion").unwrap_or_default();
            return io.send_client(Frame::error(id, &unsupported_version(&requested)));
        }
        let meta = object.object("_meta");
        match meta.string(meta::VERSION) {
            Some(version) if version == MODERN => {}
            Some(version) => {
                return io.send_client(Frame::error(id, &unsupported_version(&version)));
            }
            None => {
                let text = format!("#/params/_meta: missing required property `{}`", meta::VERSION);
                return io.refuse(id, code::PARAMS, &text);
            }
        }
        match method {
            "server/discover" => self.answer_discover(io, id),
            "subscriptions/listen" => self.subscriptions.open(io, id, &object, self.features),
            "ping" | "logging/setLevel" | "resources/subscribe" | "resources/unsubscribe" => {
                let text = format!("`{method}` is a method of {LEGACY}; {MODERN} does not have it");
                io.refuse(id, code::METHOD, &text);
            }
            _ if method.starts_with("tasks/") => {
                let text =
                    format!("the guard does not translate `{method}` for a server of {LEGACY}");
                io.refuse(id, code::METHOD, &text);
            }
            _ if may_need_input(method) && object.get("requestState").is_some() => {
                self.on_retry(io, id, method, &object);
            }
            _ => self.forward(io, id, method, object),
        }
    }

    /// Sends a request on to the server.
    fn forward(&mut self, io: &mut Io, id: &Id, method: &str, object: Object) {
        let is_open = |call: &Call| call.client_id.as_ref() == Some(id);
        if self.retried.contains_key(id) || self.calls.get(id).is_some_and(is_open) {
            return io.refuse(id, code::REQUEST, &format!("request id {id} is already in use"));
        }
        // A request that waits for input was answered, so that its client may use the id again.
        let at_server = if self.calls.contains_key(id) { io.own_id() } else { id.clone() };
        let client = object.object("_meta");
        let level = client.string(meta::LOG_LEVEL);
        self.set_log_level(io, level.as_deref());
        io.request(&at_server, method, legacy_params(&object));
        let token = client.get("progressToken");
        self.clock += 1;
        if at_server != *id {
            self.retried.insert(id.clone(), at_server.clone());
        }
        let call = Call {
            client_id: Some(id.clone()),
            method: method.to_owned(),
            // What it takes to send it again.
            params: if may_need_input(method) { object } else { Object::default() },
            asks: Asks::read(client.get(meta::CAPABILITIES)),
            log_level: level.as_deref().and_then(log_level),
            token: token.and_then(|token| Some((Id::parse(token)?, token.clone()))),
            inputs: Vec::new(),
            rounds: 0,
            started: self.clock,
            answer: None,
            is_over: false,
        };
        self.calls.insert(at_server, call);
    }

    /// Whether the client knows the request `id` of the server by another id.
    pub(super) fn is_retried(&self, id: &Id) -> bool {
        let client_id = self.calls.get(id).and_then(|call| call.client_id.as_ref());
        client_id.is_some_and(|client_id| client_id != id)
    }

    /// Forgets the request that the server knows as `id`, and returns the id that its client knows if that is another one.
    pub(super) fn take_retried(&mut self, id: &Id) -> Option<Id> {
        let id = id.among(|id| self.calls.contains_key(id))?;
        let client_id = self.calls.get(&id)?.client_id.clone()?;
        self.calls.remove(&id);
        self.retried.remove(&client_id);
        (client_id != id).then_some(client_id)
    }

    /// Tells the server from which level on the client wants its log.
    fn set_log_level(&mut self, io: &mut Io, level: Option<&str>) {
        let Some(level) = level.filter(|level| log_level(level).is_some()) else { return };
        if self.features.logging && self.log_level.as_deref() != Some(level) {
            let id = io.own_id();
            let params = [("level", Value::from(level).to_string())];
            io.request(&id, "logging/setLevel", params.into());
            self.log_level = Some(level.to_owned());
        }
    }

    /// Takes a request that the client sends again with the input that it was asked for.
    fn on_retry(&mut self, io: &mut Io, id: &Id, method: &str, object: &Object) {
        let state = object.string("requestState").unwrap_or_default();
        let unknown = "#/params/requestState: unknown, used before or expired; call without it";
        let Some(waiting) = self.waiting.get(&state) else {
            return io.refuse(id, code::PARAMS, unknown);
        };
        let at_server = waiting.call.clone();
        let Some(call) = self.calls.get_mut(&at_server) else {
            return io.refuse(id, code::PARAMS, unknown);
        };
        if call.method != method || !is_same_request(&call.params, object) {
            let text = "#/params/requestState: belongs to another request";
            return io.refuse(id, code::PARAMS, text);
        }
        let responses = match Object::read(object.get("inputResponses")) {
            Ok(responses) => responses,
            Err(wrong) => {
                return io.refuse(id, code::PARAMS, &format!("#/params/inputResponses: {wrong}"));
            }
        };
        self.waiting.remove(&state);
        let client = object.object("_meta");
        call.asks = Asks::read(client.get(meta::CAPABILITIES));
        call.log_level = client.string(meta::LOG_LEVEL).as_deref().and_then(log_level);
        if let (Some((_, token)), Some(new)) = (&mut call.token, client.get("progressToken")) {
            *token = new.clone();
        }
        let mut left = Vec::new();
        for input in std::mem::take(&mut call.inputs) {
            match (responses.get(&input.key), &input.id) {
                (Some(response), Some(asked)) => {
                    io.answer_server(Frame::result(asked, response));
                }
                (Some(_), None) => {}
                (None, _) => left.push(input),
            }
        }
        call.inputs = left;
        call.client_id = Some(id.clone());
        if !call.inputs.is_empty() {
            return self.ask(io, &at_server);
        }
        if let Some(answer) = call.answer.take() {
            self.calls.remove(&at_server);
            return Self::send_answer(io, answer, id, method);
        }
        if !call.is_over {
            self.retried.insert(id.clone(), at_server);
            return;
        }
        call.is_over = false;
        let Some(call) = self.calls.remove(&at_server) else { return };
        let again = io.own_id();
        io.request(&again, method, legacy_params(&call.params));
        self.retried.insert(id.clone(), again.clone());
        self.calls.insert(again, call);
    }

    /// Takes a message of the server.
    pub(super) fn on_server(&mut self, io: &mut Io, frame: Frame, incoming: Incoming) {
        match incoming {
            Incoming::Answer { id, outcome } => {
                self.on_answer(io, frame, &id, outcome.err().as_ref());
            }
            Incoming::Request { id } => self.on_question(io, id, &frame),
            Incoming::Notification => self.on_notification(io, &frame),
            Incoming::Other => io.send_client(frame),
        }
    }

    fn on_answer(&mut self, io: &mut Io, frame: Frame, id: &Id, error: Option<&ByteString>) {
        if self.subscriptions.on_answer(io, id, error.is_some()) {
            return;
        }
        let Some(id) = id.among(|id| self.calls.contains_key(id)) else { return };
        let Some(call) = self.calls.get_mut(&id) else { return };
        if let Some(error) = error
            && error_code(error) == Some(code::URL_ELICITATION)
            && call.client_id.is_some()
            && call.rounds < MAX_ROUNDS
            && let Some(inputs) = url_inputs(error, call.asks)
        {
            (call.inputs, call.is_over) = (inputs, true);
            return self.ask(io, &id);
        }
        let Some(client_id) = call.client_id.clone() else {
            // The client learns it when it sends the request again.
            call.answer = Some(frame);
            call.inputs.clear();
            return;
        };
        let Some(call) = self.calls.remove(&id) else { return };
        self.retried.remove(&client_id);
        Self::send_answer(io, frame, &client_id, &call.method);
    }

    /// Answers the request `id` of the client with what the server answered.
    fn send_answer(io: &mut Io, frame: Frame, id: &Id, method: &str) {
        const COMPLETE: Defaults = &[("resultType", "\"complete\"")];
        const CACHEABLE: Defaults =
            &[("resultType", "\"complete\""), ("ttlMs", "0"), ("cacheScope", "\"private\"")];
        let error = frame.part.error.map(|error| frame.slice(error));
        if let Some(error) = error
            && let Some(code::NO_RESOURCE | code::URL_ELICITATION) = error_code(&error)
        {
            // Codes that 2026-07-28 does not have any more.
            let mut object = Object::read(Some(&error)).unwrap_or_default();
            object.set("code", code::PARAMS.to_string());
            return io.send_client(Frame::error(id, &object.to_string()));
        }
        let defaults = if is_cacheable(method) { CACHEABLE } else { COMPLETE };
        io.send_client(Translated { frame, id: Some(id.clone()), defaults });
    }

    /// Takes a request of the server.
    fn on_question(&mut self, io: &mut Io, id: Id, frame: &Frame) {
        let method = &*frame.method();
        if method == "ping" {
            return io.answer_server(Frame::result(&id, "{}"));
        }
        let params = frame.part.params_text(&frame.text).map(|it| frame.text.slice_ref(it));
        let params = params.as_ref();
        let Some(needed) = capability(method, params) else {
            let text =
                format!("`{method}` has no counterpart in {MODERN}, which the client speaks");
            return io.refuse_server(&id, code::METHOD, &text);
        };
        // The server does not say which request it asks for. Where all are of one client, that client gets the question
        // in any case, with the last request that may ask.
        let may_ask =
            |call: &Call| may_need_input(&call.method) && call.asks.allows(method, params);
        let calls: Vec<_> = self.calls.iter().filter(|(_, call)| may_ask(call)).collect();
        if calls.len() > 1 && io.users != Users::One {
            let text = "several calls are open, and it is not clear which one asks";
            io.report_once(format!("server: refused `{method}`: {text}"));
            return io.refuse_server(&id, code::METHOD, text);
        }
        let last = calls.iter().max_by_key(|(_, call)| (call.client_id.is_some(), call.started));
        let Some(at_server) = last.map(|(id, _)| (*id).clone()).filter(|_| io.users != Users::Many)
        else {
            let text = format!(
                "`{method}` needs the capability `{needed}`, which no client that waits for an answer has declared"
            );
            return io.refuse_server(&id, code::METHOD, &text);
        };
        let Some(call) = self.calls.get_mut(&at_server) else { return };
        if call.inputs.len() >= MAX_INPUTS || call.rounds >= MAX_ROUNDS {
            let text = format!(
                "one request may ask {MAX_INPUTS} questions at a time, and {MAX_ROUNDS} times"
            );
            return io.refuse_server(&id, code::METHOD, &text);
        }
        let mut object = Object::read(params).unwrap_or_default();
        object.remove("elicitationId");
        object.remove("task");
        let number = io.last + 1;
        io.last = number;
        call.inputs.push(Input {
            key: format!("input-{number}"),
            id: Some(id),
            method: method.to_owned(),
            params: object.to_string(),
        });
        if call.client_id.is_some() {
            self.ask(io, &at_server);
        }
    }

    /// Answers a request of the client with the questions of the server.
    fn ask(&mut self, io: &mut Io, at_server: &Id) {
        let is_full = self.waiting.len() >= MAX_WAITING;
        let Some(call) = self.calls.get_mut(at_server) else { return };
        let Some(client_id) = call.client_id.take() else { return };
        self.retried.remove(&client_id);
        let state = new_state(io).filter(|_| !is_full);
        let Some(state) = state else {
            let text = format!("{MAX_WAITING} requests wait for input already");
            for input in std::mem::take(&mut call.inputs) {
                refuse_input(io, &input, &text);
            }
            self.calls.remove(at_server);
            io.cancel(at_server, &text);
            return io.refuse(&client_id, code::INTERNAL, &text);
        };
        call.rounds += 1;
        let mut questions = Object::default();
        for input in &call.inputs {
            let method = Value::from(input.method.as_str());
            questions
                .set(&input.key, format!(r#"{{"method":{method},"params":{}}}"#, input.params));
        }
        let answer = format!(
            r#"{{"resultType":"input_required","inputRequests":{questions},"requestState":"{state}"}}"#
        );
        io.answer(&client_id, &answer);
        let deadline = io.now + INPUT_TIMEOUT;
        self.waiting.insert(state, AwaitedRetry { call: at_server.clone(), deadline });
    }

    fn on_notification(&mut self, io: &mut Io, frame: &Frame) {
        let params = frame.params().unwrap_or_default();
        match &*frame.method() {
            method @ ("notifications/tools/list_changed"
            | "notifications/prompts/list_changed"
            | "notifications/resources/list_changed"
            | "notifications/resources/updated") => {
                let told = self.subscriptions.tell(io, method, &params);
                if !told && method == "notifications/tools/list_changed" {
                    io.out.push_back(super::Output::ToolsChanged);
                }
            }
            "notifications/progress" => self.on_progress(io, frame, params),
            "notifications/message" => {
                let level = params.string("level").as_deref().and_then(log_level);
                let wants = |call: &Call| {
                    call.client_id.is_some() && call.log_level.is_some_and(|least| level >= Some(least))
                };
                if self.calls.values().any(wants) {
                    io.send_client(frame.clone());
                }
            }
            // The server takes back a question.
            "notifications/cancelled" => {
                let id = params.get("requestId").and_then(|id| Id::parse(id));
                for call in self.calls.values_mut() {
                    call.inputs.retain(|input| input.id.is_none() || input.id != id);
                }
            }
            method @ "notifications/elicitation/complete" => io.report_once(format!(
                "server: `{method}` of {LEGACY} has no counterpart in {MODERN}, which the client speaks"
            )),
            _ => io.send_client(frame.clone()),
        }
    }

    /// Passes progress on to the request that waits for it.
    fn on_progress(&self, io: &mut Io, frame: &Frame, mut object: Object) {
        let token = object.get("progressToken").and_then(|token| Id::parse(token));
        let mut calls = self.calls.values();
        let call = calls.find(|call| call.token.as_ref().map(|(known, _)| known) == token.as_ref());
        match call.and_then(|call| call.token.as_ref().zip(call.client_id.as_ref())) {
            Some(((known, now), _)) if known.to_string() != **now => {
                object.set("progressToken", now.clone());
                io.send_client(Frame::request(None, "notifications/progress", &object));
            }
            Some(_) => io.send_client(frame.clone()),
            // Nobody waits for it at the moment.
            None => {}
        }
    }
}

/// The parameters of a request as a legacy server gets them.
fn legacy_params(object: &Object) -> Object {
    let (mut params, mut legacy) = (object.clone(), object.object("_meta"));
    for name in [meta::VERSION, meta::CLIENT_INFO, meta::CAPABILITIES, meta::LOG_LEVEL] {
        legacy.remove(name);
    }
    params.remove("inputResponses");
    params.remove("task");
    if legacy.is_empty() {
        params.remove("_meta");
    } else {
        params.set("_meta", legacy.to_string());
    }
    params
}

/// Answers a question of the server with an error.
fn refuse_input(io: &mut Io, input: &Input, reason: &str) {
    if let Some(id) = &input.id {
        io.refuse_server(id, code::INTERNAL, reason);
    }
}

/// Whether `object` asks for the same as the request with `params`.
fn is_same_request(params: &Object, object: &Object) -> bool {
    let (mut again, mut first) = (object.clone(), params.clone());
    for name in ["_meta", "inputResponses", "requestState"] {
        again.remove(name);
        first.remove(name);
    }
    let value = |text: String| serde_json::from_str::<Value>(&text).ok();
    value(first.to_string()) == value(again.to_string())
}

/// The questions in an error that asks the user to visit URLs; `None` where the client cannot be asked.
fn url_inputs(refusal: &ByteString, asks: Asks) -> Option<Vec<Input>> {
    let refusal = Object::read(Some(refusal)).ok()?;
    let data = refusal.object("data");
    let elicitations: Vec<Value> = serde_json::from_str(data.get("elicitations")?).ok()?;
    if elicitations.is_empty() || elicitations.len() > MAX_INPUTS {
        return None;
    }
    let input = |(index, mut params): (usize, Value)| {
        params.as_object_mut()?.shift_remove("elicitationId");
        let params = params.to_string();
        let method = "elicitation/create";
        asks.allows(method, Some(&params.as_str().into())).then(|| Input {
            key: format!("url-{index}"),
            id: None,
            method: method.to_owned(),
            params,
        })
    };
    elicitations.into_iter().enumerate().map(input).collect()
}

/// Whether a result says how long it may be cached.
fn is_cacheable(method: &str) -> bool {
    matches!(
        method,
        "tools/list"
            | "prompts/list"
            | "resources/list"
            | "resources/templates/list"
            | "resources/read"
    )
}

/// State that nobody can guess, and that names the pipe that it belongs to.
fn new_state(io: &Io) -> Option<String> {
    let pipe = match io.users {
        Users::One => 0,
        Users::Caller(number) => number,
        Users::Many => return None,
    };
    Some(format!("toolbond.{pipe}.{:032x}", io.server.random()?))
}

/// The pipe that a state belongs to.
pub fn pipe_of_state(state: &str) -> Option<u64> {
    state.strip_prefix("toolbond.")?.split_once('.')?.0.parse().ok()
}
