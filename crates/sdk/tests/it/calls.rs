//! `tools/call`.

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{ListToolsResult, PaginatedRequestParams},
    service::RequestContext,
};
use serde_json::{Value, json};
use toolbond::{Mode, Revision, ServerOptions, enforce, enforce_with, testing};
use toolbond_schema::Limits;

use crate::server::{Plain, structured, tool};

const BOTH: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

fn ranged() -> Value {
    let mut ranged = tool("ranged", Value::Null, json!({ "content": [] }));
    ranged["inputSchema"] = json!({
        "type": "object",
        "properties": { "n": { "type": "integer", "maximum": 10 } },
        "required": ["n"]
    });
    ranged
}

#[tokio::test]
async fn wrong_arguments_are_explained_and_never_reach_the_handler() {
    for revision in BOTH {
        let plain = Plain::new(json!([ranged()]));
        let session = testing::connect(enforce(plain.clone()), revision).await.unwrap();
        let cases = [
            (json!({ "n": 500 }), "n: expected a number ≤ 10, found 500"),
            (json!({}), "missing required property `n` (integer ≤ 10)"),
            (json!({ "n": "x" }), "n: expected integer ≤ 10, found string \"x\""),
        ];
        for (arguments, text) in cases {
            let result = session.call("ranged", arguments).await.unwrap();
            assert_eq!(result["isError"], true);
            let text = format!("invalid arguments for tool `ranged`:\n{text}");
            assert_eq!(result["content"][0]["text"], text);
        }
        let absent = session.request("tools/call", json!({ "name": "ranged" })).await.unwrap();
        assert_eq!(absent["isError"], true);
        assert_eq!(plain.calls(), Vec::<Value>::new());
        session.call("ranged", json!({ "n": 3 })).await.unwrap();
        assert_eq!(plain.calls(), [json!({ "n": 3 })]);
    }
}

#[tokio::test]
async fn what_is_no_call_is_named() {
    for revision in BOTH {
        let server = enforce(Plain::new(json!([ranged()])));
        let session = testing::connect(server, revision).await.unwrap();
        let cases = [
            (
                json!({ "name": "ranged", "arguments": [1] }),
                "#/arguments: expected an object, found an array",
            ),
            (
                json!({ "name": "ranged", "arguments": "n" }),
                "#/arguments: expected an object, found a string",
            ),
            (json!({ "arguments": {} }), "#: missing required property `name`"),
            (json!({ "name": 7 }), "#/name: expected a string, found a number"),
        ];
        for (params, text) in cases {
            let error = session.request("tools/call", params).await.unwrap_err().to_string();
            assert_eq!(error, format!("error -32602: tools/call: {text}"));
        }
        let error = session.call("nosuch", json!({})).await.unwrap_err().to_string();
        assert_eq!(error, "error -32602: tool not found");
    }
}

#[tokio::test]
async fn a_result_that_breaks_its_schema_does_not_leave() {
    let integer = json!({ "type": "integer" });
    let tools = json!([
        tool("lying", integer.clone(), structured(json!("secret"))),
        tool(
            "silent",
            integer.clone(),
            json!({ "content": [{ "type": "text", "text": "secret" }] })
        ),
        tool(
            "failing",
            integer,
            json!({ "content": [], "structuredContent": "why", "isError": true })
        ),
    ]);
    for revision in BOTH {
        let server = enforce(Plain::new(tools.clone()));
        let session = testing::connect(server, revision.clone()).await.unwrap();
        for name in ["lying", "silent"] {
            let result = session.call(name, json!({})).await.unwrap();
            assert_eq!(result["isError"], true, "{name}");
            assert!(!result.to_string().contains("secret"), "{result}");
            assert_eq!(result.get("resultType").is_some(), revision.is_natural());
        }
        // The error of a tool is its own business, and an old client gets it as text.
        let failing = session.call("failing", json!({})).await.unwrap();
        assert_eq!(failing["isError"], true);
        assert_eq!(failing.get("structuredContent").is_some(), revision.is_natural());
        assert!(failing.to_string().contains("why"));

        let options = ServerOptions::default().results(Mode::Warn);
        let session = testing::connect(enforce_with(Plain::new(tools.clone()), options), revision);
        let result = session.await.unwrap().call("lying", json!({})).await.unwrap();
        assert!(result.to_string().contains("secret"));
    }
}

#[tokio::test]
async fn every_value_arrives_in_the_shape_of_the_revision_and_as_text() {
    let values = [json!(null), json!(0), json!(false), json!(""), json!([]), json!([1, null])];
    for value in values {
        for output in [json!({}), Value::Null] {
            let server = Plain::new(json!([tool("v", output, structured(value.clone()))]));
            let server = enforce(server);
            let new = testing::connect(server.clone(), Revision::V2026_07_28).await.unwrap();
            let new = new.call("v", json!({})).await.unwrap();
            assert_eq!(new["structuredContent"], value);
            assert!(new.as_object().unwrap().contains_key("structuredContent"));
            let old = testing::connect(server, Revision::V2025_11_25).await.unwrap();
            let old = old.call("v", json!({})).await.unwrap();
            assert_eq!(old["structuredContent"], json!({ "result": value }));
            for result in [old, new] {
                assert_eq!(
                    result["content"],
                    json!([{ "type": "text", "text": value.to_string() }])
                );
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
    let server =
        enforce(Plain::new(json!([tool("v", json!({ "type": "array" }), answer.clone())])));
    for revision in BOTH {
        let session = testing::connect(server.clone(), revision).await.unwrap();
        let result = session.call("v", json!({})).await.unwrap();
        assert_eq!(result["content"], answer["content"]);
        assert_eq!(result["_meta"]["trace"], "x");
    }
}

#[tokio::test]
async fn a_panic_fails_its_call_and_keeps_its_secret() {
    let server = enforce(Plain::new(json!([
        tool("bad", Value::Null, json!("panic")),
        tool("good", Value::Null, json!({ "content": [] })),
    ])));
    let session = testing::connect(server, Revision::V2025_11_25).await.unwrap();
    let result = session.call("bad", json!({})).await.unwrap();
    assert_eq!(result["isError"], true);
    assert_eq!(result["content"][0]["text"], "tool `bad` failed: internal error");
    assert!(session.call("good", json!({})).await.is_ok());
}

/// A server whose list panics.
struct Broken;

impl ServerHandler for Broken {
    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        panic!("secret of the list")
    }
}

#[tokio::test]
async fn a_list_that_panics_is_answered() {
    let session = testing::connect(enforce(Broken), Revision::V2026_07_28).await.unwrap();
    for (method, params) in [("tools/list", json!({})), ("tools/call", json!({ "name": "a" }))] {
        let error = session.request(method, params).await.unwrap_err().to_string();
        assert_eq!(error, "error -32603: internal error");
    }
}

#[tokio::test]
async fn a_tool_that_could_not_be_judged_is_not_called() {
    let mut loose = tool("loose", Value::Null, json!({ "content": [] }));
    // Repaired, and that is reported.
    loose["inputSchema"] = json!({ "properties": { "n": { "type": "integer" } } });
    let plain = Plain::new(json!([loose]));
    let options = ServerOptions::default().on_finding(|_| panic!("secret of the listener"));
    let server = enforce_with(plain.clone(), options);
    let session = testing::connect(server, Revision::V2026_07_28).await.unwrap();
    let error = session.call("loose", json!({ "n": "x" })).await.unwrap_err().to_string();
    assert_eq!(error, "error -32603: internal error");
    assert!(session.tools().await.is_err());
    assert!(plain.calls().is_empty());
}

#[tokio::test]
async fn null_for_an_optional_argument_is_none() {
    let mut lenient = tool("lenient", Value::Null, json!({ "content": [] }));
    lenient["inputSchema"] = json!({
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
    let plain = Plain::new(json!([lenient]));
    let session = testing::connect(enforce(plain.clone()), Revision::V2026_07_28).await.unwrap();
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
        (json!({ "n": 1, "other": null }), None),
        (json!({ "n": "x", "city": null }), None),
    ];
    for (arguments, seen) in cases {
        let before = plain.calls().len();
        let result = session.call("lenient", arguments.clone()).await.unwrap();
        assert_eq!(result["isError"] == true, seen.is_none(), "{arguments}: {result}");
        assert_eq!(plain.calls().get(before), seen.as_ref(), "{arguments}");
    }
    let options = ServerOptions::default().arguments(Mode::Enforce);
    let session = testing::connect(enforce_with(plain, options), Revision::V2026_07_28).await;
    let result = session.unwrap().call("lenient", json!({ "n": 1, "city": null })).await.unwrap();
    assert_eq!(result["isError"], true);
}

#[tokio::test]
async fn a_task_passes() {
    let server =
        enforce(Plain::new(json!([tool("late", json!({ "type": "integer" }), json!("task"))])));
    let session = testing::connect(server, Revision::V2026_07_28).await.unwrap();
    let capabilities = json!({ "extensions": { "io.modelcontextprotocol/tasks": {} } });
    let params = json!({
        "name": "late",
        "_meta": { "io.modelcontextprotocol/clientCapabilities": capabilities }
    });
    let result = session.request("tools/call", params).await.unwrap();
    assert_eq!(result["resultType"], "task");
    assert_eq!(result["taskId"], "task-1");
}

#[tokio::test]
async fn input_required_passes() {
    let server =
        enforce(Plain::new(json!([tool("ask", json!({ "type": "integer" }), json!("ask"))])));
    let session = testing::connect(server, Revision::V2026_07_28).await.unwrap();
    let result = session.call("ask", json!({})).await.unwrap();
    assert_eq!(result["resultType"], "input_required");
    assert_eq!(result["requestState"], "state");
}

/// One thread for the event loop: a validation on it would hold up everything else.
#[tokio::test(flavor = "current_thread")]
async fn other_calls_go_on_while_one_runs_out_of_fuel() {
    let mut hostile = tool("hostile", Value::Null, json!({ "content": [] }));
    hostile["inputSchema"] = json!({
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
    let server = enforce_with(Plain::new(json!([hostile, quick])), options);
    let session = testing::connect(server, Revision::V2026_07_28).await.unwrap();
    let list: Vec<_> = (0..2000).map(|n| json!({ "n": n, "m": [n] })).collect();
    let mut finished = Vec::new();
    let mut slow = std::pin::pin!(session.call("hostile", json!({ "list": list })));
    for _ in 0..5 {
        tokio::select! {
            biased;
            result = &mut slow => {
                finished.push("hostile");
                assert_eq!(result.unwrap()["isError"], true);
                break;
            }
            result = session.call("quick", json!({})) => {
                finished.push("quick");
                assert_eq!(result.unwrap()["structuredContent"], 1);
            }
        }
    }
    assert_eq!(finished, ["quick"; 5]);
    assert_eq!(slow.await.unwrap()["isError"], true);
}
