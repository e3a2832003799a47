//! Tool lists that the guard asks for itself.

use serde_json::{Value, json};
use toolbond_guard::Settings;
use toolbond_harness::mcp::call;

use crate::contract::{ARRAY, modern};
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

impl Pair {
    /// The guard asks for a page, and the server answers: what it was asked.
    fn fetches(&mut self, tools: &str, next: Option<&str>) -> Value {
        let asked = self.server.json();
        self.server.send(&page(&asked, tools, next));
        asked
    }
}

/// A guard that was sent a call, with wrong arguments for the tool that is not listed yet.
fn called() -> Pair {
    let mut pair = Pair::greeted(Settings::default(), "2025-11-25");
    pair.client.send(&call(1, "days", &json!({ "n": "x" })));
    pair
}

#[test]
fn a_call_to_an_unseen_tool_fetches_all_pages_first() {
    let mut pair = called();
    pair.fetches("[]", Some("2"));
    assert_eq!(pair.fetches(ARRAY, None)["params"], json!({ "cursor": "2" }));
    assert_eq!(pair.client.json()["result"]["isError"], true);
    // From here on it is known, until the server says that it changed.
    pair.passes(&call(2, "days", &json!({})));
    pair.comes(CHANGED);
    pair.client.send(&call(3, "days", &json!({})));
    assert_eq!(pair.server.json()["method"], "tools/list");
}

/// What a call says about its client does not make the list fail for another call.
#[test]
fn a_list_that_fails_for_one_client_is_asked_for_again() {
    let mut settings = Settings::default();
    settings.translate.eras = false;
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
    pair.client.send(&with_meta(1, odd));
    let asked = pair.server.json();
    let sent = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {} });
    assert_eq!(asked["params"]["_meta"], sent);
    let capable = json!({ "io.modelcontextprotocol/clientCapabilities": { "roots": {} } });
    pair.client.send(&with_meta(2, capable));
    // The list is asked for in the name of each of them.
    let second = pair.server.json();
    let refusal = json!({ "jsonrpc": "2.0", "id": asked["id"],
        "error": { "code": -32602, "message": "no" } });
    pair.server.send(&refusal.to_string());
    assert_eq!(pair.server.json()["id"], 1);
    pair.server.send(&page(&second, ARRAY, None));
    let refused = pair.client.json();
    assert_eq!((&refused["id"], &refused["result"]["isError"]), (&json!(2), &json!(true)));
}

#[test]
fn a_fetch_says_who_the_client_is_and_not_how_far_it_got() {
    let mut pair = Pair::discovered(Settings::default());
    pair.client.send(&modern(1, "tools/call", json!({ "name": "days" })));
    let asked = pair.server.json();
    let meta = &asked["params"]["_meta"];
    assert_eq!(meta["io.modelcontextprotocol/protocolVersion"], "2026-07-28");
    assert_eq!(meta.get("progressToken"), None);
    // A server that cannot list its tools is not in the way of its calls.
    let refusal = json!({ "jsonrpc": "2.0", "id": asked["id"],
        "error": { "code": -32601, "message": "" } });
    pair.server.send(&refusal.to_string());
    assert_eq!(pair.server.json()["method"], "tools/call");
    assert!(pair.said()[0].contains("could not fetch the tool list"));
}

#[test]
fn a_list_that_changes_while_it_is_asked_for_is_asked_for_again() {
    let mut pair = called();
    // Between two pages, and before the only one.
    pair.fetches("[]", Some("2"));
    for is_first in [false, true] {
        let asked = pair.server.json();
        assert_eq!(asked.get("params").is_none(), is_first, "then from the first page on");
        pair.comes(CHANGED);
        pair.server.send(&page(&asked, "[]", None));
    }
    pair.fetches(ARRAY, None);
    assert_eq!(pair.client.json()["result"]["isError"], true);
    assert_eq!(pair.said().len(), 1, "{:?}", pair.said());
}

#[test]
fn calls_are_judged_by_the_last_list_of_a_server_whose_list_always_changes() {
    let mut pair = called();
    for _ in 0..3 {
        let asked = pair.server.json();
        pair.comes(CHANGED);
        pair.server.send(&page(&asked, ARRAY, None));
    }
    assert_eq!(pair.client.json()["result"]["isError"], true);
    assert!(pair.said()[0].contains("changed each of 3 times"), "{:?}", pair.said());
    pair.passes(&call(2, "days", &json!({ "n": 1 })));
    pair.passes(&call(3, "unknown", &json!({})));
}

#[test]
fn a_list_without_an_end_is_read_once() {
    let mut pair = Pair::greeted(Settings::default(), "2025-11-25");
    pair.client.send(&call(1, "unknown", &json!({})));
    for n in 1..=1000 {
        pair.fetches(if n == 7 { ARRAY } else { "[]" }, Some(&n.to_string()));
    }
    let refused = |answer: Value| {
        let text = answer["error"]["message"].as_str().unwrap().to_owned();
        assert!(text.contains("has no end"), "{text}");
    };
    refused(pair.client.json());
    refused(pair.ask(&call(2, "another", &json!({}))));
    pair.passes(&call(3, "days", &json!({ "n": 1 })));
    // Until it changes. A cursor that leads to itself is no way on, either.
    pair.comes(CHANGED);
    pair.client.send(&call(4, "unknown", &json!({})));
    for _ in 0..2 {
        pair.fetches("[]", Some("same"));
    }
    refused(pair.client.json());
}
