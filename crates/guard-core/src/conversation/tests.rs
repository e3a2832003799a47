//! The core under shuffled messages, answers, cancellations, list changes and finished jobs.

use std::collections::{BTreeMap, BTreeSet, HashSet};
use std::sync::Arc;
use std::time::{Duration, Instant};

use bytestring::ByteString;
use proptest::prelude::*;
use serde_json::{Value, json};
use toolbond_contract::{Mode, Revision};
use toolbond_targets::ViewFor;

use super::{Action, Conversation, Destination, Job, JobOutcome, Link, Origin, StreamId, Told};
use crate::contract::budget::Budget;
use crate::message::{Message, Text};
use crate::settings::Settings;
use crate::testing;

const TOOLS: &str = r#"{"tools":[{"name":"t","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}},"outputSchema":{"type":"object","properties":{"n":{"type":"integer"}},"required":["n"]}}]}"#;

/// One step of a shuffled conversation.
#[derive(Clone, Debug)]
enum Step {
    /// A call, valid or not, small or too large for the I/O thread.
    Call { is_valid: bool, is_large: bool },
    /// A request that is not checked.
    Ping,
    /// The client gives up its nth request.
    Cancel(usize),
    /// The server answers its nth request, with a valid result or not, possibly under another id.
    Answer { nth: usize, is_valid: bool, is_large: bool },
    /// The server answers again, or what nobody asked.
    Stray(usize),
    /// The tool list changes.
    Change,
    /// The nth running job finishes.
    Finish(usize),
    /// So many milliseconds pass, never as long as a tool list may take.
    Wait(u64),
    /// A batch of two calls.
    Batch { is_valid: bool },
}

fn step() -> impl Strategy<Value = Step> {
    prop_oneof![
        4 => (any::<bool>(), any::<bool>())
            .prop_map(|(is_valid, is_large)| Step::Call { is_valid, is_large }),
        1 => Just(Step::Ping),
        1 => (0..8_usize).prop_map(Step::Cancel),
        4 => (0..8_usize, any::<bool>(), any::<bool>())
            .prop_map(|(nth, is_valid, is_large)| Step::Answer { nth, is_valid, is_large }),
        1 => (0..8_usize).prop_map(Step::Stray),
        1 => Just(Step::Change),
        4 => (0..4_usize).prop_map(Step::Finish),
        1 => (0..500_u64).prop_map(Step::Wait),
        1 => any::<bool>().prop_map(|is_valid| Step::Batch { is_valid }),
    ]
}

/// A request that the server has.
#[derive(Clone)]
struct AtServer {
    /// The id that the server sees, which a shared process does not share with the client.
    id: Value,
    stream: StreamId,
    /// Results of calls are checked; the answer to a ping may be anything.
    is_call: bool,
}

/// A conversation, and what came of it so far.
struct World {
    conversation: Conversation,
    link: Link,
    now: Instant,
    jobs: Vec<Job>,
    /// Requests that the server has not answered yet.
    at_server: Vec<AtServer>,
    /// The requests of the client by id, with what is expected of them.
    asked: BTreeMap<i64, StreamId>,
    answered: BTreeSet<i64>,
    cancelled: BTreeSet<i64>,
    /// Texts of the client that must arrive unchanged, if at all.
    sent: HashSet<String>,
    next: i64,
}

impl World {
    /// With a view, the tool has another form for clients; what they send suits both.
    fn new(link: Link, view_for: ViewFor) -> Self {
        let settings = Settings { results: Mode::Enforce, view_for, ..Settings::default() };
        let server = testing::server(settings);
        let conversation = Conversation::new(Arc::new(server), link, Revision::V2025_11_25);
        Self {
            conversation,
            link,
            now: testing::now(),
            jobs: Vec::new(),
            at_server: Vec::new(),
            asked: BTreeMap::new(),
            answered: BTreeSet::new(),
            cancelled: BTreeSet::new(),
            sent: HashSet::new(),
            next: 0,
        }
    }

    fn new_request(&mut self, params: Option<Value>) -> Value {
        self.next += 1;
        let mut request = json!({ "jsonrpc": "2.0", "id": self.next, "method": "ping" });
        if let Some(params) = params {
            request["method"] = "tools/call".into();
            request["params"] = params;
        }
        request
    }

    fn call(&mut self, is_valid: bool, is_large: bool) -> Value {
        let n = if is_valid { json!(1) } else { json!("INVALID-ARGUMENT") };
        let pad = if is_large { "x".repeat(70_000) } else { String::new() };
        self.new_request(Some(json!({ "name": "t", "arguments": { "n": n, "pad": pad } })))
    }

    fn client(&mut self, message: &Value) {
        let stream = if self.link == Link::Pipe { StreamId::PIPE } else { StreamId::new() };
        let requests = message.as_array().map_or(vec![message], |all| all.iter().collect());
        for request in requests {
            if let Some(id) = request["id"].as_i64() {
                self.asked.insert(id, stream);
            }
        }
        self.sent.insert(message.to_string());
        self.deliver(stream, message);
    }

    fn deliver(&mut self, stream: StreamId, message: &Value) {
        let text = Text::from(message.to_string());
        let message = Message::read(&text).unwrap();
        self.conversation.on_client(stream, &message, &Told::default(), self.now);
        self.drain();
    }

    fn server(&mut self, stream: StreamId, message: &Value) {
        let origin = match self.link {
            Link::Streams => Origin::Stream(stream),
            _ => Origin::Pipe,
        };
        let text = Text::from(message.to_string());
        let message = Message::read(&text).unwrap();
        self.conversation.on_server(origin, &message, self.now);
        self.drain();
    }

    /// Carries out the actions, and checks each.
    fn drain(&mut self) {
        while let Some(action) = self.conversation.poll() {
            match action {
                Action::Judge(job) => self.jobs.push(*job),
                Action::Done(_)
                | Action::NoAnswer(_)
                | Action::SetHeaders { .. }
                | Action::StopAsking(_)
                | Action::Unlisted { .. } => {}
                Action::Ask { ask, .. } => {
                    let result = Some(ByteString::from_static(TOOLS));
                    self.conversation.on_own_answer(ask, result, self.now);
                }
                Action::Send { to: Destination::Server(stream), message, .. } => {
                    self.reach_server(stream, &message.into_rope().unwrap().joined());
                }
                Action::Send { to, message, .. } => {
                    self.reach_client(to, &message.into_rope().unwrap().joined());
                }
            }
        }
    }

    fn reach_server(&mut self, stream: StreamId, bytes: &[u8]) {
        let text = std::str::from_utf8(bytes).unwrap();
        assert!(!text.contains("INVALID-ARGUMENT"), "unchecked: {text:.200}");
        let message: Value = serde_json::from_str(text).unwrap();
        let parts = message.as_array().cloned().unwrap_or_else(|| vec![message.clone()]);
        for part in parts {
            match part["method"].as_str() {
                Some("tools/list") => {
                    let result: Value = serde_json::from_str(TOOLS).unwrap();
                    let answer = json!({ "jsonrpc": "2.0", "id": part["id"], "result": result });
                    self.server(stream, &answer);
                }
                Some("notifications/cancelled") => {}
                _ => {
                    let again = self.at_server.iter().any(|open| open.id == part["id"]);
                    assert!(!again || self.link == Link::Streams, "sent twice: {part}");
                    if self.link == Link::Pipe && !message.is_array() {
                        assert!(self.sent.contains(text), "changed: {text:.200}");
                    }
                    let is_call = part["method"] == "tools/call";
                    self.at_server.push(AtServer { id: part["id"].clone(), stream, is_call });
                }
            }
        }
    }

    fn reach_client(&mut self, to: Destination, bytes: &[u8]) {
        let text = std::str::from_utf8(bytes).unwrap();
        assert!(!text.contains("INVALID-RESULT"), "unchecked: {text:.200}");
        let message: Value = serde_json::from_str(text).unwrap();
        let parts = message.as_array().cloned().unwrap_or_else(|| vec![message]);
        for part in parts.iter().filter(|part| part.get("method").is_none()) {
            let id = part["id"].as_i64().or_else(|| part["id"].as_str()?.parse().ok());
            let Some(id) = id else { continue };
            let stream = self.asked.get(&id).copied();
            assert!(stream.is_some(), "an answer to nobody: {part}");
            assert!(self.answered.insert(id), "answered twice: {part}");
            if let Destination::Answer(to) = to {
                assert_eq!(Some(to), stream, "to another client: {part}");
            }
        }
    }

    fn play(&mut self, step: &Step) {
        match step {
            Step::Call { is_valid, is_large } => {
                let call = self.call(*is_valid, *is_large);
                self.client(&call);
            }
            Step::Batch { is_valid } => {
                let batch = json!([self.call(*is_valid, false), self.call(true, false)]);
                self.client(&batch);
            }
            Step::Ping => {
                let ping = self.new_request(None);
                self.client(&ping);
            }
            Step::Cancel(nth) => {
                let Some(id) = self.asked.keys().copied().nth(*nth) else { return };
                self.cancelled.insert(id);
                if matches!(self.link, Link::Shared | Link::Streams) {
                    // There, a client gives up by leaving.
                    let stream = self.asked[&id];
                    self.asked.retain(|_, other| *other != stream);
                    self.conversation.close_stream(stream, false, self.now);
                    return self.drain();
                }
                let cancel = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
                    "params": { "requestId": id } });
                self.deliver(StreamId::PIPE, &cancel);
            }
            Step::Answer { nth, is_valid, is_large } => {
                if self.at_server.is_empty() {
                    return;
                }
                let at = nth % self.at_server.len();
                let AtServer { id, stream, is_call } = self.at_server.remove(at);
                let n = if *is_valid { json!(1) } else { json!("INVALID-RESULT") };
                let pad = if *is_large { "x".repeat(70_000) } else { String::new() };
                let content = json!({ "n": n, "p": pad });
                let result = match (is_valid, is_call) {
                    (true, _) => json!({ "content": [], "structuredContent": content }),
                    (false, true) => json!({ "structuredContent": content }),
                    (false, false) => json!({}),
                };
                let id = if nth % 3 == 0 && id.is_i64() { json!(id.to_string()) } else { id };
                self.server(stream, &json!({ "jsonrpc": "2.0", "id": id, "result": result }));
            }
            Step::Stray(nth) => {
                let stream = self.asked.values().copied().nth(*nth).unwrap_or(StreamId::PIPE);
                let answered: Vec<_> = self.answered.iter().copied().collect();
                let id = answered.get(*nth).copied().unwrap_or(-1);
                let is_open = match self.link {
                    Link::Streams => self.at_server.iter().any(|open| open.stream == stream),
                    _ => self.at_server.iter().any(|open| open.id == json!(id)),
                };
                if is_open {
                    return;
                }
                let result = json!({ "structuredContent": { "n": "INVALID-RESULT" } });
                self.server(stream, &json!({ "jsonrpc": "2.0", "id": id, "result": result }));
            }
            Step::Change => {
                let changed =
                    json!({ "jsonrpc": "2.0", "method": "notifications/tools/list_changed" });
                self.server(StreamId::PIPE, &changed);
            }
            Step::Finish(nth) => {
                if self.jobs.is_empty() {
                    return;
                }
                let job = self.jobs.remove(nth % self.jobs.len());
                self.finish(&job);
            }
            Step::Wait(milliseconds) => {
                self.now += Duration::from_millis(*milliseconds);
                self.conversation.on_timeout(self.now);
                self.drain();
            }
        }
    }

    fn finish(&mut self, job: &Job) {
        let outcome = job
            .run(Budget { fuel: None, memory: usize::MAX, is_inline: false })
            .unwrap_or(JobOutcome::Failed("no fuel"));
        self.conversation.on_judged(job.id, outcome, self.now);
        self.drain();
    }

    /// Lets everything come to its end: each request is answered, or was given up.
    fn settle(&mut self) {
        while !self.jobs.is_empty() || !self.at_server.is_empty() {
            while let Some(job) = self.jobs.pop() {
                self.finish(&job);
            }
            if let Some(AtServer { id, stream, .. }) = self.at_server.pop() {
                let result = json!({ "content": [], "structuredContent": { "n": 1 } });
                self.server(stream, &json!({ "jsonrpc": "2.0", "id": id, "result": result }));
            }
        }
        for id in self.asked.keys() {
            let is_over = self.answered.contains(id) || self.cancelled.contains(id);
            assert!(is_over, "request {id} was never answered");
        }
        assert!(self.conversation.holds_nothing());
    }
}

fn run(link: Link, steps: &[Step]) {
    let view_for = if steps.len().is_multiple_of(2) { "openai-strict" } else { "none" };
    let mut world = World::new(link, view_for.parse().unwrap());
    for step in steps {
        world.play(step);
    }
    world.settle();
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn on_a_pipe_each_request_is_checked_and_answered_once(steps in prop::collection::vec(step(), 1..40)) {
        run(Link::Pipe, &steps);
    }

    #[test]
    fn in_a_session_each_request_is_checked_and_answered_once(steps in prop::collection::vec(step(), 1..40)) {
        run(Link::Session, &steps);
    }

    #[test]
    fn at_a_shared_process_each_request_is_checked_and_answered_once(steps in prop::collection::vec(step(), 1..40)) {
        run(Link::Shared, &steps);
    }

    #[test]
    fn on_streams_each_request_is_checked_and_answered_once(steps in prop::collection::vec(step(), 1..40)) {
        run(Link::Streams, &steps);
    }
}

#[test]
fn a_server_that_does_not_answer_the_handshake_is_reported_less_and_less_often() {
    let (server, said) = testing::listened(Settings::default());
    let mut conversation = Conversation::new(Arc::new(server), Link::Pipe, Revision::V2025_11_25);
    let start = testing::now();
    let send = |conversation: &mut Conversation, text: &str| {
        let text = Text::from(text.to_owned());
        let message = Message::read(&text).unwrap();
        conversation.on_client(StreamId::PIPE, &message, &Told::default(), start);
    };
    send(&mut conversation, r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#);
    for (seconds, lines) in [(9, 0), (10, 1), (19, 1), (20, 2), (39, 2), (40, 3)] {
        conversation.on_timeout(start + Duration::from_secs(seconds));
        assert_eq!(said.lock().unwrap().len(), lines, "after {seconds} s");
    }
    assert_eq!(
        said.lock().unwrap()[1],
        "warning: server: has not answered `initialize` for 20 s; it may still be starting"
    );
    // Once it has answered, there is nothing to wait for.
    let answer = r#"{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25"}}"#;
    let text = Text::from(answer.to_owned());
    let message = Message::read(&text).unwrap();
    conversation.on_server(Origin::Pipe, &message, start);
    conversation.on_timeout(start + Duration::from_secs(100));
    assert_eq!((said.lock().unwrap().len(), conversation.next_timeout()), (3, None));
}
