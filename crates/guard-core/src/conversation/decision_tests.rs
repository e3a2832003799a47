//! Decisions of the core, one at a time.

use std::sync::Arc;
use std::time::{Duration, Instant};

use bytestring::ByteString;
use serde_json::{Value, json};
use toolbond_contract::{Mode, Revision};

use super::pending::{MAX_PENDING, Pending, Purpose};
use super::{
    Action, AskId, Conversation, Destination, JobOutcome, LIST_PATIENCE, Link, Origin, StreamId,
    Told,
};
use crate::caller::Caller;
use crate::contract::budget::Budget;
use crate::message::{Id, Message, Text};
use crate::settings::{Deployment, Override, Settings};
use crate::testing;

/// A message that left, and to whom.
pub(super) type Seen = (&'static str, Value);

/// A conversation of one client, whose jobs are run at once.
pub(super) struct Talk {
    pub(super) conversation: Conversation,
    link: Link,
    stream: StreamId,
    caller: Caller,
    now: Instant,
    /// The last request of the guard itself.
    own: Value,
    ask: Option<AskId>,
}

impl Talk {
    pub(super) fn new(link: Link, settings: Settings) -> Self {
        let server = testing::server(settings);
        let conversation = Conversation::new(Arc::new(server), link, Revision::V2025_11_25);
        let (stream, now) = (StreamId::PIPE, testing::now());
        let caller = Caller::default();
        Self { conversation, link, stream, caller, now, own: Value::Null, ask: None }
    }

    /// What comes of a message of the client, which but on a pipe has a stream of its own.
    pub(super) fn client(&mut self, message: &Value) -> Vec<Seen> {
        if self.link != Link::Pipe {
            self.stream = StreamId::new();
        }
        let text = Text::from(message.to_string());
        let message = Message::read(&text).unwrap();
        let told = Told { caller: self.caller.clone(), ..Told::default() };
        self.conversation.on_client(self.stream, &message, &told, self.now);
        self.seen()
    }

    /// What comes of a message of the server.
    pub(super) fn server(&mut self, message: &Value) -> Vec<Seen> {
        let text = Text::from(message.to_string());
        let message = Message::read(&text).unwrap();
        let origin = match self.link {
            Link::Streams => Origin::Stream(self.stream),
            _ => Origin::Pipe,
        };
        self.conversation.on_server(origin, &message, self.now);
        self.seen()
    }

    /// What comes of the answer to the guard's own request: `tools`, or an error.
    pub(super) fn list(&mut self, tools: Option<&Value>) -> Vec<Seen> {
        match (self.ask, tools) {
            (Some(ask), Some(tools)) => {
                let result = ByteString::from(json!({ "tools": tools }).to_string());
                self.conversation.on_own_answer(ask, Some(result), self.now);
                self.seen()
            }
            (Some(ask), None) => {
                self.conversation.fail_fetch(ask, "no", self.now);
                self.seen()
            }
            (None, Some(tools)) => {
                self.server(&json!({ "id": self.own["id"], "result": { "tools": tools } }))
            }
            (None, None) => {
                let error = json!({ "code": 1, "message": "no" });
                self.server(&json!({ "id": self.own["id"], "error": error }))
            }
        }
    }

    pub(super) fn wait(&mut self, time: Duration) -> Vec<Seen> {
        self.now += time;
        self.conversation.on_timeout(self.now);
        self.seen()
    }

    fn seen(&mut self) -> Vec<Seen> {
        let mut seen = Vec::new();
        let read = |bytes: &[u8]| serde_json::from_slice::<Value>(bytes).unwrap();
        while let Some(action) = self.conversation.poll() {
            match action {
                Action::Judge(job) => {
                    let budget = Budget { fuel: None, memory: usize::MAX, is_inline: false };
                    let outcome = job.run(budget).unwrap_or(JobOutcome::Failed("no fuel"));
                    self.conversation.on_judged(job.id, outcome, self.now);
                }
                Action::Done(_) | Action::NoAnswer(_) => {}
                Action::SetHeaders { headers, .. } => {
                    let set = headers.into_iter().map(|header| json!([header.name, header.to]));
                    seen.push(("headers", set.collect()));
                }
                Action::Unlisted { .. } => seen.push(("unlisted", Value::Null)),
                Action::StopAsking(_) => seen.push(("stop", Value::Null)),
                Action::Ask { ask, bytes, .. } => {
                    self.ask = Some(ask);
                    seen.push(("list", read(&bytes)));
                }
                Action::Send { to: Destination::Server(_), message, .. } => {
                    let message = read(&message.into_rope().unwrap().joined());
                    let is_own = |id: &Value| {
                        Id::parse(&id.to_string()).is_some_and(|id| AskId::of_answer(&id).is_some())
                    };
                    if is_own(&message["params"]["requestId"]) {
                        seen.push(("stop", Value::Null));
                    } else if is_own(&message["id"]) {
                        self.own = message.clone();
                        seen.push(("list", message));
                    } else {
                        seen.push(("server", message));
                    }
                }
                Action::Send { message, .. } => {
                    seen.push(("client", read(&message.into_rope().unwrap().joined())));
                }
            }
        }
        seen
    }
}

fn call(id: u64, name: &str, arguments: &Value) -> Value {
    let params = json!({ "name": name, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
}

fn cancel(id: &Value) -> Value {
    json!({ "method": "notifications/cancelled", "params": { "requestId": id } })
}

fn tools() -> Value {
    let n = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    json!([{ "name": "t", "description": "T.", "inputSchema": n, "outputSchema": n }])
}

/// To whom messages left.
fn whom(seen: &[Seen]) -> Vec<&str> {
    seen.iter().map(|(whom, _)| *whom).collect()
}

/// The error that the client got, and nothing else happened.
#[track_caller]
fn only_error(seen: &[Seen]) -> &str {
    assert_eq!(whom(seen), ["client"], "{seen:?}");
    seen[0].1["error"]["message"].as_str().unwrap()
}

const LINKS: [Link; 4] = [Link::Pipe, Link::Session, Link::Shared, Link::Streams];

#[test]
fn a_call_without_a_contract_is_refused_where_a_list_is_required() {
    for link in LINKS {
        let settings = Settings { require_list: true, ..Settings::default() };
        let mut talk = Talk::new(link, settings);
        assert_eq!(whom(&talk.client(&call(1, "other", &json!({})))), ["list"]);
        let seen = talk.list(Some(&tools()));
        assert!(only_error(&seen).contains("the server does not list it"), "{link:?}");

        let changed = json!({ "method": "notifications/tools/list_changed" });
        talk.server(&changed);
        talk.client(&call(2, "t", &json!({})));
        let mut seen = talk.list(None);
        if link == Link::Streams {
            assert_eq!(seen.pop().unwrap().0, "unlisted");
        }
        assert!(only_error(&seen).contains("could not fetch the tool list"), "{link:?}");
    }
}

#[test]
fn the_header_with_the_name_follows_the_name_of_the_tool() {
    let mut tools = tools();
    tools[0]["name"] = "a/b".into();
    let settings = Settings { view_for: "gemini".parse().unwrap(), ..Settings::default() };
    let mut talk = Talk::new(Link::Streams, settings);
    talk.client(&call(1, "a_b", &json!({})));
    let seen = talk.list(Some(&tools));
    let header = json!([["Mcp-Name", "a/b"]]);
    assert_eq!(seen, [("headers", header), ("server", call(1, "a/b", &json!({})))]);
}

#[test]
fn a_call_is_restored_anew_for_the_list_that_it_is_rechecked_by() {
    let tool = |counts: &Value, required: &str| {
        let input = json!({ "type": "object", "required": [required],
            "properties": { "counts": counts, "x": { "type": "string", "description": "X." } } });
        json!([{ "name": "t", "description": "T.", "inputSchema": input }])
    };
    let item = json!({ "type": "object", "properties": { "key": { "type": "string", "description": "K." },
        "value": { "type": "integer", "description": "V." } } });
    let map = json!({ "type": "object", "description": "C.", "additionalProperties": { "type": "integer" } });
    let list = json!({ "type": "array", "description": "C.", "items": item });
    let settings = Settings {
        view_for: "gemini".parse().unwrap(),
        deployment: Deployment::Replica,
        ..Settings::default()
    };
    let mut talk = Talk::new(Link::Streams, settings);
    let arguments = json!({ "counts": [{ "key": "a", "value": 1 }] });
    talk.client(&call(1, "t", &arguments));
    assert_eq!(whom(&talk.list(Some(&tool(&map, "x")))), ["client"], "`x` is missing");
    talk.now += 2 * Duration::from_secs(1);
    assert_eq!(whom(&talk.client(&call(2, "t", &arguments))), ["list"]);
    assert_eq!(talk.list(Some(&tool(&list, "counts"))), [("server", call(2, "t", &arguments))]);
}

#[test]
fn a_call_without_an_id_is_not_sent() {
    for link in LINKS {
        let mut talk = Talk::new(link, Settings::default());
        for id in [None, Some(Value::Null), Some(json!([1]))] {
            let mut call = call(1, "t", &json!({ "n": 1 }));
            let members = call.as_object_mut().unwrap();
            members.remove("id");
            members.extend(id.map(|id| ("id".to_owned(), id)));
            let seen = talk.client(&call);
            assert!(only_error(&seen).contains("needs an `id`"), "{link:?} {call}");
        }
    }
}

#[test]
fn a_held_call_that_is_cancelled_is_not_sent() {
    for link in [Link::Pipe, Link::Session] {
        let mut talk = Talk::new(link, Settings::default());
        assert_eq!(whom(&talk.client(&call(1, "t", &json!({})))), ["list"]);
        // The server has not seen it, and so need not hear of it.
        assert_eq!(talk.client(&cancel(&json!(1))), []);
        assert_eq!(talk.list(Some(&tools())), [], "{link:?}");
        assert!(talk.conversation.is_idle());
    }
}

#[test]
fn a_client_cannot_cancel_requests_of_the_guard() {
    for link in [Link::Pipe, Link::Session] {
        let mut talk = Talk::new(link, Settings::default());
        talk.client(&call(1, "t", &json!({ "n": "x" })));
        let own = talk.own["id"].clone();
        assert_eq!(talk.client(&cancel(&own)), []);
        let seen = talk.list(Some(&tools()));
        assert_eq!(whom(&seen), ["client"], "{link:?}: {seen:?}");
        assert_eq!(seen[0].1["result"]["isError"], true);
    }
}

#[test]
fn an_answer_is_checked_in_whatever_form_its_id_is() {
    for link in [Link::Pipe, Link::Session, Link::Streams] {
        let settings = Settings { results: Mode::Enforce, ..Settings::default() };
        let mut talk = Talk::new(link, settings);
        talk.client(&call(9, "t", &json!({})));
        talk.list(Some(&tools()));
        let wrong = json!({ "content": [], "structuredContent": { "n": "x" } });
        for id in [json!("1"), json!(" 1.0 "), json!(1.0)] {
            talk.client(&call(1, "t", &json!({})));
            let seen = talk.server(&json!({ "id": id, "result": wrong }));
            assert_eq!(whom(&seen), ["client"], "{link:?} {id}");
            assert_eq!(seen[0].1["result"]["isError"], true, "{link:?} {id}");
        }
    }
}

#[test]
fn a_batch_leaves_without_the_parts_that_are_refused() {
    let mut talk = Talk::new(Link::Pipe, Settings::default());
    let (good, bad) = (call(1, "t", &json!({ "n": 1 })), call(2, "t", &json!({ "n": "x" })));
    let ping = json!({ "jsonrpc": "2.0", "id": 3, "method": "ping" });
    talk.client(&json!([good, bad, ping]));
    // Held until the list is there, and decided at once from then on.
    let refused = |seen: &[Seen]| (whom(seen) == ["client", "server"]).then(|| seen[1].1.clone());
    assert_eq!(refused(&talk.list(Some(&tools()))), Some(json!([good, ping])));
    let note = json!({ "jsonrpc": "2.0", "method": "notifications/a" });
    let bad = call(4, "t", &json!({ "n": "x" }));
    assert_eq!(refused(&talk.client(&json!([bad, note]))), Some(json!([note])));
}

#[test]
fn a_list_that_does_not_come_is_waited_for_once() {
    let settings = Settings::default();
    let patience = settings.list_timeout;
    let mut talk = Talk::new(Link::Pipe, settings);
    let call = |id| call(id, "t", &json!({}));
    assert_eq!(whom(&talk.client(&call(1))), ["list"]);
    assert_eq!(talk.client(&call(2)), []);
    assert_eq!(talk.wait(patience / 2), []);
    let seen = talk.wait(patience / 2);
    assert_eq!(seen[0].0, "stop");
    assert_eq!(seen[1..], [1, 2].map(|id| ("server", call(id))));
    // Whatever the server still says about it is not for the client.
    assert_eq!(talk.list(None), []);
    // Nor is it waited for at the next call, unless it changes, or a while has passed.
    assert_eq!(talk.client(&call(3)), [("server", call(3))]);
    talk.server(&json!({ "method": "notifications/tools/list_changed" }));
    assert_eq!(whom(&talk.client(&call(4))), ["list"]);
    assert_eq!(talk.wait(patience)[1..], [("server", call(4))]);
    talk.now += patience;
    assert_eq!(whom(&talk.client(&call(5))), ["list"]);
}

/// Settings that enforce one side or both.
fn enforcing() -> [Settings; 2] {
    let arguments = Settings { arguments: Mode::Enforce, ..Settings::default() };
    let results = Settings { results: Mode::Enforce, ..Settings::default() };
    [arguments, results]
}

#[test]
fn enforce_sends_no_call_whose_list_did_not_come() {
    for (link, settings) in LINKS.into_iter().flat_map(|link| enforcing().map(|it| (link, it))) {
        let patience = settings.list_timeout;
        let mut talk = Talk::new(link, settings);
        let call = |id| call(id, "t", &json!({ "n": "x" }));
        assert_eq!(whom(&talk.client(&call(1))), ["list"]);
        let refused = talk.wait(patience);
        assert!(!whom(&refused).contains(&"server"), "{link:?}: {refused:?}");
        assert!(whom(&refused).contains(&"client"), "{link:?}: {refused:?}");
        // Nor while it is not asked for again.
        let refused = talk.client(&call(2));
        assert!(!whom(&refused).contains(&"server"), "{link:?}: {refused:?}");
        talk.now += 2 * patience;
        assert_eq!(whom(&talk.client(&call(3))), ["list"], "{link:?}");
        let refused = talk.list(None);
        assert!(!whom(&refused).contains(&"server"), "{link:?}: {refused:?}");
    }
}

#[test]
fn an_answer_without_a_list_is_not_asked_for_again() {
    for link in LINKS {
        for (mode, whom_else) in [(Mode::Enforce, "client"), (Mode::Repair, "server")] {
            let settings = Settings { arguments: mode, ..Settings::default() };
            let mut talk = Talk::new(link, settings);
            assert_eq!(whom(&talk.client(&call(1, "t", &json!({})))), ["list"]);
            let seen = talk.list(Some(&json!("none")));
            assert_eq!(seen[0].0, whom_else, "{link:?}: {seen:?}");
            assert!(!whom(&seen).contains(&"list"), "{link:?}: {seen:?}");
        }
    }
}

#[test]
fn a_tool_that_is_off_needs_no_list() {
    let off =
        Override { arguments: Some(Mode::Off), results: Some(Mode::Off), ..Override::default() };
    let overrides = [("t".to_owned(), off)].into_iter().collect();
    let settings = Settings {
        arguments: Mode::Enforce,
        results: Mode::Enforce,
        overrides,
        ..Settings::default()
    };
    let mut talk = Talk::new(Link::Pipe, settings);
    talk.client(&call(1, "t", &json!({ "n": "x" })));
    assert_eq!(talk.list(None), [("server", call(1, "t", &json!({ "n": "x" })))]);
}

#[test]
fn a_client_cannot_take_the_id_of_a_request_of_the_guard() {
    for link in [Link::Pipe, Link::Session] {
        for settings in enforcing() {
            let mut talk = Talk::new(link, settings);
            for n in 0..100 {
                let id = format!("toolbond-guard/{n}");
                let ping = json!({ "jsonrpc": "2.0", "id": id, "method": "ping" });
                assert_eq!(talk.client(&ping), [("server", ping)]);
            }
            talk.client(&call(1, "t", &json!({ "n": "x" })));
            let own = talk.own["id"].as_str().unwrap().to_owned();
            // The client does not know it, and gets nothing for using it again.
            let seen = talk.client(&json!({ "jsonrpc": "2.0", "id": own, "method": "ping" }));
            assert_eq!(whom(&seen), ["list"]);
            let seen = talk.list(Some(&tools()));
            assert_eq!(whom(&seen), ["client"], "{link:?}: {seen:?}");
        }
    }
}

#[test]
fn as_many_open_requests_as_there_may_be_do_not_cost_the_guard_its_list() {
    for settings in enforcing() {
        let mut talk = Talk::new(Link::Pipe, settings);
        for n in 1..MAX_PENDING {
            let key = (StreamId::PIPE, Id::String(format!("toolbond-guard/{n}")));
            let open = Pending::new(StreamId::PIPE, Purpose::Other);
            talk.conversation.pending.insert(key, open).unwrap();
        }
        assert_eq!(whom(&talk.client(&call(1, "t", &json!({ "n": "x" })))), ["list"]);
        assert_eq!(whom(&talk.list(Some(&tools()))), ["client"]);
    }
}

/// A caller with this header.
fn caller(who: &str) -> Caller {
    let header = ("authorization".parse().unwrap(), who.parse().unwrap());
    Caller::new(&[header].into_iter().collect(), &"/mcp".parse().unwrap())
}

#[test]
fn a_list_is_requested_for_each_caller_and_fails_for_it_alone() {
    let settings = Settings { arguments: Mode::Enforce, ..Settings::default() };
    let mut talk = Talk::new(Link::Streams, settings);
    talk.caller = caller("bad");
    assert_eq!(whom(&talk.client(&call(1, "t", &json!({ "n": "x" })))), ["list"]);
    let bad = talk.ask.take();
    talk.caller = caller("good");
    assert_eq!(whom(&talk.client(&call(1, "t", &json!({ "n": "x" })))), ["list"]);
    let good = std::mem::replace(&mut talk.ask, bad);
    assert_eq!(whom(&talk.list(None)), ["client", "unlisted"]);
    talk.ask = good;
    let seen = talk.list(Some(&tools()));
    assert_eq!(whom(&seen), ["client"]);
    assert_eq!(seen[0].1["result"]["isError"], true);
    // What one of them may see does not judge the other.
    talk.caller = caller("bad");
    assert_eq!(whom(&talk.client(&call(2, "t", &json!({ "n": 1 })))), ["list"]);
}

#[test]
fn a_list_ends_with_the_last_call_that_waits_for_it() {
    let mut talk = Talk::new(Link::Streams, Settings::default());
    talk.client(&call(1, "t", &json!({})));
    let first = talk.stream;
    assert_eq!(talk.client(&call(1, "t", &json!({}))), []);
    talk.conversation.close_stream(first, false, talk.now);
    assert_eq!(talk.seen(), []);
    talk.conversation.close_stream(talk.stream, false, talk.now);
    assert_eq!(whom(&talk.seen()), ["stop"]);
}

#[test]
fn a_list_goes_on_for_the_calls_that_still_wait() {
    let mut talk = Talk::new(Link::Streams, Settings::default());
    talk.client(&call(1, "t", &json!({})));
    let first = talk.stream;
    talk.client(&call(1, "t", &json!({})));
    talk.conversation.close_stream(first, false, talk.now);
    let page = ByteString::from(json!({ "tools": [], "nextCursor": "2" }).to_string());
    talk.conversation.on_own_answer(talk.ask.unwrap(), Some(page), talk.now);
    let actions: Vec<_> = std::iter::from_fn(|| talk.conversation.poll()).collect();
    let Some(Action::Judge(job)) = actions.into_iter().next() else { panic!() };
    let outcome = job.run(Budget { fuel: None, memory: usize::MAX, is_inline: false }).unwrap();
    talk.conversation.on_judged(job.id, outcome, talk.now);
    let Some(Action::Ask { stream, .. }) = talk.conversation.poll() else { panic!() };
    assert_eq!(stream, talk.stream);
}

#[test]
fn the_list_of_a_client_judges_no_other_client() {
    let says = |id: u64, name: &str, method: &str, mut params: Value| {
        params["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": name, "version": "1" } });
        json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
    };
    for (lister, params) in [("other", json!({})), ("own", json!({ "mode": "lax" }))] {
        for link in [Link::Pipe, Link::Streams] {
            let settings = Settings { arguments: Mode::Enforce, ..Settings::default() };
            let mut talk = Talk::new(link, settings);
            let asked = talk.client(&says(1, lister, "tools/list", params.clone()));
            assert_eq!(whom(&asked), ["server"]);
            let lax = json!([{ "name": "t", "inputSchema": { "type": "object" } }]);
            talk.server(&json!({ "id": 1, "result": { "tools": lax } }));
            let arguments = json!({ "name": "t", "arguments": { "n": "x" } });
            let seen = talk.client(&says(2, "own", "tools/call", arguments));
            assert_eq!(whom(&seen), ["list"], "{lister} {link:?}");
        }
    }
}

#[test]
fn an_id_that_is_used_again_after_a_cancellation_is_not_that_of_the_first_request() {
    for link in [Link::Pipe, Link::Session] {
        let mut talk = Talk::new(link, Settings::default());
        // The server may answer what was cancelled.
        talk.client(&call(1, "t", &json!({})));
        assert_eq!(whom(&talk.list(Some(&tools()))), ["server"]);
        talk.client(&cancel(&json!(1)));
        let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
        assert!(only_error(&talk.client(&ping)).contains("already in use"));
        let late = json!({ "jsonrpc": "2.0", "id": 1, "result": { "structuredContent": {} } });
        assert_eq!(talk.server(&late), []);
        assert_eq!(whom(&talk.client(&ping)), ["server"]);

        // What was held is gone.
        talk.server(&json!({ "method": "notifications/tools/list_changed" }));
        assert_eq!(whom(&talk.client(&call(2, "t", &json!({ "n": 1 })))), ["list"]);
        talk.client(&cancel(&json!(2)));
        talk.client(&call(2, "t", &json!({ "n": 2 })));
        let sent = talk.list(Some(&tools()));
        assert_eq!(sent, [("server", call(2, "t", &json!({ "n": 2 })))], "{link:?}");
    }
}

#[test]
fn an_id_is_used_once_at_a_time_in_a_session_though_each_request_has_a_stream() {
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    for has_session in [true, false] {
        let mut talk = Talk::new(Link::Streams, Settings::default());
        talk.conversation.has_session = has_session;
        talk.client(&call(1, "t", &json!({})));
        let first = talk.stream;
        talk.list(Some(&tools()));
        let seen = talk.client(&ping);
        // Without a session it may be that of another client.
        assert_eq!(whom(&seen), [if has_session { "client" } else { "server" }]);
        talk.conversation.close_stream(talk.stream, false, talk.now);
        talk.conversation.close_stream(first, true, talk.now);
        assert_eq!(whom(&talk.client(&ping)), ["server"]);
    }
}

#[test]
fn an_id_that_was_posted_to_an_endpoint_is_free_again_only_if_the_server_does_not_have_it() {
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let late = json!({ "jsonrpc": "2.0", "id": 1, "result": { "structuredContent": {} } });
    let mut talk = Talk::new(Link::Endpoint, Settings::default());
    talk.client(&call(1, "t", &json!({})));
    let first = talk.stream;
    assert_eq!(whom(&talk.list(Some(&tools()))), ["server"]);
    // What is refused does not end the request that has its id.
    assert!(only_error(&talk.client(&ping)).contains("already in use"));
    talk.conversation.forget_requests(talk.stream);
    talk.conversation.close_stream(talk.stream, false, talk.now);
    assert!(only_error(&talk.client(&ping)).contains("already in use"));
    // The client leaves, and the server may have the call.
    talk.conversation.close_stream(first, false, talk.now);
    assert!(only_error(&talk.client(&ping)).contains("already in use"));
    assert_eq!(talk.server(&late), []);

    assert_eq!(whom(&talk.client(&ping)), ["server"]);
    talk.conversation.forget_requests(talk.stream);
    assert_eq!(whom(&talk.client(&ping)), ["server"]);
    talk.conversation.accept_posted(talk.stream);
    talk.conversation.close_stream(talk.stream, false, talk.now);
    assert_eq!(whom(&talk.server(&json!({ "jsonrpc": "2.0", "id": 1, "result": {} }))), ["client"]);
}

#[test]
fn a_late_answer_in_a_session_is_not_that_of_another_request_with_the_id_of_its_call() {
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let late = json!({ "jsonrpc": "2.0", "id": 1, "result": { "structuredContent": {} } });
    let listened = |talk: &mut Talk, message: &Value| {
        let text = Text::from(message.to_string());
        let origin = Origin::Listening(StreamId::new());
        talk.conversation.on_server(origin, &Message::read(&text).unwrap(), talk.now);
        talk.seen()
    };
    // Whether the server has refused the call, and whether the guard has answered it.
    for (is_refused, is_failed) in [(false, false), (true, false), (false, true)] {
        let mut talk = Talk::new(Link::Streams, Settings::default());
        talk.conversation.has_session = true;
        talk.client(&call(1, "t", &json!({})));
        assert_eq!(whom(&talk.list(Some(&tools()))), ["server"]);
        if is_refused {
            talk.conversation.forget_requests(talk.stream);
        }
        if is_failed {
            talk.conversation.fail_stream(talk.stream, "no answer");
            only_error(&talk.seen());
        }
        talk.conversation.close_stream(talk.stream, false, talk.now);
        // Clients send a request again with the same id.
        assert_eq!(whom(&talk.client(&ping)), ["server"]);
        assert_eq!(listened(&mut talk, &late).is_empty(), !is_refused);
        if !is_refused {
            assert_eq!(whom(&talk.server(&late)), ["client"]);
            // Then it can only be that of the call, and the next one that of another request.
            assert_eq!(listened(&mut talk, &late), []);
            assert_eq!(whom(&talk.client(&ping)), ["server"]);
            assert_eq!(whom(&listened(&mut talk, &late)), ["client"]);
        }
    }
}

#[test]
fn a_request_with_a_long_id_is_refused() {
    let mut talk = Talk::new(Link::Pipe, Settings::default());
    let long = json!({ "jsonrpc": "2.0", "id": "x".repeat(2000), "method": "ping" });
    assert!(only_error(&talk.client(&long)).contains("at most 1024 bytes"));
}

#[test]
fn lists_wait_in_line_and_a_silent_one_makes_room() {
    for (mode, link) in [
        (Mode::Enforce, Link::Streams),
        (Mode::Enforce, Link::Shared),
        (Mode::Repair, Link::Shared),
    ] {
        let settings = Settings { arguments: mode, ..Settings::default() };
        let (patience, mut talk) = (settings.list_timeout, Talk::new(link, settings));
        for n in 0..8 {
            talk.caller = caller(&n.to_string());
            assert_eq!(whom(&talk.client(&call(1, "t", &json!({})))), ["list"]);
            talk.now += Duration::from_millis(1);
        }
        for further in ["a", "b"] {
            talk.caller = caller(further);
            assert_eq!(talk.client(&call(1, "t", &json!({}))), []);
        }
        // An answer makes room for the first in line.
        assert_eq!(whom(&talk.list(Some(&tools())))[1..], ["list"], "{link:?}");
        assert_eq!(talk.wait(LIST_PATIENCE / 2), []);
        // The list that was requested first fails, for its caller alone.
        talk.now = talk.conversation.next_timeout().unwrap();
        let seen = talk.wait(Duration::ZERO);
        let expected: &[&str] = match (mode, link) {
            (_, Link::Streams) => &["stop", "client", "unlisted", "list"],
            (Mode::Enforce, _) => &["stop", "client", "list"],
            _ => &["stop", "server", "list"],
        };
        assert_eq!(whom(&seen), expected, "{link:?}");
        // Nobody waits in line, so that nobody has to make room.
        assert_eq!(talk.wait(LIST_PATIENCE), []);
        assert!(talk.conversation.next_timeout().unwrap() > talk.now);
        // One that waits in line waits no longer than for its list.
        talk.caller = caller("late");
        talk.client(&call(1, "t", &json!({})));
        assert!(!talk.wait(patience).is_empty());
        assert_eq!(talk.conversation.next_timeout(), None);
    }
}

#[test]
fn a_list_ends_with_its_clients_on_every_link() {
    for link in [Link::Session, Link::Shared, Link::Streams] {
        let mut talk = Talk::new(link, Settings::default());
        let first = |talk: &mut Talk, n: usize| {
            talk.caller = caller(&n.to_string());
            talk.client(&call(n as u64, "t", &json!({})));
            talk.stream
        };
        let streams: Vec<_> = (0..9).map(|n| first(&mut talk, n)).collect();
        talk.conversation.close_stream(streams[0], false, talk.now);
        let seen = talk.seen();
        // The one in line comes next.
        assert_eq!(whom(&seen), ["stop", "list"], "{link:?}: {seen:?}");
        for stream in &streams[1..] {
            talk.conversation.close_stream(*stream, false, talk.now);
        }
        talk.seen();
        assert_eq!(talk.conversation.next_timeout(), None, "{link:?}");
    }
}

/// A conversation of two clients that share a process, with a call of each; the ids that the server sees.
fn shared(settings: Settings) -> (Talk, [StreamId; 2], [Value; 2]) {
    let mut talk = Talk::new(Link::Shared, settings);
    talk.client(&call(1, "t", &json!({})));
    let first = talk.stream;
    let one = talk.list(Some(&tools()))[0].1["id"].clone();
    let two = talk.client(&call(1, "t", &json!({})))[0].1["id"].clone();
    let streams = [first, talk.stream];
    (talk, streams, [one, two])
}

#[test]
fn a_client_that_leaves_takes_no_answer_of_another_along() {
    let (mut talk, [first, _], ids) = shared(Settings::default());
    let pad = "x".repeat(100_000);
    let result = json!({ "content": [], "structuredContent": { "pad": pad } });
    let batch = ids.map(|id| json!({ "jsonrpc": "2.0", "id": id, "result": result }));
    let text = Text::from(json!(batch).to_string());
    talk.conversation.on_server(Origin::Pipe, &Message::read(&text).unwrap(), talk.now);
    // Both are checked in jobs; the client of the first one leaves.
    talk.conversation.close_stream(first, false, talk.now);
    let seen = talk.seen();
    assert_eq!(whom(&seen), ["client"], "{:?}", whom(&seen));
}

#[test]
fn a_broken_line_of_a_shared_process_fails_no_ones_call() {
    let (mut talk, _, [one, _]) = shared(Settings::default());
    let broken = Text::from("{\"jsonrpc\":\"2.0\",\"result\":{");
    let unreadable = Message::read(&broken).map(drop).unwrap_err();
    talk.conversation.on_unreadable_server(Origin::Pipe, &unreadable, talk.now);
    assert_eq!(talk.seen(), []);
    // It can only be the answer to the last one.
    talk.server(&json!({ "id": one, "result": { "content": [], "structuredContent": {} } }));
    talk.conversation.on_unreadable_server(Origin::Pipe, &unreadable, talk.now);
    assert_eq!(whom(&talk.seen()), ["client"]);
}

#[test]
fn the_handshake_of_one_client_does_not_change_the_revision_of_another() {
    let mut talk = Talk::new(Link::Streams, Settings::default());
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize", "params": {} });
    talk.client(&hello);
    talk.server(&json!({ "id": 1, "result": { "protocolVersion": "2026-07-28" } }));
    assert_eq!(talk.conversation.negotiated, Revision::V2025_11_25);
}
