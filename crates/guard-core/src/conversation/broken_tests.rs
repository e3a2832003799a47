//! Results that break the output schema of their tool.

use std::collections::VecDeque;
use std::time::Duration;

use serde_json::{Value, json};
use toolbond_contract::{Contract, Mode, Revision};
use toolbond_schema::{Limits, Schema};

use super::decision_tests::{Seen, Talk};
use super::{Conversation, Link};
use crate::era::{Users, meta};
use crate::learned::LearnedTools;
use crate::settings::{Deployment, Settings};

/// A client that is known to validate results.
const STRICT: &str = "claude-ai";

/// One whose model reads only text.
const TEXT_ONLY: &str = "gemini-cli-mcp-client";

fn output() -> Value {
    json!({ "type": "object", "properties": { "sum": { "type": "integer" }, "note": { "type": "string" } },
        "required": ["sum"], "additionalProperties": false })
}

fn tools() -> Value {
    json!([{ "name": "add", "inputSchema": { "type": "object" }, "outputSchema": output() }])
}

fn talk(settings: Settings) -> Talk {
    Talk::new(Link::Pipe, settings)
}

fn default_talk() -> Talk {
    talk(Settings::default())
}

fn meta(client: &str) -> Value {
    json!({ "io.modelcontextprotocol/clientInfo": { "name": client, "version": "1" } })
}

/// The tool as `client` gets it when it lists the tools.
fn list(talk: &mut Talk, client: &str) -> Value {
    list_of(talk, client, &tools())
}

/// The same where the server has `tools`.
fn list_of(talk: &mut Talk, client: &str, tools: &Value) -> Value {
    let params = json!({ "_meta": meta(client) });
    talk.client(&json!({ "id": "list", "method": "tools/list", "params": params }));
    let answer = json!({ "id": "list", "result": { "tools": tools, "ttlMs": 500 } });
    let mut seen = talk.server(&answer);
    seen.pop().unwrap().1["result"].take()
}

/// What `client` gets of a call that the server answers with `result`, and what else happens.
fn call(talk: &mut Talk, client: &str, result: &Value) -> (Value, Vec<Seen>) {
    let params = json!({ "name": "add", "arguments": {}, "_meta": meta(client) });
    let seen = talk.client(&json!({ "id": 1, "method": "tools/call", "params": params }));
    if seen.iter().any(|(what, _)| *what == "list") {
        talk.list(Some(&tools()));
    }
    let mut seen = talk.server(&json!({ "id": 1, "result": result }));
    let (_, mut answer) = seen.pop().unwrap();
    (answer["result"].take(), seen)
}

fn result(content: &Value) -> Value {
    json!({ "content": [{ "type": "text", "text": "text" }], "structuredContent": content })
}

#[test]
fn a_client_that_validates_gets_the_data_at_once() {
    let mut talk = default_talk();
    let listed = list(&mut talk, STRICT);
    assert_eq!((&listed["tools"], &listed["ttlMs"]), (&tools(), &json!(500)));
    let wrong = result(&json!({ "sum": 7, "more": 1 }));
    let expected = json!({
        "content": [
            { "type": "text", "text": "the tool ran; do not repeat the call\nits result does not match its output schema: #: unknown property `more`" },
            { "type": "text", "text": "text" },
            { "type": "text", "text": "{\"sum\":7,\"more\":1}" }
        ],
        "isError": true
    });
    assert_eq!(call(&mut talk, STRICT, &wrong).0, expected);
    // As long as it does not list again, it validates against what it was given.
    assert_eq!(call(&mut talk, STRICT, &wrong).0, expected);
    let listed = list(&mut talk, STRICT);
    assert_eq!(listed["ttlMs"], 0);
    assert_eq!(listed["tools"][0]["outputSchema"]["additionalProperties"], json!({}));
    assert_eq!(call(&mut talk, STRICT, &wrong).0, wrong);
}

#[test]
fn nothing_is_added_to_a_result_that_makes_its_message_too_long() {
    let settings = Settings { max_message: 20_000, ..Settings::default() };
    // Twice as many bytes as JSON, and four times as many as JSON text.
    let note = "\"".repeat(5000);
    let wrong = result(&json!({ "sum": 7, "note": note, "more": 1 }));
    let mut talk = talk(settings);
    list(&mut talk, STRICT);
    let (found, _) = call(&mut talk, STRICT, &wrong);
    assert_eq!(found["isError"], true);
    assert_eq!(found["content"].as_array().unwrap().len(), 2, "{found}");
    list(&mut talk, TEXT_ONLY);
    assert_eq!(call(&mut talk, TEXT_ONLY, &wrong).0, wrong);
    // Clients of earlier revisions need `content`, if only an empty one.
    let valid = json!({ "structuredContent": { "sum": 7, "note": note } });
    let (found, _) = call(&mut talk, "c", &valid);
    assert_eq!(found["content"], json!([]));
    assert_eq!(found["structuredContent"], valid["structuredContent"]);
}

#[test]
fn others_get_the_result_as_it_came() {
    let mut talk = default_talk();
    list(&mut talk, "c");
    for content in [json!({ "sum": 7, "more": 1 }), json!({ "sum": [] }), json!({})] {
        assert_eq!(call(&mut talk, "c", &result(&content)).0, result(&content));
    }
}

#[test]
fn who_never_listed_the_tool_validates_nothing() {
    let mut talk = default_talk();
    let wrong = result(&json!({ "sum": 7, "more": 1 }));
    assert_eq!(call(&mut talk, STRICT, &wrong).0, wrong);
    // A list that the guard requests for itself takes nothing from the client.
    list(&mut talk, STRICT);
    talk.conversation.on_tools_changed();
    let worse = result(&json!({ "sum": {}, "more": 1 }));
    let (found, _) = call(&mut talk, STRICT, &worse);
    assert_eq!(found["isError"], true);
    assert_eq!(call(&mut talk, STRICT, &wrong).0, wrong);
}

#[test]
fn who_may_have_listed_the_tool_at_another_replica_gets_the_data() {
    let settings = Settings { deployment: Deployment::Replica, ..Settings::default() };
    let mut talk = talk(settings);
    let wrong = result(&json!({ "sum": 7, "more": 1, "note": null }));
    for (client, is_error) in [(STRICT, true), ("c", false)] {
        let (found, _) = call(&mut talk, client, &wrong);
        assert_eq!(found["isError"] == true, is_error, "{client}: {found}");
    }
}

#[test]
fn the_operator_knows_better_which_client_validates() {
    let client_validates = [("c".to_owned(), true), (STRICT.to_owned(), false)].into();
    let settings = Settings { client_validates, ..Settings::default() };
    let mut talk = talk(settings);
    // Each breaks what was learned before.
    let [wrong, worse] = [json!({}), json!([])].map(|content| result(&content));
    for (client, wrong, is_error) in [("c", &wrong, true), (STRICT, &worse, false)] {
        list(&mut talk, client);
        let (found, _) = call(&mut talk, client, wrong);
        assert_eq!(found["isError"] == true, is_error, "{client}");
    }
}

#[test]
fn a_schema_that_is_broken_again_and_again_is_gone() {
    let mut talk = default_talk();
    let broken = [json!({}), json!({ "sum": "x" }), json!({ "a": 1 }), json!({ "note": [] })];
    for (times, content) in broken.iter().enumerate() {
        let listed = list(&mut talk, "c");
        assert!(listed["tools"][0].get("outputSchema").is_some(), "{times}");
        call(&mut talk, "c", &result(content));
    }
    let listed = list(&mut talk, "c");
    let tool = &listed["tools"][0];
    assert!(tool.get("outputSchema").is_none());
    assert_eq!(tool["_meta"]["dev.toolbond/output"]["relaxed"], "dropped");
    assert_eq!(talk.conversation.server.learned().changes(), 4);
}

#[test]
fn a_client_is_told_that_the_list_changed_once_a_minute() {
    let mut talk = default_talk();
    let capabilities = json!({ "tools": { "listChanged": true } });
    let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "c" } });
    talk.client(&json!({ "id": 0, "method": "initialize", "params": hello }));
    let welcome = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities });
    talk.server(&json!({ "id": 0, "result": welcome }));
    let told = |seen: &[Seen]| {
        seen.iter().filter(|it| it.1["method"] == "notifications/tools/list_changed").count()
    };
    list(&mut talk, "c");
    assert_eq!(told(&call(&mut talk, "c", &result(&json!({ "sum": 1 }))).1), 0);
    assert_eq!(told(&call(&mut talk, "c", &result(&json!({}))).1), 1);
    list(&mut talk, "c");
    assert_eq!(told(&call(&mut talk, "c", &result(&json!({ "sum": [] }))).1), 0);
    talk.wait(Duration::from_secs(61));
    assert_eq!(told(&call(&mut talk, "c", &result(&json!({ "sum": 1 }))).1), 1);
}

#[test]
fn who_subscribed_to_changes_of_tools_hears_of_it() {
    for (link, agrees) in [(Link::Pipe, true), (Link::Streams, true), (Link::Streams, false)] {
        let mut talk = Talk::new(link, Settings::default());
        let mut listen = modern("c", "subscriptions/listen", json!({}));
        listen["id"] = json!("s");
        talk.client(&listen);
        let told = json!({ "_meta": { meta::SUBSCRIPTION: "s" }, "notifications": { "toolsListChanged": agrees } });
        let seen = talk.server(
            &json!({ "method": "notifications/subscriptions/acknowledged", "params": told }),
        );
        assert_eq!(seen.len(), 1, "{link:?}");
        list(&mut talk, "c");
        let (_, seen) = call(&mut talk, "c", &result(&json!({ "sum": 1 })));
        let changed = |seen: &[Seen]| {
            let is_it = |it: &&Seen| it.1["method"] == "notifications/tools/list_changed";
            seen.iter().find(is_it).map(|(_, message)| message["params"].clone())
        };
        assert_eq!(changed(&seen), None);
        let (_, seen) = call(&mut talk, "c", &result(&json!({})));
        let expected = json!({ "_meta": { meta::SUBSCRIPTION: "s" } });
        assert_eq!(changed(&seen), agrees.then_some(expected), "{link:?}");
        // It is not told again within a minute.
        list(&mut talk, "c");
        let (_, seen) = call(&mut talk, "c", &result(&json!([])));
        assert_eq!(changed(&seen), None, "{link:?}");
    }
}

#[test]
fn who_subscribed_before_a_server_of_another_era_hears_of_it() {
    let mut bridged = Bridged::new(Settings::default(), &tools()[0]);
    let wrong = result(&json!({}));
    bridged.ask(&modern("c", "tools/list", json!({})), &wrong);
    let mut listen = modern(
        "c",
        "subscriptions/listen",
        json!({ "notifications": { "toolsListChanged": true } }),
    );
    listen["id"] = json!("s");
    let told = bridged.ask(&listen, &wrong);
    assert_eq!(told[0]["params"]["notifications"], json!({ "toolsListChanged": true }));
    let told = bridged.ask(&modern("c", "tools/call", json!({ "name": "add" })), &wrong);
    assert_eq!(told[0]["method"], "notifications/tools/list_changed", "{told:?}");
    assert_eq!(told[0]["params"]["_meta"], json!({ meta::SUBSCRIPTION: "s" }));
}

#[test]
fn a_null_is_left_out_only_for_who_may_have_the_strict_schema() {
    let mut talk = default_talk();
    let nulled = result(&json!({ "sum": 1, "note": null }));
    assert_eq!(call(&mut talk, "c", &nulled).0, nulled);
    let mut talk = default_talk();
    list(&mut talk, "c");
    assert_eq!(call(&mut talk, "c", &nulled).0, result(&json!({ "sum": 1 })));
    assert_eq!(talk.conversation.server.learned().changes(), 0);
}

#[test]
fn a_model_that_reads_only_text_gets_the_data_as_text() {
    let mut talk = default_talk();
    list(&mut talk, TEXT_ONLY);
    let texts = |found: &Value| -> Vec<Value> {
        found["content"].as_array().unwrap().iter().map(|block| block["text"].clone()).collect()
    };
    let found = call(&mut talk, TEXT_ONLY, &result(&json!({ "sum": "7" }))).0;
    assert_eq!(texts(&found), ["text", r#"{"sum":7}"#]);
    let wrong = result(&json!({ "sum": 7, "more": 1 }));
    call(&mut talk, TEXT_ONLY, &wrong);
    list(&mut talk, TEXT_ONLY);
    let found = call(&mut talk, TEXT_ONLY, &wrong).0;
    assert_eq!(texts(&found), ["text", r#"{"sum":7,"more":1}"#]);
    assert_eq!(found["structuredContent"], wrong["structuredContent"]);
    let empty = json!({ "content": [], "structuredContent": { "sum": 7, "more": 1 } });
    assert_eq!(texts(&call(&mut talk, TEXT_ONLY, &empty).0), [r#"{"sum":7,"more":1}"#]);
    // What is there as text, or valid, stays as it is.
    let said = json!({ "content": [{ "type": "text", "text": r#"{"more": 1, "sum": 7}"# }],
        "structuredContent": { "sum": 7, "more": 1 } });
    for same in [said, result(&json!({ "sum": 7 }))] {
        assert_eq!(call(&mut talk, TEXT_ONLY, &same).0, same);
    }
    list(&mut talk, STRICT);
    assert_eq!(call(&mut talk, STRICT, &wrong).0, wrong);
}

#[test]
fn a_null_in_the_place_of_content_is_none() {
    let mut talk = default_talk();
    list(&mut talk, "c");
    let nothing = result(&Value::Null);
    assert_eq!(call(&mut talk, "c", &nothing).0, nothing);
    assert!(list(&mut talk, "c")["tools"][0].get("outputSchema").is_none());
    assert_eq!(call(&mut talk, "c", &nothing).0, json!({ "content": nothing["content"] }));
    let empty = json!({ "content": [], "structuredContent": null });
    let (found, _) = call(&mut talk, "c", &empty);
    assert_eq!(found["structuredContent"], json!({ "result": null }));
}

#[test]
fn what_one_client_was_given_says_nothing_of_another() {
    let mut talk = default_talk();
    let wrong = result(&json!({ "sum": 7, "more": 1 }));
    list(&mut talk, STRICT);
    let is_error = |talk: &mut Talk, client| call(talk, client, &wrong).0["isError"] == true;
    // Both of them validate, but the second one was given nothing.
    assert!(!is_error(&mut talk, "mcp"));
    assert_eq!(list(&mut talk, "mcp")["ttlMs"], 0);
    assert!(!is_error(&mut talk, "mcp"));
    assert!(is_error(&mut talk, STRICT));
}

#[test]
fn a_client_without_a_session_is_known_as_long_as_it_is_alone() {
    let mut talk = Talk::new(Link::Streams, Settings::default());
    let greet = |talk: &mut Talk, name: &str| {
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": name } });
        talk.client(&json!({ "id": 0, "method": "initialize", "params": hello }));
        talk.server(
            &json!({ "id": 0, "result": { "protocolVersion": "2025-11-25", "capabilities": {} } }),
        );
    };
    let is_error = |talk: &mut Talk, id: u64| {
        let params = json!({ "name": "add", "arguments": {} });
        talk.client(&json!({ "id": id, "method": "tools/call", "params": params }));
        let wrong = result(&json!({ "sum": 7, "more": 1 }));
        let seen = talk.server(&json!({ "id": id, "result": wrong }));
        seen.last().unwrap().1["result"]["isError"] == true
    };
    greet(&mut talk, STRICT);
    talk.client(&json!({ "id": 1, "method": "tools/list" }));
    talk.server(&json!({ "id": 1, "result": { "tools": tools() } }));
    assert!(is_error(&mut talk, 2));
    // The same client again, and then another one that sends the same headers.
    greet(&mut talk, STRICT);
    assert!(is_error(&mut talk, 3));
    greet(&mut talk, "c");
    assert!(!is_error(&mut talk, 4));
}

/// A request of `client`, which speaks 2026-07-28.
fn modern(client: &str, method: &str, mut params: Value) -> Value {
    params["_meta"] = meta(client);
    params["_meta"][meta::VERSION] = json!("2026-07-28");
    params["_meta"][meta::CAPABILITIES] = json!({});
    json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params })
}

/// A client of 2026-07-28 before a server of 2025-11-25 with this tool.
struct Bridged {
    talk: Talk,
    tool: Value,
}

impl Bridged {
    fn new(settings: Settings, tool: &Value) -> Self {
        let mut talk = talk(settings);
        let server = talk.conversation.server.clone();
        talk.conversation =
            Conversation::new(server, Link::Pipe, Revision::default()).with_bridge(Users::One);
        Self { talk, tool: tool.clone() }
    }

    /// What the client gets for its message. The server answers calls with `result`.
    fn ask(&mut self, message: &Value, result: &Value) -> Vec<Value> {
        let info = json!({ "name": "a", "version": "1" });
        let capabilities = json!({ "tools": { "listChanged": true } });
        let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info });
        let mut told = Vec::new();
        let mut seen: VecDeque<_> = self.talk.client(message).into();
        while let Some((whom, mut message)) = seen.pop_front() {
            if whom == "client" {
                told.push(message);
            } else if message.get("id").is_some() {
                let mut answer = match message["method"].as_str().unwrap() {
                    "initialize" => json!({ "result": hello }),
                    _ if message["params"]["_meta"].get(meta::VERSION).is_some() => {
                        json!({ "error": { "code": -32601, "message": "no" } })
                    }
                    "tools/list" => json!({ "result": { "tools": [self.tool] } }),
                    _ => json!({ "result": result }),
                };
                answer["id"] = message["id"].take();
                seen.extend(self.talk.server(&answer));
            }
        }
        told
    }
}

/// What `client` gets of a list and of a call, before a server of 2025-11-25 whose era is not known when the list is
/// requested.
fn bridged(settings: Settings, client: &str, tool: &Value, result: &Value) -> (Value, Value) {
    let mut bridged = Bridged::new(settings, tool);
    let mut ask = |message: &Value| bridged.ask(message, result).pop().unwrap()["result"].take();
    let listed = ask(&modern(client, "tools/list", json!({})));
    (listed, ask(&modern(client, "tools/call", json!({ "name": "add" }))))
}

#[test]
fn a_client_that_validates_only_because_of_the_bridge_gets_no_output_schema() {
    let settings = Settings::default;
    let wrong = result(&json!({ "sum": 7, "more": 1, "note": null }));
    let (listed, found) = bridged(settings(), "claude-code", &tools()[0], &wrong);
    let tool = &listed["tools"][0];
    assert_eq!(tool["_meta"]["dev.toolbond/output"]["relaxed"], "dropped", "{listed}");
    assert!(tool.get("outputSchema").is_none());
    assert_eq!(found["structuredContent"], wrong["structuredContent"]);
    // Another one keeps its schema, as does the same where results are not repaired, or its user knows better.
    let warn = Settings { results: Mode::Warn, ..settings() };
    let told =
        |it| Settings { client_validates: [("claude-code".to_owned(), it)].into(), ..settings() };
    let others = [(settings(), STRICT, true), (warn, "claude-code", false)];
    let told = [(told(true), "claude-code", true), (told(false), "claude-code", false)];
    for (settings, client, is_error) in others.into_iter().chain(told) {
        let (listed, found) = bridged(settings, client, &tools()[0], &wrong);
        assert_eq!(listed["tools"][0]["outputSchema"], output(), "{client}");
        assert_eq!(found["isError"] == true, is_error, "{client}: {found}");
    }
}

#[test]
fn what_a_server_of_an_earlier_era_answers_is_final_whatever_it_says() {
    for answer in [
        json!({ "resultType": "input_required", "requestState": "s" }),
        json!({ "resultType": "task", "taskId": "t" }),
    ] {
        let settings = Settings { results: Mode::Enforce, ..Settings::default() };
        let (_, found) = bridged(settings, "c", &tools()[0], &answer);
        assert_eq!(found["isError"], true, "{answer} became {found}");
        assert_eq!(found["resultType"], "complete", "{answer} became {found}");
    }
}

#[test]
fn without_its_output_schema_a_tool_has_results_of_the_same_form() {
    let envelope = json!({ "type": "object", "properties": { "result": { "type": "integer" } },
        "required": ["result"], "x-fastmcp-wrap-result": true });
    for (output, content) in [(output(), json!({ "sum": 1 })), (envelope, json!({ "result": 1 }))] {
        let tool =
            json!({ "name": "add", "inputSchema": { "type": "object" }, "outputSchema": output });
        let sent = result(&content);
        let (_, expected) = bridged(Settings::default(), "codex", &tool, &sent);
        let (listed, found) = bridged(Settings::default(), "claude-code", &tool, &sent);
        assert!(listed["tools"][0].get("outputSchema").is_none());
        assert_eq!(found, expected);
    }
}

#[test]
fn an_envelope_that_its_server_leaves_out_stays_one() {
    let list = json!({ "type": "array" });
    let envelope = json!({ "type": "object", "properties": { "result": list }, "required": ["result"], "x-fastmcp-wrap-result": true });
    let contract = Contract::received(
        json!({ "name": "add", "inputSchema": { "type": "object" }, "outputSchema": envelope }),
    )
    .unwrap();
    // A relaxed schema would be none of an envelope: valid results would change their form.
    let learned = LearnedTools::default().learn(&contract, Some(&json!({})));
    assert!(learned.relaxation().is_none());
}

#[test]
fn warn_and_enforce_learn_nothing() {
    for mode in [Mode::Off, Mode::Warn, Mode::Enforce] {
        let mut talk = talk(Settings { results: mode, ..Settings::default() });
        list(&mut talk, STRICT);
        let wrong = result(&json!({ "sum": "7" }));
        let (found, _) = call(&mut talk, STRICT, &wrong);
        assert_eq!(found == wrong, mode != Mode::Enforce, "{mode}");
        assert_eq!(list(&mut talk, STRICT)["tools"], tools(), "{mode}");
        assert_eq!(talk.conversation.server.learned().changes(), 0);
    }
}

#[test]
fn formats_that_clients_assert_are_left_out() {
    let output = json!({ "type": "object", "properties": { "at": { "type": "string", "format": "date-time" } } });
    let tool =
        json!({ "name": "add", "inputSchema": { "type": "object" }, "outputSchema": output });
    for (mode, is_kept) in [(Mode::Repair, false), (Mode::Warn, true)] {
        let mut talk = talk(Settings { results: mode, ..Settings::default() });
        talk.client(&json!({ "id": 1, "method": "tools/list" }));
        let seen = talk.server(&json!({ "id": 1, "result": { "tools": [tool] } }));
        let found = &seen[0].1["result"]["tools"][0];
        assert_eq!(*found == tool, is_kept, "{mode}");
        assert_eq!(
            found["_meta"]["dev.toolbond/output"]["formats"] == json!(["date-time"]),
            !is_kept
        );
    }
}

#[test]
fn a_result_that_is_no_object_reaches_legacy_clients_once_the_schema_is_gone() {
    let mut talk = default_talk();
    list(&mut talk, "c");
    call(&mut talk, "c", &result(&json!([1])));
    assert!(list(&mut talk, "c")["tools"][0].get("outputSchema").is_none());
    let (found, _) = call(&mut talk, "c", &result(&json!([1])));
    assert_eq!(found["structuredContent"], json!({ "result": [1] }));
    let valid = result(&json!({ "sum": 1 }));
    assert_eq!(call(&mut talk, "c", &valid).0, valid);
}

#[test]
fn formats_that_tell_alternatives_apart_refuse_nothing() {
    let when = json!({ "oneOf": [{ "type": "string", "format": "date" }, { "type": "string", "format": "date-time" }] });
    let id = json!({ "type": "string", "not": { "format": "uuid" } });
    let output = json!({ "type": "object", "properties": { "when": when, "id": id } });
    let tools =
        json!([{ "name": "add", "inputSchema": { "type": "object" }, "outputSchema": output }]);
    let mut talk = default_talk();
    let mut listed = list_of(&mut talk, STRICT, &tools);
    let properties = listed["tools"][0]["outputSchema"]["properties"].take();
    assert_eq!(
        properties["when"],
        json!({ "anyOf": [{ "type": "string" }, { "type": "string" }] })
    );
    assert_eq!(properties["id"], id);
    // By the specification it matches both alternatives.
    let valid = result(&json!({ "when": "2026-11-19" }));
    assert_eq!(call(&mut talk, STRICT, &valid).0, valid);
    assert_eq!(talk.conversation.server.learned().changes(), 0);
    // Also when something else was relaxed.
    call(&mut talk, STRICT, &result(&json!({ "id": 7 })));
    list_of(&mut talk, STRICT, &tools);
    assert_eq!(call(&mut talk, STRICT, &valid).0, valid);
}

#[test]
fn formats_that_have_to_stay_keep_no_result_from_being_repaired() {
    let choice = json!({ "oneOf": [{ "type": "string", "format": "date" }, { "type": "string", "format": "date-time" }] });
    let mut beside = choice.clone();
    beside["anyOf"] = json!([{ "minLength": 1 }]);
    let properties = json!({ "k": { "type": "integer" }, "when": choice, "not": { "not": choice }, "beside": beside });
    let output = json!({ "type": "object", "properties": properties });
    let tools =
        json!([{ "name": "add", "inputSchema": { "type": "object" }, "outputSchema": output }]);
    let mut talk = default_talk();
    let listed = list_of(&mut talk, STRICT, &tools);
    let listed = &listed["tools"][0]["outputSchema"]["properties"];
    assert!(listed["when"].get("anyOf").is_some(), "{listed}");
    assert_eq!((&listed["not"], &listed["beside"]), (&properties["not"], &properties["beside"]));
    let (found, _) = call(&mut talk, STRICT, &result(&json!({ "k": "12" })));
    assert_eq!(found, result(&json!({ "k": 12 })));
    let (found, _) = call(&mut talk, STRICT, &result(&json!({ "k": "x1" })));
    assert_eq!(found["isError"], true, "{found}");
    assert_eq!(talk.conversation.server.learned().changes(), 1);
}

#[test]
fn a_repair_of_many_values_is_written_and_text_stays() {
    let rows = json!({ "type": "array", "items": { "properties": { "n": { "type": "number" } } } });
    let tool =
        json!([{ "name": "add", "inputSchema": { "type": "object" }, "outputSchema": rows }]);
    let mut talk = default_talk();
    list_of(&mut talk, STRICT, &tool);
    let rows = |n: &Value| Value::from(vec![json!({ "n": n, "pad": "x".repeat(1000) }); 300]);
    let (found, _) = call(&mut talk, STRICT, &result(&rows(&json!("1.5"))));
    let found = &found["structuredContent"];
    let found = found.get("result").unwrap_or(found);
    assert_eq!(*found, rows(&json!(1.5)));
}

#[test]
fn a_schema_for_objects_that_is_gone_leaves_a_form_for_other_values() {
    let object = json!({ "type": "object", "required": ["a"] });
    for output in [
        object.clone(),
        json!({ "anyOf": [object, { "type": "object", "required": ["b"] }] }),
        json!({ "$ref": "#/$defs/o", "$defs": { "o": object } }),
    ] {
        let tools =
            json!([{ "name": "add", "inputSchema": { "type": "object" }, "outputSchema": output }]);
        let mut talk = default_talk();
        list_of(&mut talk, "c", &tools);
        call(&mut talk, "c", &result(&json!([1])));
        list_of(&mut talk, "c", &tools);
        let (found, _) = call(&mut talk, "c", &result(&json!([1])));
        assert_eq!(found["structuredContent"], json!({ "result": [1] }), "{output}");
        let valid = result(&json!({ "a": 1 }));
        assert_eq!(call(&mut talk, "c", &valid).0, valid, "{output}");
    }
}

#[test]
fn what_is_valid_under_the_schema_of_the_client_is_not_repaired() {
    let mut talk = default_talk();
    list(&mut talk, "c");
    call(&mut talk, "c", &result(&json!({ "sum": "1.9rc1" })));
    let listed = list(&mut talk, "c");
    let sum = &listed["tools"][0]["outputSchema"]["properties"]["sum"];
    assert_eq!(sum["type"], json!(["integer", "string"]));
    let text = result(&json!({ "sum": "2" }));
    assert_eq!(call(&mut talk, "c", &text).0, text);
}

#[test]
fn results_of_tasks_are_repaired_and_relax_the_schema() {
    let completed = |result: &Value| json!({ "resultType": "complete", "taskId": "t", "status": "completed", "result": result });
    let working = json!({ "taskId": "t", "status": "working" });
    let ask = |talk: &mut Talk, method: &str, answer: &Value| {
        let params = json!({ "taskId": "t", "_meta": meta(STRICT) });
        talk.client(&json!({ "id": 2, "method": method, "params": params }));
        talk.server(&json!({ "id": 2, "result": answer })).pop().unwrap().1["result"].take()
    };
    let [text, wrong] =
        [json!({ "sum": "7" }), json!({ "sum": 7, "more": 1 })].map(|it| result(&it));
    let repaired = result(&json!({ "sum": 7 }));
    for method in ["tasks/result", "tasks/get"] {
        let mut talk = default_talk();
        list(&mut talk, STRICT);
        let is_inside = method == "tasks/get";
        let mut created = json!({ "resultType": "task", "taskId": "t", "status": "working" });
        if !is_inside {
            created = json!({ "task": working });
        }
        let wrap = |result: &Value| if is_inside { completed(result) } else { result.clone() };
        assert_eq!(call(&mut talk, STRICT, &created).0, created);
        assert_eq!(ask(&mut talk, method, &wrap(&text)), wrap(&repaired), "{method}");
        assert_eq!(talk.conversation.server.learned().changes(), 0);
        let found = ask(&mut talk, method, &wrap(&wrong));
        let found = if is_inside { &found["result"] } else { &found };
        let first = found["content"][0]["text"].as_str().unwrap();
        assert!(first.starts_with("the tool ran; do not repeat the call"), "{method}: {found}");
        let listed = list(&mut talk, STRICT);
        assert_eq!(listed["tools"][0]["outputSchema"]["additionalProperties"], json!({}));
        call(&mut talk, STRICT, &created);
        assert_eq!(ask(&mut talk, method, &wrap(&wrong)), wrap(&wrong), "{method}");
    }
}

#[test]
fn a_validation_that_is_unfinished_passes_and_teaches_nothing() {
    let mut limits = Limits::default();
    limits.fuel = 1;
    let schema = Schema::options().limits(limits);
    let mut talk = talk(Settings { schema, ..Settings::default() });
    list(&mut talk, STRICT);
    let wrong = result(&json!({ "sum": "7", "more": 1 }));
    assert_eq!(call(&mut talk, STRICT, &wrong).0, wrong);
    assert_eq!(talk.conversation.server.learned().changes(), 0);
    assert_eq!(list(&mut talk, STRICT)["tools"], tools());
}
