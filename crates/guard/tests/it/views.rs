//! Tools in the form of a target, and calls of them.

use serde_json::{Value, json};
use toolbond_contract::Mode;
use toolbond_guard::Settings;
use toolbond_targets::{ViewFor, target};

use crate::contract::{call, modern};
use crate::pair::Pair;
use crate::scripts::{OverHttp, Stage as _};

/// Gemini takes neither `/` in names nor `additionalProperties`.
const TOOLS: &str = r#"[{"name":"files/read","description":"Reads.","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"n":{"type":"integer"}},"required":["path"],"additionalProperties":false}}]"#;

/// A tool that every target takes as it is.
const PLAIN: &str = r#"[{ "name":"plain","description":"\u0041.", "inputSchema":{"type":"object","properties":{"a":{"type":"string","description":"A."}},"required":["a"]}}]"#;

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

#[tokio::test]
async fn a_list_leaves_as_a_view_and_calls_come_back() {
    let mut pair = Pair::new(viewed());
    pair.initialize("2025-11-25").await;
    let (tool, name) = only(&pair.list(TOOLS).await);
    assert_ne!(name, "files/read");
    assert!(tool["inputSchema"].get("additionalProperties").is_none(), "{tool}");
    // Only the name changes on the way.
    pair.client.send(&call(1, &name, &json!({ "path": "a", "n": 1 }))).await;
    let expected = call(1, "files/read", &json!({ "path": "a", "n": 1 }));
    assert_eq!(pair.server.line().await.trim_end(), expected);
    pair.comes(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#).await;
    // Clients may remember the tool's own name.
    pair.passes(&call(2, "files/read", &json!({ "path": "a" }))).await;
}

#[tokio::test]
async fn the_full_schema_judges_calls_of_a_view() {
    let mut pair = Pair::new(viewed());
    pair.initialize("2025-11-25").await;
    let (_, name) = only(&pair.list(TOOLS).await);
    for arguments in [
        r#"{"path":"a","more":1}"#,
        r#"{"path":1}"#,
        r#"{"n":1}"#,
        r#"{"path":"a","path":"b"}"#,
        r#"{"path":"\ud800"}"#,
        "[]",
        "null",
    ] {
        let text = format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"{name}","arguments":{arguments}}}}}"#
        );
        pair.client.send(&text).await;
        let answer = pair.client.json().await;
        assert_eq!(answer["result"]["isError"], true, "{arguments}: {answer}");
    }
    // What can only mean one thing is repaired after it was restored.
    pair.client.send(&call(2, &name, &json!({ "path": "a", "n": "7" }))).await;
    let expected = call(2, "files/read", &json!({ "path": "a", "n": 7 }));
    assert_eq!(pair.server.line().await.trim_end(), expected);
}

#[tokio::test]
async fn a_tool_that_needs_no_view_passes_byte_for_byte() {
    let mut pair = Pair::new(viewed());
    pair.initialize("2025-11-25").await;
    pair.passes(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    pair.comes(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools": {PLAIN}}}}}"#)).await;
    pair.passes(r#"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"pl\u0061in","arguments":{ "a":"\u0062"}}}"#)
        .await;
}

#[tokio::test]
async fn a_call_before_the_list_is_a_call_of_the_view() {
    let mut pair = Pair::new(viewed());
    pair.initialize("2025-11-25").await;
    let (_, name) = only(&pair.list(TOOLS).await);
    pair.comes(r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#).await;
    pair.client.send(&call(1, &name, &json!({ "path": "a" }))).await;
    let asked = pair.server.json().await;
    assert_eq!(asked["method"], "tools/list");
    let tools: Value = serde_json::from_str(TOOLS).unwrap();
    let answer = json!({ "jsonrpc": "2.0", "id": asked["id"], "result": { "tools": tools } });
    pair.server.send(&answer.to_string()).await;
    assert_eq!(pair.server.json().await["params"]["name"], "files/read");
}

#[tokio::test]
async fn the_name_of_the_client_decides() {
    let mut settings = Settings::default();
    settings.view_for_clients =
        [("narrow".to_owned(), ViewFor::Target(target("gemini").unwrap()))].into();
    for (client, is_viewed) in [("narrow", true), ("wide", false)] {
        let mut pair = Pair::new(settings.clone());
        let hello = format!(
            r#"{{"jsonrpc":"2.0","id":0,"method":"initialize","params":{{"clientInfo":{{"name":"{client}","version":"1"}}}}}}"#
        );
        pair.passes(&hello).await;
        pair.comes(r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}"#).await;
        let (_, name) = only(&pair.list(TOOLS).await);
        assert_eq!(name != "files/read", is_viewed, "{client}");
    }
    // From 2026-07-28 on each request says whose it is.
    let mut pair = Pair::new(settings);
    pair.discover().await;
    for (client, is_viewed) in [("narrow", true), ("wide", false), ("narrow", true)] {
        let mut request: Value = serde_json::from_str(&modern(1, "tools/list", json!({}))).unwrap();
        request["params"]["_meta"]["io.modelcontextprotocol/clientInfo"]["name"] = client.into();
        pair.passes(&request.to_string()).await;
        pair.server
            .send(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":{TOOLS}}}}}"#))
            .await;
        let (_, name) = only(&pair.client.json().await);
        assert_eq!(name != "files/read", is_viewed, "{client}");
        let mut request: Value = serde_json::from_str(&modern(
            2,
            "tools/call",
            json!({ "name": name, "arguments": { "path": "a" } }),
        ))
        .unwrap();
        request["params"]["_meta"]["io.modelcontextprotocol/clientInfo"]["name"] = client.into();
        pair.client.send(&request.to_string()).await;
        assert_eq!(pair.server.json().await["params"]["name"], "files/read");
        pair.comes(r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#).await;
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

#[tokio::test]
async fn names_stay_distinct_across_pages() {
    let mut pair = Pair::new(viewed());
    pair.initialize("2025-11-25").await;
    let pages = [
        vec![tool("a/b", "one"), tool("a b", "two"), tool("c/d", "three")],
        vec![tool("a_b", "four"), tool("c_d", "five"), tool("c d", "six")],
    ];
    let mut names = Vec::new();
    for (index, page) in pages.iter().enumerate() {
        let params = if index == 0 { json!({}) } else { json!({ "cursor": "2" }) };
        let request =
            json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": params });
        pair.passes(&request.to_string()).await;
        let mut result = json!({ "tools": page });
        if index == 0 {
            result["nextCursor"] = "2".into();
        }
        let answer = json!({ "jsonrpc": "2.0", "id": 1, "result": result });
        pair.server.send(&answer.to_string()).await;
        let list = pair.client.json().await;
        let tools = list["result"]["tools"].as_array().unwrap();
        assert_eq!(tools.len(), page.len(), "{list}");
        names.extend(tools.iter().map(|tool| tool["name"].as_str().unwrap().to_owned()));
    }
    let mut distinct = names.clone();
    distinct.sort();
    distinct.dedup();
    assert_eq!(distinct.len(), names.len(), "{names:?}");
    // Each name is that of its own tool: the arguments of another are refused.
    for (name, own) in names.iter().zip(pages.iter().flatten()) {
        let property = own["inputSchema"]["required"][0].as_str().unwrap();
        pair.client.send(&call(2, name, &json!({ property: "x" }))).await;
        assert_eq!(pair.server.json().await["params"]["name"], own["name"]);
        pair.comes(r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#).await;
    }
}

#[tokio::test]
async fn hidden_tools_stay_hidden() {
    let mut settings = viewed();
    settings.overrides.insert("files/read".to_owned(), {
        let mut hidden = toolbond_guard::Override::default();
        hidden.hide = true;
        hidden
    });
    let mut pair = Pair::new(settings);
    pair.initialize("2025-11-25").await;
    let list = pair.list(&json!([tool("files/read", "a"), tool("b", "b")]).to_string()).await;
    assert_eq!(only(&list).1, "b");
    pair.client.send(&call(1, "files/read", &json!({ "a": "x" }))).await;
    let answer = pair.client.json().await;
    assert!(answer["error"]["message"].as_str().unwrap().contains("hides it"), "{answer}");
    // What would be its name is nobody's, and the server does not have it either.
    pair.passes(&call(2, "files_read", &json!({ "a": "x" }))).await;
}

#[tokio::test]
async fn calls_are_restored_although_nothing_is_checked() {
    let mut settings = Settings::off();
    settings.view_for = viewed().view_for;
    assert_eq!(settings.arguments, Mode::Off);
    let mut pair = Pair::new(settings);
    pair.initialize("2025-11-25").await;
    let (_, name) = only(&pair.list(TOOLS).await);
    assert_ne!(name, "files/read");
    pair.client.send(&call(1, &name, &json!({ "path": 1 }))).await;
    let expected = call(1, "files/read", &json!({ "path": 1 }));
    assert_eq!(pair.server.line().await.trim_end(), expected);
}

#[tokio::test]
async fn large_arguments_are_restored_too() {
    let mut pair = Pair::new(viewed());
    pair.initialize("2025-11-25").await;
    let (_, name) = only(&pair.list(TOOLS).await);
    let large = "x".repeat(100_000);
    pair.client.send(&call(1, &name, &json!({ "path": large }))).await;
    let expected = call(1, "files/read", &json!({ "path": large }));
    assert_eq!(pair.server.line().await.trim_end(), expected);
    pair.client.send(&call(2, &name, &json!({ "path": large, "more": 1 }))).await;
    assert_eq!(pair.client.json().await["result"]["isError"], true);
}

#[tokio::test]
async fn the_log_says_once_what_a_list_became() {
    let mut pair = Pair::new(viewed());
    pair.initialize("2025-11-25").await;
    for _ in 0..2 {
        pair.list(TOOLS).await;
    }
    let said = pair.said();
    let about = said.iter().filter(|line| line.contains("toolbond view --for gemini"));
    assert_eq!(about.count(), 1, "{said:?}");
}

/// Alternatives that contain each other: which one a value is, shows only after everything in it.
#[tokio::test]
async fn alternatives_that_contain_each_other_hold_up_nobody() {
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
    let mut tree = json!("leaf");
    for _ in 0..60 {
        tree = json!({ "left": tree, "kind": "other" });
    }
    let mut settings = Settings::default();
    settings.view_for = ViewFor::Target(target("openai-strict").unwrap());
    let mut pair = Pair::new(settings);
    pair.initialize("2025-11-25").await;
    pair.list(&json!([tool]).to_string()).await;
    pair.client.send(&call(1, "parse", &json!({ "tree": tree, "map": null }))).await;
    assert_eq!(pair.client.json().await["result"]["isError"], true);
}

#[tokio::test]
async fn headers_name_the_tool_of_the_server() {
    let mut settings = viewed();
    settings.bridge_eras = false;
    let mut stage = OverHttp::new(settings, "2026-07-28").await;
    stage.client_sends(&modern(1, "tools/list", json!({}))).await;
    stage.server_receives().await;
    stage
        .server_sends(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":{TOOLS}}}}}"#))
        .await;
    let list: Value = serde_json::from_str(&stage.client_receives().await).unwrap();
    let (_, name) = only(&list);
    let plain = stage.client.headers.clone();
    // What contradicts the body reaches the server, which has to refuse it.
    for (header, expected) in [(name.as_str(), "files/read"), ("other", "other")] {
        stage.client.headers = format!("{plain}mcp-method: tools/call\r\nmcp-name: {header}\r\n");
        let call = json!({ "name": name, "arguments": { "path": "a" } });
        stage.client_sends(&modern(2, "tools/call", call)).await;
        let body: Value = serde_json::from_str(&stage.server_receives().await).unwrap();
        assert_eq!(body["params"]["name"], "files/read");
        assert!(stage.head.contains(&format!("mcp-name: {expected}\r\n")), "{}", stage.head);
        stage.server_sends(r#"{"jsonrpc":"2.0","id":2,"result":{"content":[]}}"#).await;
        stage.client_receives().await;
    }
}

#[tokio::test]
async fn a_session_on_http_knows_its_client() {
    let mut settings = Settings::default();
    settings.view_for_clients = [("narrow".to_owned(), viewed().view_for)].into();
    settings.bridge_eras = false;
    let mut stage = OverHttp::new(settings, "2025-11-25").await;
    let version = "mcp-protocol-version: 2025-11-25\r\n";
    let mut lists = Vec::new();
    // Both open their sessions before either lists its tools.
    for client in ["narrow", "wide"] {
        stage.client.headers = String::new();
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": { "clientInfo": { "name": client, "version": "1" } } });
        stage.client_sends(&hello.to_string()).await;
        stage.server_receives().await;
        stage.more = format!("mcp-session-id: {client}\r\n");
        stage
            .server_sends(r#"{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25"}}"#)
            .await;
        stage.client_receives().await;
        stage.more = String::new();
    }
    for session in ["mcp-session-id: narrow\r\n", "mcp-session-id: wide\r\n", ""] {
        stage.client.headers = format!("{session}{version}");
        stage.client_sends(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
        stage.server_receives().await;
        stage
            .server_sends(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":{TOOLS}}}}}"#))
            .await;
        let list: Value = serde_json::from_str(&stage.client_receives().await).unwrap();
        lists.push(only(&list).1 != "files/read");
    }
    assert_eq!(lists, [true, false, false]);
}

#[tokio::test]
async fn an_integer_that_would_change_is_refused() {
    let tool = json!({ "name": "count", "description": "Counts.", "inputSchema": {
        "type": "object",
        "properties": {
            "n": { "type": "integer", "description": "N." },
            "counts": { "type": "object", "description": "C.", "additionalProperties": { "type": "integer" } },
        },
    } });
    let mut pair = Pair::new(viewed());
    pair.initialize("2025-11-25").await;
    let (tool, _) = only(&pair.list(&json!([tool]).to_string()).await);
    assert_eq!(tool["inputSchema"]["properties"]["counts"]["type"], "array", "{tool}");
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"count","arguments":{arguments}}}}}"#
        )
    };
    let (large, small) = ("12345678901234567890123", "1234567890123456789");
    // Where nothing has another form, every digit stays.
    pair.client
        .send(&call(&format!(r#"{{"n":{large},"counts":[{{"key":"a","value":{small}}}]}}"#)))
        .await;
    let expected = call(&format!(r#"{{"n":{large},"counts":{{"a":{small}}}}}"#));
    assert_eq!(pair.server.line().await.trim_end(), expected);
    pair.comes(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#).await;
    pair.client.send(&call(&format!(r#"{{"counts":[{{"key":"a","value":{large}}}]}}"#))).await;
    let answer = pair.client.json().await;
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("more than 64 bits"), "{answer}");
}
