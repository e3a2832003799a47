//! Tools in the form of a target, and calls of them.

use std::sync::Arc;

use serde_json::{Value, json};
use toolbond_contract::Mode;
use toolbond_guard::{Event, Settings};
use toolbond_harness::mcp::call;
use toolbond_targets::{ViewFor, target};

use crate::contract::{hiding, modern};
use crate::http::{Http, json as response};
use crate::pair::{Pair, result};

/// Gemini takes neither `/` in names nor `additionalProperties`.
const TOOLS: &str = r#"[{"name":"files/read","description":"Reads.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"n":{"type":"integer"}},"required":["path"],"additionalProperties":false}}]"#;

/// A tool that every target takes as it is.
const PLAIN: &str = r#"[{ "name":"plain","description":"\u0041.", "inputSchema":{"type":"object","properties":{"a":{"type":"string","description":"A."}},"required":["a"]}}]"#;

const DONE: &str = r#"{"content":[]}"#;

fn viewed() -> Settings {
    let mut settings = Settings::default();
    settings.view_for = ViewFor::Target(target("gemini").unwrap());
    settings
}

/// The only tool of a list, and its name.
fn only(list: &Value) -> (Value, String) {
    let tools = list["result"]["tools"].as_array().unwrap();
    assert_eq!(tools.len(), 1, "{list}");
    (tools[0].clone(), tools[0]["name"].as_str().unwrap().to_owned())
}

/// A guard whose client has listed `tools`, and what the client calls the only one.
fn listed(settings: Settings, tools: &str) -> (Pair, Value, String) {
    let mut pair = Pair::greeted(settings, "2025-11-25");
    let (tool, name) = only(&pair.list(tools));
    (pair, tool, name)
}

/// A call with the text of its arguments.
fn raw_call(name: &str, arguments: &str) -> String {
    let params = format!(r#"{{"name":"{name}","arguments":{arguments}}}"#);
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{params}}}"#)
}

#[test]
fn a_list_leaves_as_a_view_and_calls_come_back() {
    let (mut pair, tool, name) = listed(viewed(), TOOLS);
    assert_ne!(name, "files/read");
    assert!(tool["inputSchema"].get("additionalProperties").is_none(), "{tool}");
    // Only the name changes on the way, and what can only mean one thing, after it was restored.
    let large = "x".repeat(100_000);
    for (id, sent, expected) in [
        (1, json!({ "path": "a", "n": 1 }), json!({ "path": "a", "n": 1 })),
        (2, json!({ "path": "a", "n": "7", "more": 1 }), json!({ "path": "a", "n": 7 })),
        (3, json!({ "path": large }), json!({ "path": large })),
    ] {
        pair.becomes(&call(id, &name, &sent), &call(id, "files/read", &expected));
        pair.comes(&result(id, DONE));
    }
    // Clients may remember the tool's own name.
    pair.passes(&call(4, "files/read", &json!({ "path": "a" })));
    // A call before the next list is a call of the view.
    pair.comes(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#);
    pair.client.send(&call(5, &name, &json!({ "path": "a" })));
    let asked = pair.server.json();
    assert_eq!(asked["method"], "tools/list");
    let id = &asked["id"];
    pair.server.send(&format!(r#"{{"id":{id},"result":{{"tools":{TOOLS}}}}}"#));
    assert_eq!(pair.server.json()["params"]["name"], "files/read");
}

#[test]
fn the_full_schema_judges_calls_of_a_view() {
    let (mut pair, _, name) = listed(viewed(), TOOLS);
    let large = format!(r#"{{"path":"{}","paths":1}}"#, "x".repeat(100_000));
    for arguments in [
        r#"{"path":"a","paths":1}"#,
        r#"{"path":1}"#,
        r#"{"n":1}"#,
        r#"{"path":"a","path":"b"}"#,
        r#"{"path":"\ud800"}"#,
        "[]",
        "null",
        &large,
    ] {
        pair.refuses(&raw_call(&name, arguments));
    }
}

#[test]
fn a_tool_that_needs_no_view_passes_byte_for_byte() {
    let mut pair = Pair::greeted(viewed(), "2025-11-25");
    pair.passes(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#);
    pair.comes(&result(1, &format!(r#"{{"tools": {PLAIN}}}"#)));
    pair.passes(&raw_call(r"pl\u0061in", r#"{ "a":"\u0062"}"#));
}

#[test]
fn the_name_of_the_client_decides() {
    let mut settings = Settings::default();
    settings.view_for_clients =
        [("narrow".to_owned(), ViewFor::Target(target("gemini").unwrap()))].into();
    for (client, is_viewed) in [("narrow", true), ("wide", false)] {
        let mut pair = Pair::new(settings.clone());
        let hello = format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"clientInfo":{{"name":"{client}","version":"1"}}}}}}"#
        );
        pair.passes(&hello);
        pair.comes(&result(0, r#"{"protocolVersion":"2025-11-25"}"#));
        let (_, name) = only(&pair.list(TOOLS));
        assert_eq!(name != "files/read", is_viewed, "{client}");
    }
    // From 2026-07-28 on each request says whose it is.
    let mut pair = Pair::discovered(settings);
    for (client, is_viewed) in [("narrow", true), ("wide", false), ("narrow", true)] {
        let of_client = |id, method, params| {
            modern(id, method, params)
                .replace(r#"{"name":"c"}"#, &format!(r#"{{"name":"{client}"}}"#))
        };
        pair.passes(&of_client(1, "tools/list", json!({})));
        let (_, name) = only(&pair.tell(&result(1, &format!(r#"{{"tools":{TOOLS}}}"#))));
        assert_eq!(name != "files/read", is_viewed, "{client}");
        let params = json!({ "name": name, "arguments": { "path": "a" } });
        pair.client.send(&of_client(2, "tools/call", params));
        assert_eq!(pair.server.json()["params"]["name"], "files/read");
        pair.comes(&result(2, DONE));
    }
}

/// A tool whose only required property is of its own.
fn tool(name: &str, property: &str) -> Value {
    json!({ "name": name, "description": "T.", "inputSchema": {
        "type": "object",
        "properties": { property: { "type": "string", "description": "P." } },
        "required": [property],
    } })
}

#[test]
fn names_stay_distinct_across_pages() {
    let mut pair = Pair::greeted(viewed(), "2025-11-25");
    let pages = [
        vec![tool("a/b", "one"), tool("a b", "two"), tool("c/d", "three")],
        vec![tool("a_b", "four"), tool("c_d", "five"), tool("c d", "six")],
    ];
    let mut names = Vec::new();
    for (page, cursor, next) in [(&pages[0], "null", "\"2\""), (&pages[1], "\"2\"", "null")] {
        pair.passes(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{"cursor":{cursor}}}}}"#
        ));
        let tools = json!(page);
        let list = pair.tell(&result(1, &format!(r#"{{"tools":{tools},"nextCursor":{next}}}"#)));
        let tools = list["result"]["tools"].as_array().unwrap();
        assert_eq!(tools.len(), page.len(), "{list}");
        names.extend(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
    }
    let distinct: std::collections::HashSet<_> = names.iter().collect();
    assert_eq!(distinct.len(), names.len(), "{names:?}");
    // Each name is that of its own tool: the arguments of another are refused.
    for (name, own) in names.iter().zip(pages.iter().flatten()) {
        let property = own["inputSchema"]["required"][0].as_str().unwrap();
        pair.client.send(&call(2, name, &json!({ property: "x" })));
        assert_eq!(pair.server.json()["params"]["name"], own["name"]);
        pair.comes(&result(2, DONE));
    }
}

#[test]
fn hidden_tools_stay_hidden() {
    let tools = json!([tool("files/read", "a"), tool("b", "b")]).to_string();
    let (mut pair, _, name) = listed(hiding("files/read", viewed()), &tools);
    assert_eq!(name, "b");
    let answer = pair.ask(&call(1, "files/read", &json!({ "a": "x" })));
    assert!(answer["error"]["message"].as_str().unwrap().contains("hides it"), "{answer}");
    // What would be its name is nobody's, and the server does not have it either.
    pair.passes(&call(2, "files_read", &json!({ "a": "x" })));
}

#[test]
fn calls_are_restored_although_nothing_is_checked() {
    let mut settings = Settings::off();
    settings.view_for = viewed().view_for;
    assert_eq!(settings.arguments, Mode::Off);
    let (mut pair, _, name) = listed(settings, TOOLS);
    assert_ne!(name, "files/read");
    let arguments = json!({ "path": 1 });
    pair.becomes(&call(1, &name, &arguments), &call(1, "files/read", &arguments));
}

#[test]
fn the_log_says_once_what_a_list_became() {
    let (mut pair, ..) = listed(viewed(), TOOLS);
    pair.list(TOOLS);
    let said = pair.said();
    let about = said.iter().filter(|line| line.contains("toolbond view --for gemini"));
    assert_eq!(about.count(), 1, "{said:?}");
}

/// Alternatives that contain each other: which one a value is, shows only after everything in it.
#[test]
fn alternatives_that_contain_each_other_hold_up_nobody() {
    let node = |kind: &str| {
        json!({
            "type": "object",
            "properties": { "left": { "$ref": "#/$defs/node" }, "kind": { "const": kind } },
            "required": ["left", "kind"],
            "additionalProperties": false,
        })
    };
    let tool = json!({ "name": "parse", "description": "Parses.", "inputSchema": {
        "type": "object",
        "properties": { "tree": { "$ref": "#/$defs/node" }, "map": { "type": "object" } },
        "required": ["tree"],
        "additionalProperties": false,
        "$defs": { "node": { "anyOf": [node("a"), node("b"), { "type": "string" }] } },
    } });
    let tree = (0..60).fold(json!("leaf"), |inner, _| json!({ "left": inner, "kind": "other" }));
    let mut settings = Settings::default();
    settings.view_for = ViewFor::Target(target("openai-strict").unwrap());
    let (mut pair, ..) = listed(settings, &json!([tool]).to_string());
    pair.refuses(&call(1, "parse", &json!({ "tree": tree, "map": null })));
}

/// A guard on HTTP with these settings, whose server is of the era of its clients.
fn over_http(mut settings: Settings) -> Http {
    settings.translate.eras = false;
    Http::new(settings, Arc::new(|_: Event| {}), "")
}

impl Http {
    /// What the client with these headers gets for a list of [`TOOLS`]: the name of the tool.
    fn list_name(&mut self, headers: &str, request: &str) -> String {
        self.client.head = format!("POST /mcp HTTP/1.1{headers}");
        let list = result(1, &format!(r#"{{"tools":{TOOLS}}}"#));
        let (_, _, got) = self.exchange(request, &response(list.as_bytes(), ""));
        only(&serde_json::from_str(&got).unwrap()).1
    }
}

#[test]
fn headers_name_the_tool_of_the_server() {
    let mut http = over_http(viewed());
    let headers = "\r\nmcp-session-id: s\r\nmcp-protocol-version: 2026-07-28";
    let name = http.list_name(headers, &modern(1, "tools/list", json!({})));
    let plain = http.client.head.clone();
    // What contradicts the body reaches the server, which has to refuse it.
    for (header, expected) in [(name.as_str(), "files/read"), ("other", "other")] {
        http.client.head = format!("{plain}\r\nmcp-method: tools/call\r\nmcp-name: {header}");
        let params = json!({ "name": name, "arguments": { "path": "a" } });
        http.answer(&response(result(2, DONE).as_bytes(), ""));
        http.client.send(&modern(2, "tools/call", params));
        let asked = http.asked();
        assert_eq!(asked.message()["params"]["name"], "files/read");
        assert_eq!(asked.header("mcp-name"), Some(expected));
        http.client.receive();
    }
}

#[test]
fn a_session_on_http_knows_its_client() {
    let mut settings = Settings::default();
    settings.view_for_clients = [("narrow".to_owned(), viewed().view_for)].into();
    let mut http = over_http(settings);
    // Both open their sessions before either lists its tools.
    for client in ["narrow", "wide"] {
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": { "clientInfo": { "name": client, "version": "1" } } });
        let session = format!("mcp-session-id: {client}\r\n");
        let welcome = result(0, r#"{"protocolVersion":"2025-11-25"}"#);
        http.exchange(&hello.to_string(), &response(welcome.as_bytes(), &session));
    }
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    for (session, is_viewed) in
        [("\r\nmcp-session-id: narrow", true), ("\r\nmcp-session-id: wide", false), ("", false)]
    {
        let headers = format!("{session}\r\nmcp-protocol-version: 2025-11-25");
        let name = http.list_name(&headers, list);
        assert_eq!(name != "files/read", is_viewed, "{session}");
    }
}

#[test]
fn an_integer_that_would_change_is_refused() {
    let tool = json!({ "name": "count", "description": "Counts.", "inputSchema": {
        "type": "object",
        "properties": {
            "n": { "type": "integer", "description": "N." },
            "counts": { "type": "object", "description": "C.", "additionalProperties": { "type": "integer" } },
        },
    } });
    let (mut pair, tool, _) = listed(viewed(), &json!([tool]).to_string());
    assert_eq!(tool["inputSchema"]["properties"]["counts"]["type"], "array", "{tool}");
    let (large, small) = ("12345678901234567890123", "1234567890123456789");
    // Where nothing has another form, every digit stays.
    let sent = format!(r#"{{"n":{large},"counts":[{{"key":"a","value":{small}}}]}}"#);
    let expected = format!(r#"{{"n":{large},"counts":{{"a":{small}}}}}"#);
    pair.becomes(&raw_call("count", &sent), &raw_call("count", &expected));
    pair.comes(&result(1, DONE));
    let changes = format!(r#"{{"counts":[{{"key":"a","value":{large}}}]}}"#);
    let answer = pair.ask(&raw_call("count", &changes));
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("more than 64 bits"), "{answer}");
}
