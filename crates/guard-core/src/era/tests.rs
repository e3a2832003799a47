//! Conversations across eras, message by message.

use std::sync::Arc;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use super::detect::{PATIENCE, SILENCE};
use super::io::{INPUT_TIMEOUT, MAX_ROUNDS, MAX_WAITING};
use super::{Bridge, HTTP_REFUSAL, Output, Translated, Users, meta};
use crate::message::{Frame, Message, Text};
use crate::server::Server;
use crate::settings::Settings;
use crate::testing;

/// A bridge, and the messages that came out of it.
struct Pipe {
    bridge: Bridge,
    now: Instant,
}

#[derive(Debug, PartialEq)]
enum Seen {
    Server(Value),
    Client(Value),
    ToolsChanged,
}

/// The messages in `text`.
fn frames(text: &str) -> Vec<Frame> {
    let text = Text::from(text.to_owned());
    let message = Message::read(&text).unwrap();
    let parts = message.parts.as_slice().iter().cloned();
    parts.map(|part| Frame { text: (*text).clone(), part }).collect()
}

/// A translated message as the conversation sends it on.
fn told(translated: &Translated) -> Value {
    let Translated { frame, id, defaults } = translated;
    let text = frame.slice(frame.part.span);
    let mut message: Value = serde_json::from_str(&text).unwrap();
    if let Some(id) = id {
        message["id"] = serde_json::from_str(&id.to_string()).unwrap();
    }
    if let Some(result) = message.get_mut("result").and_then(Value::as_object_mut) {
        for (name, value) in *defaults {
            result.entry(*name).or_insert_with(|| serde_json::from_str(value).unwrap());
        }
    }
    message
}

fn guarded() -> Arc<Server> {
    Arc::new(testing::server(Settings::default()))
}

impl Pipe {
    fn new() -> Self {
        Self::over(guarded(), Users::One)
    }

    fn over(server: Arc<Server>, users: Users) -> Self {
        Self { bridge: Bridge::new(server, users), now: testing::now() }
    }

    fn seen(&mut self) -> Vec<Seen> {
        std::iter::from_fn(|| self.bridge.poll())
            .map(|output| match output {
                Output::Server(message) => {
                    let text = message.into_rope().unwrap().joined();
                    Seen::Server(serde_json::from_slice(&text).unwrap())
                }
                Output::Client(translated) => Seen::Client(told(&translated)),
                Output::ToolsChanged => Seen::ToolsChanged,
            })
            .collect()
    }

    /// What comes of a message of the client.
    fn client(&mut self, message: &Value) -> Vec<Seen> {
        for frame in frames(&message.to_string()) {
            self.bridge.on_client(frame.into(), self.now);
        }
        self.seen()
    }

    /// What comes of a message of the server.
    fn server(&mut self, message: &Value) -> Vec<Seen> {
        for frame in frames(&message.to_string()) {
            self.bridge.on_server(frame, self.now);
        }
        self.seen()
    }

    /// What comes of time that passes.
    fn wait(&mut self, time: Duration) -> Vec<Seen> {
        self.now += time;
        if self.bridge.next_timeout().is_some_and(|at| at <= self.now) {
            self.bridge.on_timeout(self.now);
        }
        self.seen()
    }

    /// A legacy client in front of a modern server, both past the handshake.
    fn legacy(capabilities: &Value) -> Self {
        let mut pipe = Self::new();
        let hello = initialize(capabilities);
        assert_eq!(pipe.client(&hello), [Seen::Server(hello.clone())]);
        let probe = only_server(pipe.server(&refuse(&json!(0), -32022)));
        assert_eq!(probe["method"], "server/discover");
        assert_eq!(probe["params"]["_meta"][meta::CAPABILITIES], *capabilities);
        let answer = only_client(pipe.server(&reply(&probe["id"], discovered())));
        assert_eq!(answer["result"]["protocolVersion"], "2025-06-18");
        assert_eq!(answer["result"]["serverInfo"]["name"], "s");
        let listen = only_server(pipe.client(&notification("initialized", &json!({}))));
        assert_eq!(listen["method"], "subscriptions/listen");
        assert_eq!(listen["params"]["notifications"], json!({ "toolsListChanged": true }));
        pipe
    }

    /// A modern client in front of a legacy server, both past the handshake.
    fn modern(capabilities: &Value) -> Self {
        let mut pipe = Self::new();
        pipe.shake_hands(capabilities);
        pipe
    }

    fn shake_hands(&mut self, capabilities: &Value) {
        let hello = modern(0, "server/discover", json!({}), capabilities);
        assert_eq!(self.client(&hello), [Seen::Server(hello.clone())]);
        let probe = only_server(self.server(&refuse(&json!(0), -32601)));
        assert_eq!(probe["method"], "initialize");
        let told = self.server(&reply(&probe["id"], initialized()));
        let [Seen::Server(ready), Seen::Client(answer)] = &told[..] else { panic!("{told:?}") };
        assert_eq!(ready["method"], "notifications/initialized");
        assert_eq!(answer["result"]["supportedVersions"], json!(["2026-07-28"]));
        assert_eq!(answer["result"]["_meta"][meta::SERVER_INFO]["name"], "s");
    }
}

#[track_caller]
fn only_server(mut seen: Vec<Seen>) -> Value {
    match (seen.pop(), &seen[..]) {
        (Some(Seen::Server(message)), []) => message,
        other => panic!("{other:?}"),
    }
}

#[track_caller]
fn only_client(mut seen: Vec<Seen>) -> Value {
    match (seen.pop(), &seen[..]) {
        (Some(Seen::Client(message)), []) => message,
        other => panic!("{other:?}"),
    }
}

fn initialize(capabilities: &Value) -> Value {
    let params = json!({ "protocolVersion": "2025-06-18", "capabilities": capabilities,
        "clientInfo": { "name": "c", "version": "1" } });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params })
}

fn discovered() -> Value {
    json!({ "resultType": "complete", "supportedVersions": ["2026-07-28"], "ttlMs": 0, "cacheScope": "private",
        "capabilities": { "tools": { "listChanged": true }, "resources": { "subscribe": true }, "logging": {} },
        "_meta": { meta::SERVER_INFO: { "name": "s", "version": "2" } } })
}

fn initialized() -> Value {
    json!({ "protocolVersion": "2025-11-25", "serverInfo": { "name": "s", "version": "2" },
        "capabilities": { "tools": { "listChanged": true }, "resources": { "subscribe": true }, "logging": {} } })
}

fn modern(id: u64, method: &str, mut params: Value, capabilities: &Value) -> Value {
    params["_meta"] = json!({ meta::VERSION: "2026-07-28", meta::CAPABILITIES: capabilities,
        meta::CLIENT_INFO: { "name": "c", "version": "1" } });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

#[expect(clippy::needless_pass_by_value, reason = "values are written in place")]
fn legacy(id: u64, method: &str, params: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

#[expect(clippy::needless_pass_by_value, reason = "values are written in place")]
fn reply(id: &Value, result: Value) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "result": result })
}

fn refuse(id: &Value, code: i64) -> Value {
    json!({ "jsonrpc": "2.0", "id": id, "error": { "code": code, "message": "x" } })
}

fn notification(method: &str, params: &Value) -> Value {
    json!({ "jsonrpc": "2.0", "method": format!("notifications/{method}"), "params": params })
}

fn cancel(id: u64) -> Value {
    notification("cancelled", &json!({ "requestId": id }))
}

/// A call of a legacy client, as a legacy server gets it.
fn call(id: u64) -> Value {
    legacy(id, "tools/call", json!({ "name": "a" }))
}

fn modern_call(id: u64, capabilities: &Value) -> Value {
    modern(id, "tools/call", json!({ "name": "a" }), capabilities)
}

/// What a legacy server asks during a call.
fn question(id: u64) -> Value {
    legacy(id, "elicitation/create", json!({ "message": "?", "requestedSchema": {} }))
}

/// A result for which a modern server asks for one input.
fn needs(method: &str) -> Value {
    json!({ "resultType": "input_required", "inputRequests": { "x": { "method": method, "params": {} } } })
}

#[test]
fn one_era_on_both_sides_changes_nothing() {
    let mut pipe = Pipe::new();
    let hello = initialize(&json!({}));
    assert_eq!(pipe.client(&hello), [Seen::Server(hello.clone())]);
    let answer = reply(&json!(0), initialized());
    assert_eq!(pipe.server(&answer), [Seen::Client(answer.clone())]);
    assert!(pipe.bridge.is_transparent());

    let mut pipe = Pipe::new();
    let hello = modern(0, "server/discover", json!({}), &json!({}));
    assert_eq!(pipe.client(&hello), [Seen::Server(hello.clone())]);
    let answer = reply(&json!(0), discovered());
    assert_eq!(pipe.server(&answer), [Seen::Client(answer.clone())]);
    assert!(pipe.bridge.is_transparent());
}

#[test]
fn a_modern_call_waits_until_the_era_of_the_server_is_known() {
    let mut pipe = Pipe::new();
    let sent = modern_call(1, &json!({}));
    let probe = only_server(pipe.client(&sent));
    assert_eq!(probe["method"], "server/discover");
    assert_eq!(pipe.server(&reply(&probe["id"], discovered())), [Seen::Server(sent.clone())]);
    assert!(pipe.bridge.is_transparent());

    let mut pipe = Pipe::new();
    let probe = only_server(pipe.client(&sent));
    let hello = only_server(pipe.server(&refuse(&probe["id"], -32602)));
    let told = pipe.server(&reply(&hello["id"], initialized()));
    let [Seen::Server(_), Seen::Server(sent)] = &told[..] else { panic!("{told:?}") };
    assert_eq!(*sent, call(1));
}

#[test]
fn a_silent_server_is_asked_in_the_other_era_too() {
    let mut pipe = Pipe::new();
    pipe.client(&modern(0, "server/discover", json!({}), &json!({})));
    let [list, hello] = asked_in_silence(&mut pipe);
    // It was only slow, and answers the other questions, too.
    let answer = reply(&json!(0), discovered());
    assert_eq!(pipe.server(&answer), [Seen::Client(answer.clone())]);
    assert_eq!(pipe.server(&reply(&list["id"], json!({ "tools": [] }))), []);
    assert_eq!(pipe.server(&refuse(&hello["id"], -32022)), []);
    assert!(pipe.bridge.is_transparent());
}

/// What the bridge asks the silent server of a modern client: first what a server of both eras goes by.
fn asked_in_silence(pipe: &mut Pipe) -> [Value; 2] {
    let asked = pipe.wait(SILENCE);
    let [Seen::Server(list), Seen::Server(hello)] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!((&list["method"], &hello["method"]), (&json!("tools/list"), &json!("initialize")));
    assert_eq!(list["params"]["_meta"][meta::VERSION], "2026-07-28");
    [list.clone(), hello.clone()]
}

#[test]
fn a_server_that_ignores_what_it_does_not_know_is_legacy() {
    let server = guarded();
    let mut pipe = Pipe::over(Arc::clone(&server), Users::One);
    pipe.client(&modern(1, "tools/call", json!({ "name": "a" }), &json!({})));
    let [list, hello] = asked_in_silence(&mut pipe);
    assert_eq!(pipe.server(&reply(&list["id"], json!({ "tools": [] }))), []);
    let told = pipe.server(&reply(&hello["id"], initialized()));
    let [Seen::Server(_), Seen::Server(sent)] = &told[..] else { panic!("{told:?}") };
    assert_eq!(*sent, legacy(1, "tools/call", json!({ "name": "a" })));
    assert!(server.eras().is_legacy_only());
}

#[test]
fn a_modern_server_that_ignores_server_discover_gets_what_the_client_sends() {
    let call = modern(1, "tools/call", json!({ "name": "a" }), &json!({}));
    let told = |answer: &dyn Fn(&Value, &Value) -> Value| {
        let mut pipe = Pipe::new();
        pipe.client(&call);
        let [list, hello] = asked_in_silence(&mut pipe);
        let mut told = pipe.server(&answer(&list, &hello));
        told.extend(pipe.wait(SILENCE));
        told
    };
    let listed = json!({ "tools": [], "resultType": "complete" });
    let expected = [Seen::Server(call.clone())];
    assert_eq!(told(&|list, _| reply(&list["id"], listed.clone())), expected);
    assert_eq!(told(&|_, hello| refuse(&hello["id"], -32022)), expected);
    assert_eq!(told(&|_, hello| refuse(&hello["id"], -32601)), expected);
}

#[test]
fn the_silent_server_of_a_legacy_client_is_not_asked_anything() {
    let mut pipe = Pipe::new();
    pipe.client(&initialize(&json!({})));
    let list = legacy(1, "tools/list", json!({}));
    assert_eq!(pipe.client(&list), []);
    // It may be that it never answers `initialize`.
    assert_eq!(pipe.wait(PATIENCE), [Seen::Server(list)]);
    assert_eq!(pipe.wait(100 * PATIENCE), []);
    assert!(!pipe.bridge.wants_restart());
    let answer = reply(&json!(0), initialized());
    assert_eq!(pipe.server(&answer), [Seen::Client(answer.clone())]);
    assert!(pipe.bridge.is_transparent());
}

#[test]
fn a_server_that_ends_at_server_discover_is_asked_with_initialize_alone() {
    let mut pipe = Pipe::new();
    let discover = modern(0, "server/discover", json!({}), &json!({}));
    pipe.client(&discover);
    assert!(pipe.bridge.wants_restart());
    pipe.bridge.on_restart(pipe.now);
    let hello = only_server(pipe.seen());
    assert_eq!(hello["method"], "initialize");
    assert_eq!(pipe.wait(100 * PATIENCE), []);
    // It is a modern one that had broken down: it gets what it has not answered.
    assert_eq!(pipe.server(&refuse(&hello["id"], -32022)), [Seen::Server(discover)]);
}

#[test]
fn a_number_that_comes_back_as_a_string_is_the_id_of_its_request() {
    let text = |id: u64| json!(id.to_string());
    let mut pipe = Pipe::new();
    pipe.client(&initialize(&json!({})));
    pipe.server(&reply(&text(0), initialized()));
    assert!(pipe.bridge.is_transparent());

    let mut pipe = Pipe::modern(&json!({}));
    pipe.client(&modern(1, "tools/list", json!({}), &json!({})));
    let answer = only_client(pipe.server(&reply(&text(1), json!({ "tools": [] }))));
    assert_eq!(answer["id"], 1);

    let mut pipe = Pipe::legacy(&json!({}));
    pipe.client(&legacy(1, "tools/list", json!({})));
    let answer = only_client(pipe.server(&reply(&text(1), json!({ "tools": [] }))));
    assert_eq!(answer["id"], 1);
    // Of two that fit, it is the one with this very id.
    pipe.client(&legacy(2, "tools/list", json!({})));
    let mut other = legacy(2, "tools/list", json!({}));
    other["id"] = text(2);
    pipe.client(&other);
    for id in [text(2), json!(2)] {
        let answer = only_client(pipe.server(&reply(&text(2), json!({ "tools": [] }))));
        assert_eq!(answer["id"], id);
    }
}

#[test]
fn a_version_that_a_server_does_not_know_tells_nothing_about_its_era() {
    let found = |version: &str, refusal: Value| {
        let server = guarded();
        server.eras().set_legacy();
        let mut pipe = Pipe::over(Arc::clone(&server), Users::One);
        let mut hello = initialize(&json!({}));
        hello["params"]["protocolVersion"] = json!(version);
        pipe.client(&hello);
        let mut answer = refuse(&json!(0), -32022);
        answer["error"]["data"] = refusal;
        let probe = only_server(pipe.server(&answer));
        // The client is served all the same.
        let answer = only_client(pipe.server(&reply(&probe["id"], discovered())));
        assert!(answer["result"].is_object(), "{answer}");
        (server.eras().is_legacy(), server.eras().is_modern_only())
    };
    let both = json!({ "supported": ["2026-07-28", "2025-11-25"] });
    assert_eq!(found("1900-01-01", both), (true, false));
    assert_eq!(found("1900-01-01", json!(null)), (true, false));
    assert_eq!(found("2026-07-28", json!({ "supported": ["2026-07-28"] })), (false, true));
    assert_eq!(found("2025-06-18", json!(null)), (false, true));
}

#[test]
fn a_refusal_of_a_client_tells_nothing_about_the_era_of_the_server() {
    let server = guarded();
    server.eras().set_legacy_only();
    let mut pipe = Pipe::over(Arc::clone(&server), Users::Many);
    let list = |id| modern(id, "tools/list", json!({}), &json!({}));
    let hello = only_server(pipe.client(&list(1)));
    assert_eq!(pipe.client(&list(2)), []);
    let mut refusal = refuse(&hello["id"], -32603);
    refusal["error"][format!("{HTTP_REFUSAL}1")] = json!([401, []]);
    let told = pipe.server(&refusal);
    let [Seen::Client(one), Seen::Client(two)] = &told[..] else { panic!("{told:?}") };
    assert_eq!((&one["id"], &two["id"]), (&json!(1), &json!(2)));
    assert_eq!((&one["error"], &two["error"]), (&refusal["error"], &refusal["error"]));
    assert!(server.eras().is_legacy_only());
    let again = only_server(pipe.client(&list(3)));
    assert_eq!(again["method"], "initialize");
}

#[test]
fn a_legacy_client_that_does_not_wait_has_its_messages_wait() {
    let mut pipe = Pipe::new();
    let hello = initialize(&json!({}));
    assert_eq!(pipe.client(&hello), [Seen::Server(hello.clone())]);
    assert_eq!(pipe.client(&call(1)), []);
    let probe = only_server(pipe.server(&refuse(&hello["id"], -32022)));
    let told = pipe.server(&reply(&probe["id"], discovered()));
    let [Seen::Client(_), Seen::Server(sent)] = &told[..] else { panic!("{told:?}") };
    assert!(sent["params"]["_meta"].is_object(), "{sent}");
}

#[test]
fn what_a_client_writes_wrong_says_nothing_about_the_era_of_the_server() {
    let server = guarded();
    let mut pipe = Pipe::over(Arc::clone(&server), Users::One);
    let mut hello = initialize(&json!({}));
    hello["params"] = json!({});
    pipe.client(&hello);
    let refusal = refuse(&hello["id"], -32602);
    assert_eq!(pipe.server(&refusal), [Seen::Client(refusal.clone())]);
    assert!(!server.eras().is_modern_only());

    let mut pipe = Pipe::over(server, Users::One);
    let mut discover = modern(0, "server/discover", json!({}), &json!({}));
    discover["params"]["_meta"]["io.modelcontextprotocol/logLevel"] = json!(5);
    let probe = only_server(pipe.client(&discover));
    assert_ne!(probe["id"], discover["id"]);
    let told = pipe.server(&reply(&probe["id"], discovered()));
    assert_eq!(told, [Seen::Server(discover)]);
}

#[test]
fn a_broken_answer_after_a_question_is_an_error_for_the_client() {
    let capabilities = json!({ "elicitation": {} });
    let mut pipe = Pipe::modern(&capabilities);
    pipe.client(&modern_call(1, &capabilities));
    let asked = only_client(pipe.server(&question(7)));
    let key = asked["result"]["inputRequests"].as_object().unwrap().keys().next().unwrap().clone();
    let mut retry = modern_call(2, &capabilities);
    retry["params"]["requestState"] = asked["result"]["requestState"].clone();
    retry["params"]["inputResponses"] = json!({ key: { "action": "decline" } });
    pipe.client(&retry);
    let answer = only_client(pipe.server(&json!({ "jsonrpc": "2.0", "id": 1 })));
    assert_eq!((&answer["id"], &answer["error"]["code"]), (&json!(2), &json!(-32603)));
}

#[test]
fn an_id_is_free_after_its_request_was_answered_with_a_question() {
    let capabilities = json!({ "elicitation": {} });
    let mut pipe = Pipe::modern(&capabilities);
    pipe.client(&modern_call(1, &capabilities));
    only_client(pipe.server(&question(7)));
    let again = only_server(pipe.client(&modern(1, "tools/list", json!({}), &json!({}))));
    let answer = only_client(pipe.server(&reply(&again["id"], json!({ "tools": [] }))));
    assert_eq!(answer["id"], 1);
}

#[test]
fn a_client_that_closed_its_input_is_not_asked_any_more() {
    let mut pipe = Pipe::legacy(&json!({ "elicitation": {} }));
    let sent = only_server(pipe.client(&call(1)));
    only_client(pipe.server(&reply(&sent["id"], needs("elicitation/create"))));
    pipe.bridge.on_client_end();
    let seen = pipe.seen();
    assert!(
        matches!(&seen[..], [Seen::Client(_), Seen::Client(answer)] if answer["error"].is_object()),
        "{seen:?}"
    );
}

#[test]
fn a_wrong_guess_about_the_era_is_mended() {
    let server = guarded();
    server.eras().set_modern_only();
    let mut pipe = Pipe::over(Arc::clone(&server), Users::One);
    let hello = initialize(&json!({}));
    let probe = only_server(pipe.client(&hello));
    assert_eq!(probe["method"], "server/discover");
    assert_eq!(pipe.server(&refuse(&probe["id"], -32601)), [Seen::Server(hello)]);
    assert!(!server.eras().is_modern_only());
}

#[test]
fn a_server_of_neither_era_answers_for_itself() {
    let mut pipe = Pipe::new();
    pipe.client(&initialize(&json!({})));
    let own = refuse(&json!(0), 1);
    let probe = only_server(pipe.server(&own));
    assert_eq!(pipe.server(&refuse(&probe["id"], 2)), [Seen::Client(own)]);
}

#[test]
fn a_legacy_client_gets_input_requests_as_requests() {
    let capabilities = json!({ "elicitation": {}, "sampling": {} });
    let mut pipe = Pipe::legacy(&capabilities);
    let params = json!({ "name": "a", "arguments": { "n": 1.0 }, "_meta": { "progressToken": 7 } });
    let sent = only_server(pipe.client(&legacy(1, "tools/call", params)));
    assert_eq!(sent["params"]["_meta"][meta::VERSION], "2026-07-28");
    assert_eq!(sent["params"]["_meta"]["progressToken"], 7);
    let needed = json!({ "resultType": "input_required", "requestState": "s\u{e9}\n",
        "inputRequests": {
            "x": { "method": "elicitation/create", "params": { "message": "?", "requestedSchema": {} } },
            "y": { "method": "sampling/createMessage", "params": { "messages": [] } } } });
    let asked = pipe.server(&reply(&json!(1), needed));
    let [Seen::Client(x), Seen::Client(y)] = &asked[..] else { panic!("{asked:?}") };
    assert_eq!([&x["method"], &y["method"]], ["elicitation/create", "sampling/createMessage"]);
    assert!(pipe.client(&reply(&y["id"], json!({ "model": "m" }))).is_empty());
    // An answer counts once.
    assert!(pipe.client(&reply(&y["id"], json!({ "model": "other" }))).is_empty());
    let again = only_server(pipe.client(&reply(&x["id"], json!({ "action": "accept" }))));
    assert_eq!(again["params"]["arguments"], json!({ "n": 1.0 }));
    assert_eq!(again["params"]["requestState"], "s\u{e9}\n");
    let answers = json!({ "x": { "action": "accept" }, "y": { "model": "m" } });
    assert_eq!(again["params"]["inputResponses"], answers);
    assert_ne!(again["id"], 1);
    let done = json!({ "resultType": "complete", "content": [] });
    let answer = only_client(pipe.server(&reply(&again["id"], done.clone())));
    assert_eq!(answer, reply(&json!(1), done));
}

#[test]
fn a_legacy_client_is_not_asked_for_what_it_did_not_declare() {
    let mut pipe = Pipe::legacy(&json!({ "sampling": {} }));
    pipe.client(&call(1));
    let refusal = only_client(pipe.server(&reply(&json!(1), needs("elicitation/create"))));
    let text = "the server needs `elicitation/create`, and the client did not declare the capability `elicitation`";
    assert_eq!(refusal["error"]["message"], text);
}

#[test]
fn a_legacy_client_that_never_answers_is_not_waited_for_forever() {
    let mut pipe = Pipe::legacy(&json!({ "roots": {} }));
    pipe.client(&call(1));
    let question = only_client(pipe.server(&reply(&json!(1), needs("roots/list"))));
    assert!(pipe.wait(INPUT_TIMEOUT / 2).is_empty());
    let late = pipe.wait(INPUT_TIMEOUT / 2);
    let [Seen::Client(cancelled), Seen::Client(refusal)] = &late[..] else { panic!("{late:?}") };
    assert_eq!(cancelled["params"]["requestId"], question["id"]);
    assert_eq!(refusal["id"], 1);
    assert!(pipe.client(&reply(&question["id"], json!({ "roots": [] }))).is_empty());
}

#[test]
fn rounds_and_waiting_requests_are_bounded() {
    let mut pipe = Pipe::legacy(&json!({ "roots": {} }));
    let mut id =
        only_server(pipe.client(&legacy(1, "prompts/get", json!({ "name": "a" }))))["id"].clone();
    let state = json!({ "resultType": "input_required", "requestState": "s" });
    for _ in 0..MAX_ROUNDS {
        id = only_server(pipe.server(&reply(&id, state.clone())))["id"].clone();
    }
    let refusal = only_client(pipe.server(&reply(&id, state)));
    assert_eq!(refusal["error"]["message"], "the server asked for input 32 times");

    let mut asks = |id: u64| {
        pipe.client(&call(id));
        only_client(pipe.server(&reply(&json!(id), needs("roots/list"))))
    };
    for id in 2..2 + MAX_WAITING as u64 {
        assert_eq!(asks(id)["method"], "roots/list");
    }
    let refusal = asks(9999);
    assert_eq!(refusal["error"]["message"], "1024 requests wait for input already");
}

#[test]
fn a_legacy_client_cancels_what_waits_for_its_input() {
    let mut pipe = Pipe::legacy(&json!({ "roots": {} }));
    pipe.client(&call(1));
    let question = only_client(pipe.server(&reply(&json!(1), needs("roots/list"))));
    let told = only_client(pipe.client(&cancel(1)));
    assert_eq!(told["params"]["requestId"], question["id"]);

    pipe.client(&call(2));
    let state = json!({ "resultType": "input_required", "requestState": "s" });
    let again = only_server(pipe.server(&reply(&json!(2), state)));
    let told = only_server(pipe.client(&cancel(2)));
    assert_eq!(told["params"]["requestId"], again["id"]);
    assert!(pipe.server(&reply(&again["id"], json!({ "content": [] }))).is_empty());
}

#[test]
fn a_legacy_client_hears_of_changes() {
    let mut pipe = Pipe::legacy(&json!({}));
    for (id, method) in [(5, "ping"), (6, "logging/setLevel")] {
        let answer = only_client(pipe.client(&legacy(id, method, json!({ "level": "info" }))));
        assert_eq!(answer, reply(&json!(id), json!({})));
    }
    let sent = only_server(pipe.client(&legacy(7, "tools/list", json!({}))));
    assert_eq!(sent["params"]["_meta"][meta::LOG_LEVEL], "info");

    let subscribe = legacy(8, "resources/subscribe", json!({ "uri": "a:b" }));
    let listen = only_server(pipe.client(&subscribe));
    let wanted = json!({ "toolsListChanged": true, "resourceSubscriptions": ["a:b"] });
    assert_eq!(listen["params"]["notifications"], wanted);
    let about = json!({ meta::SUBSCRIPTION: listen["id"] });
    let told = json!({ "_meta": about, "notifications": wanted });
    let told = pipe.server(&notification("subscriptions/acknowledged", &told));
    let [Seen::Server(cancelled), Seen::Client(answer)] = &told[..] else { panic!("{told:?}") };
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(answer["id"], 8);
    let updated = json!({ "_meta": about, "uri": "a:b" });
    let told = only_client(pipe.server(&notification("resources/updated", &updated)));
    assert_eq!(told["params"], json!({ "uri": "a:b" }));
}

#[test]
fn a_modern_client_gets_requests_as_input_requests() {
    let capabilities = json!({ "elicitation": {} });
    let mut pipe = Pipe::modern(&capabilities);
    let call = |id: u64| {
        modern(id, "tools/call", json!({ "name": "a", "arguments": { "n": 1 } }), &capabilities)
    };
    let sent = only_server(pipe.client(&call(1)));
    assert_eq!(sent, legacy(1, "tools/call", json!({ "name": "a", "arguments": { "n": 1 } })));
    let asked = only_client(pipe.server(&question(70)));
    assert_eq!(
        (&asked["id"], asked["result"]["resultType"].as_str()),
        (&json!(1), Some("input_required"))
    );
    let inputs = asked["result"]["inputRequests"].as_object().unwrap();
    let (key, input) = inputs.iter().next().unwrap();
    let expected = question(70);
    assert_eq!(*input, json!({ "method": expected["method"], "params": expected["params"] }));
    let state = &asked["result"]["requestState"];
    let retry = |id: u64, state: &Value| {
        let mut retry = call(id);
        retry["params"]["requestState"] = state.clone();
        retry["params"]["inputResponses"] = json!({ key: { "action": "accept" } });
        retry
    };
    // Forged, altered, and of another request.
    let refusal =
        only_client(pipe.client(&retry(2, &json!("toolbond.0.00000000000000000000000000000000"))));
    assert_eq!(refusal["error"]["code"], -32602);
    let altered = state.as_str().unwrap().to_uppercase();
    assert_eq!(only_client(pipe.client(&retry(3, &json!(altered))))["error"]["code"], -32602);
    let mut foreign = retry(4, state);
    foreign["params"]["arguments"]["n"] = json!(2);
    let refusal = only_client(pipe.client(&foreign));
    assert_eq!(refusal["error"]["message"], "#/params/requestState: belongs to another request");

    let fed = only_server(pipe.client(&retry(5, state)));
    assert_eq!(fed, reply(&json!(70), json!({ "action": "accept" })));
    // Replayed.
    assert_eq!(only_client(pipe.client(&retry(6, state)))["error"]["code"], -32602);
    let done = only_client(pipe.server(&reply(&json!(1), json!({ "content": [] }))));
    assert_eq!(done, reply(&json!(5), json!({ "content": [], "resultType": "complete" })));
    assert!(!pipe.bridge.is_waiting());
}

#[test]
fn a_modern_client_is_not_asked_for_what_it_did_not_declare() {
    let mut pipe = Pipe::modern(&json!({ "elicitation": {} }));
    pipe.client(&modern_call(1, &json!({})));
    let refusal = only_server(pipe.server(&question(70)));
    assert_eq!((&refusal["id"], &refusal["error"]["code"]), (&json!(70), &json!(-32601)));
    let pong = only_server(pipe.server(&legacy(71, "ping", json!({}))));
    assert_eq!(pong, reply(&json!(71), json!({})));
}

#[test]
fn several_clients_of_one_pipe_are_not_asked() {
    let server = guarded();
    let mut pipe = Pipe::over(server, Users::Many);
    let capabilities = json!({ "elicitation": {} });
    pipe.shake_hands(&capabilities);
    pipe.client(&modern_call(1, &capabilities));
    let refusal = only_server(pipe.server(&question(70)));
    assert_eq!(refusal["error"]["code"], -32601);
}

#[test]
fn a_modern_client_that_never_comes_back_is_not_waited_for_forever() {
    let capabilities = json!({ "elicitation": {} });
    let mut pipe = Pipe::modern(&capabilities);
    pipe.client(&modern_call(1, &capabilities));
    pipe.server(&question(70));
    assert!(pipe.bridge.is_waiting());
    let late = pipe.wait(INPUT_TIMEOUT);
    let [Seen::Server(refusal), Seen::Server(cancelled)] = &late[..] else { panic!("{late:?}") };
    assert_eq!((&refusal["id"], &cancelled["params"]["requestId"]), (&json!(70), &json!(1)));
    assert!(!pipe.bridge.is_waiting());
}

#[test]
fn a_modern_client_subscribes_to_what_a_legacy_server_tells() {
    let mut pipe = Pipe::modern(&json!({}));
    let changed = notification("tools/list_changed", &json!({}));
    assert_eq!(pipe.server(&changed), [Seen::ToolsChanged]);
    let filter = json!({ "toolsListChanged": true, "promptsListChanged": true, "resourceSubscriptions": ["a:b"] });
    let listen = modern(9, "subscriptions/listen", json!({ "notifications": filter }), &json!({}));
    let subscribe = only_server(pipe.client(&listen));
    assert_eq!(subscribe["method"], "resources/subscribe");
    assert_eq!(subscribe["params"], json!({ "uri": "a:b" }));
    let told = only_client(pipe.server(&reply(&subscribe["id"], json!({}))));
    let expected = json!({ "toolsListChanged": true, "resourceSubscriptions": ["a:b"] });
    assert_eq!(told["params"]["notifications"], expected);
    let told = only_client(pipe.server(&changed));
    assert_eq!(told["params"]["_meta"][meta::SUBSCRIPTION], 9);
    assert_eq!(only_server(pipe.client(&cancel(9)))["method"], "resources/unsubscribe");
    assert_eq!(pipe.server(&changed), [Seen::ToolsChanged]);
}

#[test]
fn codes_versions_and_caching_are_those_of_the_modern_revision() {
    let mut pipe = Pipe::modern(&json!({}));
    pipe.client(&modern(1, "resources/read", json!({ "uri": "a:b" }), &json!({})));
    let refusal = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32002, "message": "no", "data": 1 } });
    let told = only_client(pipe.server(&refusal));
    assert_eq!(told["error"], json!({ "code": -32602, "message": "no", "data": 1 }));
    pipe.client(&modern(2, "tools/list", json!({}), &json!({})));
    let told = only_client(pipe.server(&reply(&json!(2), json!({ "tools": [] }))));
    let expected =
        json!({ "tools": [], "resultType": "complete", "ttlMs": 0, "cacheScope": "private" });
    assert_eq!(told["result"], expected);
    let mut unknown = modern(3, "tools/list", json!({}), &json!({}));
    unknown["params"]["_meta"][meta::VERSION] = json!("1900-01-01");
    let told = only_client(pipe.client(&unknown));
    let expected = json!({ "supported": ["2026-07-28"], "requested": "1900-01-01" });
    assert_eq!(told["error"]["data"], expected);
    for (message, code) in [
        (initialize(&json!({})), -32022),
        (modern(4, "ping", json!({}), &json!({})), -32601),
        (legacy(5, "tools/list", json!({})), -32602),
    ] {
        assert_eq!(only_client(pipe.client(&message))["error"]["code"], code, "{message}");
    }
}

#[test]
fn an_error_that_asks_for_a_url_becomes_an_input_request() {
    let capabilities = json!({ "elicitation": { "url": {} } });
    let mut pipe = Pipe::modern(&capabilities);
    pipe.client(&modern_call(1, &capabilities));
    let data = json!({ "elicitations": [{ "mode": "url", "elicitationId": "e", "url": "https://x", "message": "?" }] });
    let refusal = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32042, "message": "m", "data": data } });
    let asked = only_client(pipe.server(&refusal));
    let input = &asked["result"]["inputRequests"]["url-0"];
    assert_eq!(input["params"], json!({ "mode": "url", "url": "https://x", "message": "?" }));
    let mut retry = modern_call(2, &capabilities);
    retry["params"]["requestState"] = asked["result"]["requestState"].clone();
    retry["params"]["inputResponses"] = json!({ "url-0": { "action": "accept" } });
    let again = only_server(pipe.client(&retry));
    assert_eq!(again["method"], "tools/call");
    assert_eq!(again["params"], json!({ "name": "a" }));
    let done = only_client(pipe.server(&reply(&again["id"], json!({ "content": [] }))));
    assert_eq!(done["id"], 2);
}
