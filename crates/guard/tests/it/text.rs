//! Texts that two readers read differently, and numbers that a reader changes.

use serde_json::{Value, json};
use toolbond_contract::Mode;
use toolbond_guard::Settings;
use toolbond_harness::mcp;

use crate::contract::strict;
use crate::pair::{Pair, result};

const TOOL: &str = r#"[{"name":"t","description":"A tool.","inputSchema":{"type":"object","properties":{"n":{"type":"number","maximum":1}}},"outputSchema":{}}]"#;
const CALL: &str = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t"}}"#;

/// What the client gets for a result that is `members`.
fn received(revision: &str, tools: &str, members: &str) -> Value {
    let mut pair = Pair::listed(Settings::default(), revision, tools);
    pair.passes(CALL);
    pair.tell(&result(1, &format!("{{{members}}}")))["result"].clone()
}

#[test]
fn a_text_mirror_keeps_the_text_of_numbers() {
    let content = r#""structuredContent":[ 123456789012345678901234567890, 1.50, "a \" b" ]"#;
    let text = r#"[123456789012345678901234567890,1.50,"a \" b"]"#;
    for revision in ["2025-11-25", "2026-07-28"] {
        let got = received(revision, TOOL, content);
        assert_eq!(got["content"][0]["text"], text, "{revision}");
    }
    // To a legacy client the structured content of an error leaves as text.
    let error = format!(r#""isError":true,"content":[{{"type":"text","text":"x"}}],{content}"#);
    assert_eq!(received("2025-11-25", TOOL, &error)["content"][1]["text"], text);
    // Taken out of an envelope.
    let wrapped = TOOL.replace(
        r#""outputSchema":{}"#,
        r#""outputSchema":{"type":"object","properties":{"result":{}},"required":["result"],"x-fastmcp-wrap-result":true}"#,
    );
    let content = r#""structuredContent":{ "result": [ 12345678901234567890123 ] }"#;
    let got = received("2026-07-28", &wrapped, content);
    assert_eq!(got["content"][0]["text"], "[12345678901234567890123]");
    assert!(got["structuredContent"].is_array());
}

#[test]
fn arguments_that_name_a_member_twice_never_arrive() {
    let twice = r#"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"t","arguments":{"n":5,"n":0}}}"#;
    let mut settings = Settings::default();
    let mut pair = Pair::listed(settings.clone(), "2025-11-25", TOOL);
    let answer = pair.refuses(twice);
    let text = answer["result"]["content"][0]["text"].as_str().unwrap();
    assert!(text.contains("duplicate key `n`"), "{text}");

    settings.arguments = Mode::Warn;
    let mut pair = Pair::listed(settings, "2025-11-25", TOOL);
    pair.passes(twice);
    assert!(pair.said()[0].contains("duplicate key `n`"), "{:?}", pair.said());
}

#[test]
fn what_is_too_long_to_be_judged_on_the_spot_is_judged_all_the_same() {
    let tools = r#"[{"name":"t","inputSchema":{"type":"object","properties":{"a":{"items":{"type":"integer"}}}},"outputSchema":{"type":"array","items":{"type":"integer"}}}]"#;
    let mut pair = Pair::listed(strict(), "2025-11-25", tools);
    let call = |items: &[Value]| mcp::call(1, "t", &json!({ "a": items }));
    let answer = |items: &[Value]| {
        let content = json!([{ "type": "text", "text": "" }]);
        result(1, &json!({ "content": content, "structuredContent": items }).to_string())
    };
    // Few bytes and many steps, and many bytes.
    for count in [8_000, 60_000] {
        let mut items = vec![json!(7); count];
        pair.passes(&call(&items));
        assert_eq!(pair.tell(&answer(&items))["result"]["structuredContent"]["result"][0], 7);
        pair.passes(&call(&items));
        items.push(json!("x"));
        assert_eq!(pair.tell(&answer(&items))["result"]["isError"], true);
        pair.refuses(&call(&items));
    }
}

#[test]
fn what_content_says_is_no_reason_to_withhold_a_result() {
    let tools = r#"[{"name":"t","inputSchema":{"type":"object"}}]"#;
    let mut pair = Pair::listed(strict(), "2026-07-28", tools);
    for length in [10, 70_000] {
        pair.passes(CALL);
        // Half of a character that was cut.
        let text = format!("{}\\ud83d", "x".repeat(length));
        pair.comes(&result(1, &format!(r#"{{"content":[{{"type":"text","text":"{text}"}}]}}"#)));
    }
}
