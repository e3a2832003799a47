//! What the contract changes.

use serde_json::{Value, json};
use toolbond_contract::{Mode, Policy};
use toolbond_guard::{Override, Settings};
use toolbond_harness::mcp::{call, request};
use toolbond_schema::{Limits, Schema};

use crate::pair::{Pair, result};

pub(crate) const ARRAY: &str = r#"[{"name":"days","description":"Days.","inputSchema":{"type":"object","properties":{"n":{"type":"integer"}}},"outputSchema":{"type":"array","items":{"type":"string"}}}]"#;

pub(crate) fn modern(id: u32, method: &str, mut params: Value) -> String {
    params["_meta"] = json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "c" },
        "progressToken": 9,
    });
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

pub(crate) fn strict() -> Settings {
    let mut settings = Settings::default();
    settings.results = Mode::Enforce;
    settings
}

/// `settings` under which the tool `name` is hidden.
pub(crate) fn hiding(name: &str, mut settings: Settings) -> Settings {
    let mut hidden = Override::default();
    hidden.hide = true;
    settings.overrides.insert(name.to_owned(), hidden);
    settings
}

#[test]
fn each_request_is_answered_in_its_own_revision() {
    let mut pair = Pair::discovered(Settings::default());
    pair.passes(&modern(1, "tools/list", json!({})));
    pair.comes(&result(1, &format!(r#"{{"tools":{ARRAY}}}"#)));
    pair.passes(&modern(2, "tools/call", json!({ "name": "days" })));
    let text = r#"{"content":[{"type":"text","text":"[]"}],"structuredContent":[]}"#;
    pair.comes(&result(2, text));
}

#[test]
fn a_marked_envelope_comes_off_for_a_natural_client() {
    let mut pair = Pair::greeted(Settings::default(), "2026-07-28");
    let list = pair.list(r#"[{"name":"n","inputSchema":{"type":"object"},"outputSchema":{"type":"object","properties":{"result":{"type":"integer"}},"required":["result"],"x-fastmcp-wrap-result":true}}]"#);
    assert_eq!(list["result"]["tools"][0]["outputSchema"]["type"], "integer");
    pair.passes(&call(1, "n", &json!({})));
    let answer = pair.tell(&result(1, r#"{"_meta":{"fastmcp":{"wrap_result":true}},"content":[{"type":"text","text":"42"}],"structuredContent":{"result":42}}"#));
    assert_eq!(answer["result"]["structuredContent"], 42);
}

#[test]
fn wrong_arguments_are_answered_and_never_arrive() {
    for (revision, kind) in [("2025-11-25", None), ("2026-07-28", Some(&json!("complete")))] {
        let mut pair = Pair::listed(Settings::default(), revision, ARRAY);
        let answer = pair.refuses(&call(1, "days", &json!({ "n": "x" })));
        assert_eq!((&answer["id"], answer["result"].get("resultType")), (&json!(1), kind));
        pair.passes(&request(1, "ping"));
    }
}

#[test]
fn a_property_that_is_like_no_declared_one_is_left_out_and_logged() {
    let tools = r#"[{"name":"t","inputSchema":{"type":"object","properties":{"path":{"type":"string"},"depth":{"type":"integer"}},"required":["path"],"additionalProperties":false}}]"#;
    let call = |arguments: &str| {
        format!(
            r#"{{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{{"name":"t","arguments":{arguments}}}}}"#
        )
    };
    let mut pair = Pair::listed(Settings::default(), "2025-11-25", tools);
    pair.becomes(
        &call(r#"{ "reason\u005ffor_call":"to see", "path":"a" ,"__proto__":{}}"#),
        &call(r#"{ "path":"a"}"#),
    );
    let said = pair.said();
    assert_eq!(
        said,
        [
            "info[arguments-undeclared-property] t arguments #: left out `reason_for_call`, `__proto__`; repaired (request 1)"
        ]
    );
    let mut pair = Pair::listed(Settings::default(), "2025-11-25", tools);
    let answer = pair.refuses(&call(r#"{"path":"a","dept":1}"#)).to_string();
    assert!(answer.contains("did you mean `depth`?"), "{answer}");
    let answer = pair.refuses(&call(r#"{"reason_for_call":"to see"}"#)).to_string();
    assert!(answer.contains("`reason_for_call`") && answer.contains("`path`"), "{answer}");
}

#[test]
fn wrong_results_pass_under_warn_and_are_withheld_under_enforce() {
    let wrong = r#"{"content":[{"type":"text","text":"secret"}],"structuredContent":["a",7]}"#;
    let mut settings = Settings::default();
    settings.translate.revisions = false;
    let mut pair = Pair::listed(settings.clone(), "2025-11-25", ARRAY);
    pair.passes(&call(1, "days", &json!({})));
    pair.comes(&result(1, wrong));
    assert!(pair.said()[0].starts_with("warning[result-invalid] days result #/1:"));

    settings.results = Mode::Enforce;
    let mut pair = Pair::listed(settings, "2025-11-25", ARRAY);
    // Servers write ids in another way than they came, and clients read them.
    for id in ["1", "\"1\""] {
        pair.passes(&call(1, "days", &json!({})));
        pair.server.send(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{wrong}}}"#));
        let answer = pair.client.line();
        assert!(answer.contains("withheld") && !answer.contains("secret"), "{answer}");
    }
}

#[test]
fn a_batch_loses_only_what_is_refused() {
    let mut pair = Pair::listed(Settings::default(), "2025-03-26", ARRAY);
    let (ping, good) = (request(8, "ping"), call(1, "days", &json!({})));
    let bad = call(2, "days", &json!({ "n": "x" }));
    pair.becomes(&format!("[{ping},{bad}, {good}]"), &format!("[{ping},{good}]"));
    assert_eq!(pair.client.json()["id"], 2);
    let days = result(1, r#"{"content":[],"structuredContent":["m"]}"#);
    let answers = pair.tell(&format!("[{}, {days}]", result(8, "{ }")));
    assert_eq!(answers[1]["result"]["structuredContent"], json!({ "result": ["m"] }));
}

#[test]
fn a_costly_validation_holds_up_nobody() {
    // More than is judged before what is judged gives way to all others.
    let mut limits = Limits::default();
    limits.fuel = 600_000;
    let mut settings = Settings::default();
    settings.schema = Schema::options().limits(limits);
    // Equality of large arrays: costs until the fuel is used up.
    let unique = [r#"{"uniqueItems":true}"#; 200].join(",");
    let tools = format!(
        r#"[{{"name":"slow","inputSchema":{{"type":"object","properties":{{"a":{{"allOf":[{unique}]}}}}}}}},{{"name":"fast","inputSchema":{{"type":"object"}}}}]"#
    );
    let mut pair = Pair::listed(settings, "2025-11-25", &tools);
    let items: Vec<_> = (0..4000).map(|n| json!([[n], [n], { "x": n }])).collect();
    for id in 0..3 {
        pair.client.send(&call(id, "slow", &json!({ "a": items })));
    }
    pair.client.send(&call(10, "fast", &json!({})));
    pair.client.send(&request(11, "ping"));
    // However long the slow ones take, these two arrive.
    let mut arrived = [pair.server.json(), pair.server.json()].map(|it| it["id"].as_u64());
    arrived.sort_unstable();
    assert_eq!(arrived, [Some(10), Some(11)]);
    for _ in 0..3 {
        let answer = pair.client.json();
        let text = answer["result"]["content"][0]["text"].as_str().unwrap();
        assert!(text.contains("could not check"), "{text}");
    }
}

#[test]
fn a_tool_that_is_hidden_cannot_be_called_whatever_the_list_says() {
    let mut pair = Pair::greeted(hiding("days", Settings::off()), "2025-11-25");
    let text = "tool `days` is not offered: its operator hides it";
    assert_eq!(pair.ask(&call(1, "days", &json!({})))["error"]["message"], text);
    // One reader takes the first `tools`, another the last.
    pair.passes(&request(2, "tools/list"));
    let answer = pair.tell(&result(2, &format!(r#"{{"tools":{ARRAY},"tools":[]}}"#)));
    assert!(answer.get("result").is_none(), "{answer}");
    assert!(answer["error"]["message"].as_str().unwrap().contains("`tools`"), "{answer}");
}

#[test]
fn a_tool_whose_output_schema_cannot_be_used_has_no_results_under_enforce() {
    let outputs = [
        json!({ "type": "object", "allOf": [{ "$ref": "http://127.0.0.1:1/x" }] }),
        json!({ "$schema": "http://127.0.0.1:1/unknown", "type": "object" }),
        json!({ "type": "object", "properties": { "n": { "pattern": "(" } } }),
        json!({ "type": "thing" }),
        json!("x"),
    ];
    let named = |(n, output): (usize, &Value)| json!({ "name": format!("t{n}"), "inputSchema": { "type": "object" }, "outputSchema": output });
    let tools: Vec<_> = outputs.iter().enumerate().map(named).collect();
    let tools = json!(tools).to_string();
    let answer = result(2, r#"{"content":[],"structuredContent":{"n":"wrong"}}"#);
    for policy in [None, Some(Policy::Filter), Some(Policy::Repair)] {
        let mut settings = Settings::default();
        settings.tools = policy;
        // Enforced for one tool, and for all.
        for all in [false, true] {
            let mut settings = settings.clone();
            if all {
                settings.results = Mode::Enforce;
            } else {
                let mut one = Override::default();
                one.results = Some(Mode::Enforce);
                settings.overrides.insert("t0".to_owned(), one);
            }
            let mut pair = Pair::greeted(settings, "2025-11-25");
            let listed = pair.list(&tools)["result"]["tools"].as_array().unwrap().len();
            let dropped = if all { outputs.len() } else { 1 };
            assert_eq!(listed, outputs.len() - if policy.is_some() { dropped } else { 0 });
            for n in 0..outputs.len() {
                let (name, call) = (format!("t{n}"), call(2, &format!("t{n}"), &json!({})));
                if n < dropped {
                    let told = pair.ask(&call)["error"]["message"].to_string();
                    assert!(told.contains(&format!("`{name}`")), "{told}");
                    assert!(
                        told.contains("its results cannot be checked: #/outputSchema"),
                        "{told}"
                    );
                } else {
                    pair.passes(&call);
                    pair.tell(&answer);
                }
                // One line says it, listed or not, or a finding about the tool.
                let said = pair.said();
                let said: Vec<_> = said.iter().filter(|line| line.contains(&name)).collect();
                let lines = said.iter().filter(|line| line.contains("results cannot be checked"));
                let is_told = n < dropped || policy.is_none();
                assert_eq!(lines.count(), usize::from(is_told), "{said:?}");
                assert!(!said.is_empty(), "{name}");
            }
        }
    }
}
