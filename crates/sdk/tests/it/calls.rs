//! `tools/call`.

use std::pin::pin;

use futures_util::future::{Either, select};
use serde_json::{Value, json};
use toolbond::{Mode, ServerOptions};
use toolbond_schema::Limits;

use crate::server::{BOTH, NEW, OLD, Plain, connect, connect_with, structured, taking, tool};

fn ranged() -> Value {
    let n = json!({ "type": "integer", "maximum": 10 });
    taking("ranged", json!({ "type": "object", "properties": { "n": n }, "required": ["n"] }))
}

#[tokio::test]
async fn wrong_arguments_are_explained_and_never_reach_the_handler() {
    for revision in BOTH {
        let plain = Plain::new(json!([ranged()]));
        let session = connect(plain.clone(), revision).await;
        let cases = [
            (json!({ "n": 500 }), "n: expected a number ≤ 10, found 500"),
            (json!({}), "missing required property `n` (integer ≤ 10)"),
            (json!({ "n": "x" }), "n: expected integer ≤ 10, found string \"x\""),
        ];
        for (arguments, text) in cases {
            let result = session.call_result("ranged", arguments).await.unwrap();
            assert_eq!(result["isError"], true);
            let text = format!("invalid arguments for tool `ranged`:\n{text}");
            assert_eq!(result["content"][0]["text"], text);
        }
        let absent = session.request("tools/call", json!({ "name": "ranged" })).await.unwrap();
        assert_eq!(absent["isError"], true);
        assert_eq!(plain.calls(), Vec::<Value>::new());
        session.call_result("ranged", json!({ "n": 3 })).await.unwrap();
        assert_eq!(plain.calls(), [json!({ "n": 3 })]);
    }
}

#[tokio::test]
async fn what_is_no_call_is_named() {
    for revision in BOTH {
        let session = connect(Plain::new(json!([ranged()])), revision).await;
        let ranged = |arguments: Value| json!({ "name": "ranged", "arguments": arguments });
        for (params, text) in [
            (ranged(json!([1])), "#/arguments: expected an object, found an array"),
            (ranged(json!("n")), "#/arguments: expected an object, found a string"),
            (json!({ "arguments": {} }), "#: missing required property `name`"),
            (json!({ "name": 7 }), "#/name: expected a string, found a number"),
        ] {
            let error = session.request("tools/call", params).await.unwrap_err().to_string();
            assert_eq!(error, format!("error -32602: tools/call: {text}"));
        }
        let error = session.call_result("nosuch", json!({})).await.unwrap_err().to_string();
        assert_eq!(error, "error -32602: tool not found");
    }
}

#[tokio::test]
async fn a_result_that_breaks_its_schema_does_not_leave() {
    let silent = json!({ "content": [{ "type": "text", "text": "secret" }] });
    let failing = json!({ "content": [], "structuredContent": "why", "isError": true });
    let answers =
        [("lying", structured(json!("secret"))), ("silent", silent), ("failing", failing)];
    let tools: Value =
        answers.map(|(name, answer)| tool(name, json!({ "type": "integer" }), answer)).into();
    for revision in BOTH {
        let session = connect(Plain::new(tools.clone()), revision.clone()).await;
        for name in ["lying", "silent"] {
            let result = session.call_result(name, json!({})).await.unwrap();
            assert_eq!(result["isError"], true, "{name}");
            assert!(!result.to_string().contains("secret"), "{result}");
            assert_eq!(result.get("resultType").is_some(), revision.is_natural());
        }
        // The error of a tool is its own business, and an old client gets it as text.
        let failing = session.call_result("failing", json!({})).await.unwrap();
        assert_eq!(failing["isError"], true);
        assert_eq!(failing.get("structuredContent").is_some(), revision.is_natural());
        assert!(failing.to_string().contains("why"));

        // A server does not relax its own contract.
        let options = ServerOptions::default().results(Mode::Repair);
        let session = connect_with(Plain::new(tools.clone()), options, revision.clone()).await;
        for name in ["lying", "silent"] {
            let result = session.call_result(name, json!({})).await.unwrap();
            assert_eq!(result["isError"], true, "{name}");
            assert!(!result.to_string().contains("secret"), "{result}");
        }
        let options = ServerOptions::default().results(Mode::Warn);
        let session = connect_with(Plain::new(tools.clone()), options, revision).await;
        let result = session.call_result("lying", json!({})).await.unwrap();
        assert!(result.to_string().contains("secret"));
    }
}

#[tokio::test]
async fn every_value_arrives_in_the_shape_of_the_revision_and_as_text() {
    let values = [json!(null), json!(0), json!(false), json!(""), json!([]), json!([1, null])];
    for value in values {
        for output in [json!({}), Value::Null] {
            let server = Plain::new(json!([tool("v", output, structured(value.clone()))]));
            for (revision, expected) in [(OLD, json!({ "result": value })), (NEW, value.clone())] {
                let session = connect(server.clone(), revision).await;
                let result = session.call_result("v", json!({})).await.unwrap();
                assert_eq!(result.get("structuredContent"), Some(&expected));
                let text = json!([{ "type": "text", "text": value.to_string() }]);
                assert_eq!(result["content"], text);
            }
        }
    }
}

#[tokio::test]
async fn authored_content_and_meta_stay() {
    let answer = json!({
        "content": [{ "type": "text", "text": "two" }, { "type": "image", "data": "", "mimeType": "image/png" }],
        "structuredContent": [1, 2],
        "_meta": { "trace": "x" }
    });
    let server = Plain::new(json!([tool("v", json!({ "type": "array" }), answer.clone())]));
    for revision in BOTH {
        let session = connect(server.clone(), revision).await;
        let result = session.call_result("v", json!({})).await.unwrap();
        assert_eq!(result["content"], answer["content"]);
        assert_eq!(result["_meta"]["trace"], "x");
    }
}

#[tokio::test]
async fn a_tool_that_could_not_be_judged_is_not_called() {
    // Repaired, and that is reported.
    let loose = taking("loose", json!({ "properties": { "n": { "type": "integer" } } }));
    let plain = Plain::new(json!([loose]));
    let options = ServerOptions::default().on_finding(|_| panic!("secret of the listener"));
    let session = connect_with(plain.clone(), options, NEW).await;
    let error = session.call_result("loose", json!({ "n": "x" })).await.unwrap_err().to_string();
    assert_eq!(error, "error -32603: internal error");
    assert!(session.tools().await.is_err());
    assert!(plain.calls().is_empty());
}

#[tokio::test]
async fn null_for_an_optional_argument_is_none() {
    let input = json!({
        "type": "object",
        "properties": {
            "n": { "type": "integer" },
            "city": { "type": "string" },
            "any": { "type": ["string", "null"] },
            "filter": { "$ref": "#/$defs/Filter" },
            "all": { "type": "array", "items": { "$ref": "#/$defs/Filter" } },
            "counts": { "additionalProperties": { "type": "integer" } },
            "shape": { "oneOf": [{ "type": "object" }, { "const": 1, "type": "integer" }] }
        },
        "required": ["n"],
        "additionalProperties": false,
        "$defs": {
            "Filter": {
                "type": "object",
                "properties": {
                    "from": { "enum": ["a", "b"] },
                    "inner": { "$ref": "#/$defs/Filter" },
                    "id": { "type": "integer" }
                },
                "required": ["id"]
            }
        }
    });
    let plain = Plain::new(json!([taking("lenient", input)]));
    let session = connect(plain.clone(), NEW).await;
    let cases = [
        // What may be `null` stays.
        (json!({ "n": 1, "any": null }), Some(json!({ "n": 1, "any": null }))),
        (json!({ "n": 1, "any": null, "city": null }), Some(json!({ "n": 1, "any": null }))),
        // The same inside of arguments.
        (
            json!({ "n": 1, "shape": null, "filter": { "id": 1, "from": null, "inner": { "id": 2, "inner": null } } }),
            Some(json!({ "n": 1, "filter": { "id": 1, "inner": { "id": 2 } } })),
        ),
        (
            json!({ "n": 1, "all": [{ "id": 1, "from": null }] }),
            Some(json!({ "n": 1, "all": [{ "id": 1 }] })),
        ),
        (json!({ "n": 1, "filter": { "id": null } }), None),
        (json!({ "n": 1, "counts": { "a": null } }), None),
        (json!({ "n": 1, "city": null }), Some(json!({ "n": 1 }))),
        (json!({ "n": null }), None),
        (json!({ "n": 1, "other": null }), Some(json!({ "n": 1 }))),
        (json!({ "n": 1, "reason_for_call": "to see" }), Some(json!({ "n": 1 }))),
        (json!({ "n": 1, "ctiy": "Oslo" }), None),
        (json!({ "n": "x", "city": null }), None),
    ];
    for (arguments, seen) in cases {
        let before = plain.calls().len();
        let result = session.call_result("lenient", arguments.clone()).await.unwrap();
        assert_eq!(result["isError"] == true, seen.is_none(), "{arguments}: {result}");
        assert_eq!(plain.calls().get(before), seen.as_ref(), "{arguments}");
    }
    let options = ServerOptions::default().arguments(Mode::Enforce);
    let session = connect_with(plain, options, NEW).await;
    let result = session.call_result("lenient", json!({ "n": 1, "city": null })).await.unwrap();
    assert_eq!(result["isError"], true);
}

#[tokio::test]
async fn tasks_and_questions_pass() {
    let tools = ["task", "ask"].map(|name| tool(name, json!({ "type": "integer" }), json!(name)));
    let session = connect(Plain::new(tools.into()), NEW).await;
    let capabilities = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let meta = json!({ "io.modelcontextprotocol/clientCapabilities": capabilities });
    for (name, kind, member, value) in
        [("task", "task", "taskId", "task-1"), ("ask", "input_required", "requestState", "state")]
    {
        let params = json!({ "name": name, "_meta": meta });
        let result = session.request("tools/call", params).await.unwrap();
        assert_eq!(result["resultType"], kind);
        assert_eq!(result[member], value);
    }
}

/// One thread for the event loop: a validation on it would hold up everything else.
#[tokio::test(flavor = "current_thread")]
async fn other_calls_go_on_while_one_runs_out_of_fuel() {
    let input = json!({
        "type": "object",
        "properties": { "list": { "type": "array", "uniqueItems": true, "items": { "allOf": [
            { "anyOf": [{ "pattern": "^(a|b)*c$" }, { "minLength": 1 }] },
            { "enum": (0..2000).map(|n| json!({ "n": n })).collect::<Vec<_>>() }
        ] } } }
    });
    let quick = tool("quick", json!({ "type": "integer" }), structured(json!(1)));
    let mut limits = Limits::default();
    limits.fuel *= 10;
    let options = ServerOptions::default().limits(limits);
    let server = Plain::new(json!([taking("hostile", input), quick]));
    let session = connect_with(server, options, NEW).await;
    let list: Vec<_> = (0..2000).map(|n| json!({ "n": n, "m": [n] })).collect();
    let slow = pin!(session.call_result("hostile", json!({ "list": list })));
    let quick = pin!(session.call_result("quick", json!({})));
    let Either::Right((quick, slow)) = select(slow, quick).await else { panic!("held up") };
    assert_eq!(quick.unwrap()["structuredContent"], 1);
    assert_eq!(slow.await.unwrap()["isError"], true);
}
