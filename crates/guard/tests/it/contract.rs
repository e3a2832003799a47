//! What the contract changes.

use serde_json::{Value, json};
use toolbond_contract::{Mode, Policy};
use toolbond_guard::{Override, Settings};
use toolbond_schema::{Limits, Schema};

use crate::fetch::page;
use crate::pair::Pair;

pub(crate) const ARRAY: &str = r#"[{"name":"days","description":"Days.","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}},"outputSchema":{"type":"array","items":{"type":"string"}}}]"#;

pub(crate) fn call(id: u32, name: &str, arguments: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": name, "arguments": arguments } })
    .to_string()
}

pub(crate) fn modern(id: u32, method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "c" },
        "progressToken": 9,
    });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

#[tokio::test]
async fn an_array_goes_into_the_envelope_for_a_legacy_client() {
    let mut pair = Pair::new(Settings::default());
    pair.initialize("2025-06-18").await;
    let list = pair.list(ARRAY).await;
    assert_eq!(list["result"]["tools"][0]["outputSchema"]["type"], "object");
    pair.passes(&call(1, "days", &json!({}))).await;
    pair.server
        .send(r#"{"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":["m", "t"],"z":1e2}}"#)
        .await;
    assert_eq!(
        pair.client.line().await,
        concat!(
            r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"[\"m\",\"t\"]"}],"#,
            r#""structuredContent":{"result":["m", "t"]},"z":1e2,"#,
            r#""_meta":{"dev.toolbond/projection":{"form":"envelope"}}}}"#,
            "\n"
        )
    );
}

#[tokio::test]
async fn each_request_is_answered_in_its_own_revision() {
    let mut pair = Pair::new(Settings::default());
    pair.discover().await;
    pair.passes(&modern(1, "tools/list", json!({}))).await;
    pair.comes(&format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":{ARRAY}}}}}"#)).await;
    pair.passes(&modern(2, "tools/call", json!({ "name": "days" }))).await;
    pair.comes(r#"{"jsonrpc":"2.0","id":2,"result":{"content":[{"type":"text","text":"[]"}],"structuredContent":[]}}"#)
        .await;
}

#[tokio::test]
async fn a_marked_envelope_comes_off_for_a_natural_client() {
    let mut pair = Pair::new(Settings::default());
    pair.initialize("2026-07-28").await;
    let list = pair
        .list(r#"[{"name":"n","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"result":{"type":"integer"}},"required":["result"],"x-fastmcp-wrap-result":true}}]"#)
        .await;
    assert_eq!(list["result"]["tools"][0]["outputSchema"]["type"], "integer");
    pair.passes(&call(1, "n", &json!({}))).await;
    pair.server
        .send(r#"{"jsonrpc":"2.0","id":1,"result":{"_meta":{"fastmcp":{"wrap_result":true}},"content":[{"type":"text","text":"42"}],"structuredContent":{"result":42}}}"#)
        .await;
    assert_eq!(pair.client.json().await["result"]["structuredContent"], 42);
}

#[tokio::test]
async fn wrong_arguments_are_answered_and_never_arrive() {
    let mut pair = Pair::new(Settings::default());
    pair.initialize("2025-11-25").await;
    pair.list(ARRAY).await;
    pair.client.send(&call(1, "days", &json!({ "n": "x" }))).await;
    let answer = pair.client.json().await;
    assert_eq!(answer["result"]["isError"], true);
    assert_eq!(answer["id"], 1);
    assert_eq!(answer["result"].get("resultType"), None);
    pair.passes(r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#).await;

    let mut pair = Pair::new(Settings::default());
    pair.initialize("2026-07-28").await;
    pair.list(ARRAY).await;
    pair.client.send(&call(1, "days", &json!({ "n": "x" }))).await;
    assert_eq!(pair.client.json().await["result"]["resultType"], "complete");
}

#[tokio::test]
async fn wrong_results_pass_under_warn_and_are_withheld_under_enforce() {
    let wrong = r#"{"jsonrpc":"2.0","id":1,"result":{"content":[{"type":"text","text":"secret"}],"structuredContent":["a",7]}}"#;
    let mut settings = Settings::default();
    settings.project = false;
    let mut pair = Pair::new(settings.clone());
    pair.initialize("2025-11-25").await;
    pair.list(ARRAY).await;
    pair.passes(&call(1, "days", &json!({}))).await;
    pair.comes(wrong).await;
    assert!(pair.said()[0].starts_with("warning[result-invalid] days result #/1:"));

    settings.results = Mode::Enforce;
    let mut pair = Pair::new(settings);
    pair.initialize("2025-11-25").await;
    pair.list(ARRAY).await;
    pair.passes(&call(1, "days", &json!({}))).await;
    pair.server.send(wrong).await;
    let answer = pair.client.line().await;
    assert!(answer.contains("withheld") && !answer.contains("secret"), "{answer}");

    // Servers write ids in another way than they came, and clients read them.
    pair.passes(&call(2, "days", &json!({}))).await;
    pair.server.send(&wrong.replace("\"id\":1", "\"id\":\"2\"")).await;
    let answer = pair.client.line().await;
    assert!(answer.contains("withheld") && !answer.contains("secret"), "{answer}");
}

#[tokio::test]
async fn one_bad_tool_goes_and_the_others_stay_as_they_are() {
    let good = r#"{"name":"good" ,"inputSchema":{"type":"object"},"v":1.0}"#;
    let bad = r#"{"name":"bad","inputSchema":null}"#;
    let mut settings = Settings::default();
    settings.tools = Some(Policy::Filter);
    let mut pair = Pair::new(settings);
    pair.initialize("2025-11-25").await;
    pair.passes(r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#).await;
    pair.server
        .send(&format!(
            r#"{{"jsonrpc":"2.0","id":1,"result":{{"tools":[{bad}, {good}],"n":1.0}}}}"#
        ))
        .await;
    assert_eq!(
        pair.client.line().await,
        format!("{{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{{\"tools\":[{good}],\"n\":1.0}}}}\n")
    );
    pair.client.send(&call(2, "bad", &json!({}))).await;
    let answer = pair.client.json().await;
    assert_eq!(answer["error"]["code"], -32602);
    assert!(answer["error"]["message"].as_str().unwrap().contains("input-root"));
}

#[tokio::test]
async fn a_list_is_refused_as_a_whole_where_asked_for() {
    let mut settings = Settings::default();
    settings.tools = Some(Policy::Reject);
    let mut pair = Pair::new(settings);
    pair.initialize("2025-11-25").await;
    let good = r#"{"name":"good","inputSchema":{"type":"object"}}"#;
    let list = pair.list(&format!(r#"[{{"name":"bad","inputSchema":null}},{good}]"#)).await;
    assert_eq!(list["error"]["code"], -32603);
    for name in ["bad", "good"] {
        pair.client.send(&call(7, name, &json!({}))).await;
        let answer = pair.client.json().await;
        assert_eq!(answer["error"]["code"], -32602);
        let text = answer["error"]["message"].as_str().unwrap();
        assert!(text.contains("tool list refused"), "{text}");
    }
}

#[tokio::test]
async fn a_held_call_can_be_cancelled() {
    let mut pair = Pair::new(Settings::default());
    pair.initialize("2025-11-25").await;
    pair.client.send(&call(1, "days", &json!({}))).await;
    let asked = pair.server.json().await;
    pair.client
        .send(r#"{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":1}}"#)
        .await;
    pair.passes(r#"{"jsonrpc":"2.0","id":2,"method":"ping"}"#).await;
    pair.server.send(&page(&asked, ARRAY, None)).await;
    pair.passes(r#"{"jsonrpc":"2.0","id":3,"method":"ping"}"#).await;
}

#[tokio::test]
async fn a_batch_loses_only_what_is_refused() {
    let mut pair = Pair::new(Settings::default());
    pair.initialize("2025-03-26").await;
    pair.list(ARRAY).await;
    let ping = r#"{"jsonrpc":"2.0","id":8,"method":"ping"}"#;
    let good = call(1, "days", &json!({}));
    let bad = call(2, "days", &json!({ "n": "x" }));
    pair.client.send(&format!("[{ping},{bad}, {good}]")).await;
    assert_eq!(pair.server.line().await, format!("[{ping},{good}]\n"));
    assert_eq!(pair.client.json().await["id"], 2);
    pair.server
        .send(r#"[{"jsonrpc":"2.0","id":8,"result":{ }}, {"jsonrpc":"2.0","id":1,"result":{"content":[],"structuredContent":["m"]}}]"#)
        .await;
    let answers = pair.client.json().await;
    assert_eq!(answers[1]["result"]["structuredContent"], json!({ "result": ["m"] }));
}

#[tokio::test]
async fn a_costly_validation_holds_up_nobody() {
    // More than is judged before what is judged gives way to all others.
    let mut limits = Limits::default();
    limits.fuel = 600_000;
    let mut settings = Settings::default();
    settings.schema = Schema::options().limits(limits);
    let mut pair = Pair::new(settings);
    pair.initialize("2025-11-25").await;
    // Equality of large arrays: costs until the fuel is used up.
    let unique = [r#"{"uniqueItems":true}"#; 200].join(",");
    pair.list(&format!(r#"[{{"name":"slow","inputSchema":{{"type":"object","properties":{{"a":{{"allOf":[{unique}]}}}}}}}},{{"name":"fast","inputSchema":{{"type":"object"}}}}]"#))
        .await;
    let items: Vec<_> = (0..4000).map(|n| json!([[n], [n], { "x": n }])).collect();
    for id in 0..3 {
        pair.client.send(&call(id, "slow", &json!({ "a": items }))).await;
    }
    pair.client.send(&call(10, "fast", &json!({}))).await;
    pair.client.send(r#"{"jsonrpc":"2.0","id":11,"method":"ping"}"#).await;
    // However long the slow ones take, these two arrive.
    let mut awaited = vec![json!(10), json!(11)];
    while !awaited.is_empty() {
        let arrived = pair.server.json().await["id"].clone();
        awaited.retain(|id| *id != arrived);
    }
    for _ in 0..3 {
        let answer = pair.client.json().await;
        assert_eq!(answer["result"]["isError"], true, "{answer}");
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("could not check"), "{text}");
    }
}

#[tokio::test]
async fn a_tool_that_is_hidden_cannot_be_called_whatever_the_list_says() {
    let mut settings = Settings::off();
    let mut hidden = Override::default();
    hidden.hide = true;
    settings.overrides.insert("days".to_owned(), hidden);
    let mut pair = Pair::new(settings);
    pair.initialize("2025-11-25").await;
    pair.client.send(&call(1, "days", &json!({}))).await;
    let text = "tool `days` is not offered: its operator hides it";
    assert_eq!(pair.client.json().await["error"]["message"], text);
    // One reader takes the first `tools`, another the last.
    pair.passes(r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#).await;
    let twice = format!(r#"{{"jsonrpc":"2.0","id":2,"result":{{"tools":{ARRAY},"tools":[]}}}}"#);
    pair.server.send(&twice).await;
    let answer = pair.client.json().await;
    assert!(answer.get("result").is_none(), "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("`tools`"), "{answer}");
}
