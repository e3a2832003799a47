//! Texts that two readers read differently, and numbers that a reader changes.

use serde_json::{Value, json};
use toolbond_contract::Mode;
use toolbond_guard::Settings;

use crate::pair::Pair;

const TOOL: &str = r#"[{"name":"t","description":"A tool.","inputSchema":{"type":"object","properties":{"n":{"type":"number","maximum":1}}},"outputSchema":{}}]"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#;

/// What the client gets for a result that is `members`.
async fn result(revision: &str, tools: &str, members: &str) -> Value {
    let mut pair = Pair::new(Settings::default());
    pair.initialize(revision).await;
    pair.list(tools).await;
    pair.passes(CALL).await;
    pair.server.send(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{{members}}}}}"#)).await;
    pair.client.json().await["result"].clone()
}

#[tokio::test]
async fn a_text_mirror_keeps_the_text_of_numbers() {
    let content = r#""structuredContent":[ 123456789012345678901234567890, 1.50, "a \" b" ]"#;
    let text = r#"[123456789012345678901234567890,1.50,"a \" b"]"#;
    for revision in ["2025-11-25", "2026-07-28"] {
        let got = result(revision, TOOL, content).await;
        assert_eq!(got["content"][0]["text"], text, "{revision}");
    }
    // To a legacy client the structured content of an error leaves as text.
    let error = format!(r#""isError":true,"content":[{{"type":"text","text":"x"}}],{content}"#);
    assert_eq!(result("2025-11-25", TOOL, &error).await["content"][1]["text"], text);
    // Taken out of an envelope.
    let wrapped = TOOL.replace(
        r#""outputSchema":{}"#,
        r#""outputSchema":{"type":"object","properties":{"result":{}},"required":["result"],"x-fastmcp-wrap-result":true}"#,
    );
    let content = r#""structuredContent":{ "result": [ 12345678901234567890123 ] }"#;
    let got = result("2026-07-28", &wrapped, content).await;
    assert_eq!(got["content"][0]["text"], "[12345678901234567890123]");
    assert!(got["structuredContent"].is_array());
}

#[tokio::test]
async fn arguments_that_name_a_member_twice_never_arrive() {
    let twice = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"n":5,"n":0}}}"#;
    let mut settings = Settings::default();
    let mut pair = Pair::new(settings.clone());
    pair.initialize("2025-11-25").await;
    pair.list(TOOL).await;
    pair.client.send(twice).await;
    let answer = pair.client.json().await;
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("duplicate key `n`"), "{text}");

    settings.arguments = Mode::Warn;
    let mut pair = Pair::new(settings);
    pair.initialize("2025-11-25").await;
    pair.list(TOOL).await;
    pair.passes(twice).await;
    assert!(pair.said()[0].contains("duplicate key `n`"), "{:?}", pair.said());
}

#[tokio::test]
async fn what_is_too_long_to_be_judged_on_the_spot_is_judged_all_the_same() {
    let tools = r#"[{"name":"t","inputSchema":{"type":"object","properties":{"a":{"items":{"type":"integer"}}}},"outputSchema":{"type":"array","items":{"type":"integer"}}}]"#;
    let mut settings = Settings::default();
    settings.results = Mode::Enforce;
    let mut pair = Pair::new(settings);
    pair.initialize("2025-11-25").await;
    pair.list(tools).await;
    // Few bytes and many steps, and many bytes.
    for (id, count) in [(1, 8_000), (2, 60_000)] {
        let call = |items: &[Value]| {
            let params = json!({ "name": "t", "arguments": { "a": items } });
            json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params })
                .to_string()
        };
        let mut items: Vec<Value> = (0..count).map(|_| json!(7)).collect();
        pair.passes(&call(&items)).await;
        let answer = |items: &[Value]| {
            let result = json!({ "content": [{ "type": "text", "text": "" }],
                "structuredContent": items });
            json!({ "jsonrpc": "2.0", "id": id, "result": result }).to_string()
        };
        pair.server.send(&answer(&items)).await;
        assert_eq!(pair.client.json().await["result"]["structuredContent"]["result"][0], 7);
        pair.passes(&call(&items)).await;
        items.push(json!("x"));
        pair.server.send(&answer(&items)).await;
        assert_eq!(pair.client.json().await["result"]["isError"], true);
        pair.client.send(&call(&items)).await;
        assert_eq!(pair.client.json().await["result"]["isError"], true);
    }
}

#[tokio::test]
async fn what_content_says_is_no_reason_to_withhold_a_result() {
    let mut settings = Settings::default();
    settings.results = Mode::Enforce;
    let mut pair = Pair::new(settings);
    pair.initialize("2026-07-28").await;
    pair.list(r#"[{"name":"t","inputSchema":{"type":"object"}}]"#).await;
    for length in [10, 70_000] {
        let call = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#;
        pair.passes(call).await;
        // Half of a character that was cut.
        let text = format!("{}\\ud83d", "x".repeat(length));
        let content = format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#);
        pair.comes(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{content}}}"#)).await;
    }
}
