//! Tool lists that the guard asks for itself.

use std::time::Duration;

use serde_json::{Value, json};
use toolbond_guard::Settings;

use crate::contract::{ARRAY, call, modern};
use crate::pair::Pair;

const CHANGED: &str = r#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#;

/// The answer to `asked`: a page of the tool list.
pub(crate) fn page(asked: &Value, tools: &str, next: Option<&str>) -> String {
    assert_eq!(asked["method"], "tools/list");
    let tools: Value = serde_json::from_str(tools).unwrap();
    let mut result = json!({ "tools": tools });
    if let Some(next) = next {
        result["nextCursor"] = next.into();
    }
    json!({ "jsonrpc": "2.0", "id": asked["id"], "result": result }).to_string()
}

#[tokio::test]
async fn a_call_to_an_unseen_tool_fetches_all_pages_first() {
    let mut pair = Pair::new(Settings::default());
    pair.initialize("2025-11-25").await;
    pair.client.send(&call(1, "days", &json!({ "n": "x" }))).await;
    let asked = pair.server.json().await;
    assert_eq!(asked["method"], "tools/list");
    pair.server.send(&page(&asked, "[]", Some("2"))).await;
    let asked = pair.server.json().await;
    assert_eq!(asked["params"], json!({ "cursor": "2" }));
    pair.server.send(&page(&asked, ARRAY, None)).await;
    assert_eq!(pair.client.json().await["result"]["isError"], true);
    // From here on it is known, until the server says that it changed.
    pair.passes(&call(2, "days", &json!({}))).await;
    pair.comes(CHANGED).await;
    pair.client.send(&call(3, "days", &json!({}))).await;
    assert_eq!(pair.server.json().await["method"], "tools/list");
}

/// What a call says about its client does not make the list fail for another call.
#[tokio::test]
async fn a_list_that_fails_for_one_client_is_asked_for_again() {
    let mut settings = Settings::default();
    settings.bridge_eras = false;
    let mut pair = Pair::new(settings);
    let with_meta = |id: u32, meta: Value| {
        let mut call: Value =
            serde_json::from_str(&call(id, "days", &json!({ "n": "x" }))).unwrap();
        call["params"]["_meta"] = meta;
        call["params"]["_meta"]["io.modelcontextprotocol/protocolVersion"] = "2026-07-28".into();
        call.to_string()
    };
    let odd = json!({ "io.modelcontextprotocol/clientCapabilities": 5,
        "io.modelcontextprotocol/logLevel": 5 });
    pair.client.send(&with_meta(1, odd)).await;
    let asked = pair.server.json().await;
    let sent = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {} });
    assert_eq!(asked["params"]["_meta"], sent);
    let capable = json!({ "io.modelcontextprotocol/clientCapabilities": { "roots": {} } });
    pair.client.send(&with_meta(2, capable)).await;
    let refusal = json!({ "jsonrpc": "2.0", "id": asked["id"],
        "error": { "code": -32602, "message": "no" } });
    pair.server.send(&refusal.to_string()).await;
    // The first call is forwarded, and the list is asked for in the name of the second.
    assert_eq!(pair.server.json().await["id"], 1);
    let asked = pair.server.json().await;
    pair.server.send(&page(&asked, ARRAY, None)).await;
    let refused = pair.client.json().await;
    assert_eq!((&refused["id"], &refused["result"]["isError"]), (&json!(2), &json!(true)));
}

#[tokio::test(start_paused = true)]
async fn a_list_that_does_not_come_is_waited_for_once() {
    let mut pair = Pair::new(Settings::default());
    for id in 1..=3 {
        pair.client.send(&call(id, "days", &json!({}))).await;
    }
    assert_eq!(pair.server.json().await["method"], "tools/list");
    for _ in 1..=3 {
        assert_eq!(pair.server.json().await["method"], "tools/call");
    }
    // Nor is it waited for at the next call, unless it changes, or a while has passed.
    pair.passes(&call(4, "days", &json!({}))).await;
    assert_eq!(pair.said().len(), 1, "{:?}", pair.said());
    pair.comes(CHANGED).await;
    pair.client.send(&call(5, "days", &json!({}))).await;
    assert_eq!(pair.server.json().await["method"], "tools/list");
    assert_eq!(pair.server.json().await["id"], 5);
    tokio::time::advance(Duration::from_secs(31)).await;
    pair.client.send(&call(6, "days", &json!({}))).await;
    assert_eq!(pair.server.json().await["method"], "tools/list");
}

#[tokio::test]
async fn a_fetch_says_who_the_client_is_and_not_how_far_it_got() {
    let mut pair = Pair::new(Settings::default());
    pair.discover().await;
    pair.client.send(&modern(1, "tools/call", json!({ "name": "days" }))).await;
    let asked = pair.server.json().await;
    let meta = &asked["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(meta.get("progressToken"), None);
    // A server that cannot list its tools is not in the way of its calls.
    pair.server
        .send(&json!({ "jsonrpc": "2.0", "id": asked["id"], "error": { "code": -32601, "message": "" } }).to_string())
        .await;
    assert_eq!(pair.server.json().await["method"], "tools/call");
    assert!(pair.said()[0].contains("could not fetch the tool list"));
}

#[tokio::test]
async fn a_list_that_changes_while_it_is_asked_for_is_asked_for_again() {
    let mut pair = Pair::new(Settings::default());
    pair.initialize("2025-11-25").await;
    pair.client.send(&call(1, "days", &json!({ "n": "x" }))).await;
    // Between two pages, and before the only one.
    let asked = pair.server.json().await;
    pair.server.send(&page(&asked, "[]", Some("2"))).await;
    let asked = pair.server.json().await;
    pair.comes(CHANGED).await;
    pair.server.send(&page(&asked, "[]", None)).await;
    let asked = pair.server.json().await;
    assert_eq!(asked.get("params"), None, "from the first page on");
    pair.comes(CHANGED).await;
    pair.server.send(&page(&asked, "[]", None)).await;
    let asked = pair.server.json().await;
    pair.server.send(&page(&asked, ARRAY, None)).await;
    assert_eq!(pair.client.json().await["result"]["isError"], true);
    assert_eq!(pair.said().len(), 1, "{:?}", pair.said());
}

#[tokio::test]
async fn calls_are_judged_by_the_last_list_of_a_server_whose_list_always_changes() {
    let mut pair = Pair::new(Settings::default());
    pair.initialize("2025-11-25").await;
    pair.client.send(&call(1, "days", &json!({ "n": "x" }))).await;
    for _ in 0..3 {
        let asked = pair.server.json().await;
        pair.comes(CHANGED).await;
        pair.server.send(&page(&asked, ARRAY, None)).await;
    }
    assert_eq!(pair.client.json().await["result"]["isError"], true);
    assert!(pair.said()[0].contains("changed each of 3 times"), "{:?}", pair.said());
    pair.passes(&call(2, "days", &json!({ "n": 1 }))).await;
    pair.passes(&call(3, "unknown", &json!({}))).await;
}

#[tokio::test]
async fn a_list_without_an_end_is_read_once() {
    let mut pair = Pair::new(Settings::default());
    pair.initialize("2025-11-25").await;
    pair.client.send(&call(1, "unknown", &json!({}))).await;
    for n in 1..=1000 {
        let asked = pair.server.json().await;
        let tools = if n == 7 { ARRAY } else { "[]" };
        pair.server.send(&page(&asked, tools, Some(&n.to_string()))).await;
    }
    let refused = |answer: Value| {
        let text = answer["error"]["message"].as_str().unwrap().to_owned();
        assert!(text.contains("has no end"), "{text}");
    };
    refused(pair.client.json().await);
    pair.client.send(&call(2, "another", &json!({}))).await;
    refused(pair.client.json().await);
    pair.passes(&call(3, "days", &json!({ "n": 1 }))).await;
    // Until it changes. A cursor that leads to itself is no way on, either.
    pair.comes(CHANGED).await;
    pair.client.send(&call(4, "unknown", &json!({}))).await;
    for _ in 0..2 {
        let asked = pair.server.json().await;
        pair.server.send(&page(&asked, "[]", Some("same"))).await;
    }
    refused(pair.client.json().await);
}
