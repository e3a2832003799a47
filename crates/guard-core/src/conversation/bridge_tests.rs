//! Conversations across eras, where the bridge and the checks meet.

use std::sync::Arc;
use std::time::Instant;

use serde_json::{Value, json};
use toolbond_contract::{Mode, Revision};

use super::{Action, Conversation, Link, Origin, StreamId, Told};
use crate::era::{Users, meta};
use crate::message::{Message, Text};
use crate::settings::Settings;
use crate::testing;

/// A conversation whose arguments and results are not checked, so that no list is requested.
struct Pipe {
    conversation: Conversation,
    now: Instant,
}

impl Pipe {
    fn new(link: Link, users: Users, settings: Settings) -> Self {
        let server = Arc::new(testing::server(settings));
        let conversation = Conversation::new(server, link, Revision::default());
        Self { conversation: conversation.with_bridge(users), now: testing::now() }
    }

    /// A modern client in front of a legacy server, both past the handshake.
    fn bridged() -> Self {
        let settings =
            Settings { arguments: Mode::Off, results: Mode::Warn, ..Settings::default() };
        let mut pipe = Self::new(Link::Pipe, Users::One, settings);
        let hello = pipe.client(&modern(0, "server/discover", json!({})).to_string());
        assert_eq!(hello[0]["method"], "server/discover");
        let error = json!({ "code": -32601, "message": "no" });
        let probe = pipe.server(&json!({ "id": 0, "error": error }).to_string());
        let info = json!({ "name": "a", "version": "1" });
        let told =
            json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": info });
        pipe.server(&json!({ "id": probe[0]["id"], "result": told }).to_string());
        pipe
    }

    fn client(&mut self, text: &str) -> Vec<Value> {
        let text = Text::from(text.to_owned());
        let told = Told::default();
        let stream = StreamId::PIPE;
        match Message::read(&text) {
            Ok(message) => drop(self.conversation.on_client(stream, &message, &told, self.now)),
            Err(unreadable) => drop(self.conversation.on_unreadable_client(stream, &unreadable)),
        }
        self.seen()
    }

    fn server(&mut self, text: &str) -> Vec<Value> {
        let text = Text::from(text.to_owned());
        let (origin, now) = (Origin::Pipe, self.now);
        match Message::read(&text) {
            Ok(message) => drop(self.conversation.on_server(origin, &message, now)),
            Err(unreadable) => {
                let _ = self.conversation.on_unreadable_server(origin, &unreadable, now);
            }
        }
        self.seen()
    }

    fn seen(&mut self) -> Vec<Value> {
        let actions = std::iter::from_fn(|| self.conversation.poll());
        let sent = actions.filter_map(|action| match action {
            Action::Send { message, .. } => Some(message.into_rope().unwrap().joined()),
            _ => None,
        });
        sent.map(|text| serde_json::from_slice(&text).unwrap()).collect()
    }
}

fn modern(id: u64, method: &str, mut params: Value) -> Value {
    params["_meta"] = json!({ meta::VERSION: "2026-07-28", meta::CAPABILITIES: {} });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params })
}

#[test]
fn a_request_of_the_server_that_cannot_be_read_costs_no_call_with_its_id() {
    let mut pipe = Pipe::bridged();
    let call = pipe.client(&modern(1, "prompts/get", json!({ "name": "a" })).to_string());
    assert_eq!(call[0]["id"], 1);
    let refused = pipe.server(r#"{"jsonrpc":"2.0","id":1,"method":"roots/list","method":"a"}"#);
    assert_eq!((&refused[0]["id"], &refused[0]["error"]["code"]), (&json!(1), &json!(-32600)));
    let answer = pipe.server(r#"{"jsonrpc":"2.0","id":1,"result":{"messages":[]}}"#);
    assert_eq!(answer[0]["result"], json!({ "resultType": "complete", "messages": [] }));
}

#[test]
fn a_message_that_is_no_answer_costs_no_call_with_its_id() {
    let mut pipe = Pipe::bridged();
    pipe.client(&modern(1, "prompts/get", json!({ "name": "a" })).to_string());
    pipe.server(r#"{"jsonrpc":"2.0","id":1}"#);
    let answer = pipe.server(r#"{"jsonrpc":"2.0","id":1,"result":{"messages":[]}}"#);
    assert_eq!(answer[0]["id"], 1);
}

#[test]
fn all_calls_of_a_batch_before_the_handshake_reach_the_server() {
    let settings = Settings { results: Mode::Off, ..Settings::default() };
    let mut pipe = Pipe::new(Link::Pipe, Users::One, settings);
    let call = |id, n: Value| json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": { "name": "t", "arguments": { "n": n } } });
    let batch = json!([call(1, json!("10")), call(2, json!(10))]);
    let asked = pipe.client(&batch.to_string());
    assert_eq!(asked[0]["method"], "tools/list");
    let input = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    let tools = json!([{ "name": "t", "inputSchema": input }]);
    let list = json!({ "id": asked[0]["id"], "result": { "tools": tools } });
    let text = Text::from(list.to_string());
    let message = Message::read(&text).unwrap();
    pipe.conversation.on_server(Origin::Pipe, &message, pipe.now);
    while let Some(action) = pipe.conversation.poll() {
        let Action::Judge(job) = action else { continue };
        let budget = crate::contract::budget::Budget::first(usize::MAX);
        let outcome = job.run(budget).unwrap();
        pipe.conversation.on_judged(job.id, outcome, pipe.now);
        break;
    }
    let sent = pipe.seen();
    let arguments = |at: usize| &sent[0][at]["params"]["arguments"]["n"];
    assert_eq!((arguments(0), arguments(1)), (&json!(10), &json!(10)), "{sent:?}");
}

#[test]
fn a_progress_token_that_two_readers_read_in_two_ways_is_refused() {
    for token in
        [r#""progressToken":10,"progressToken":10"#, r#""progressToken":10,"ProgressToken":10"#]
    {
        let settings = Settings::off();
        let mut pipe = Pipe::new(Link::Shared, Users::Many, settings);
        let refused = pipe.client(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"prompts/get","params":{{"name":"a","_meta":{{{token}}}}}}}"#
        ));
        assert_eq!(refused[0]["error"]["code"], -32602, "{refused:?}");
    }
}
