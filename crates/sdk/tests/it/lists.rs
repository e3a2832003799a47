//! `tools/list`.

use std::sync::{
    Arc,
    atomic::{AtomicUsize, Ordering},
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{CallToolRequestParams, CallToolResponse, ServerConfig, SubscribeRequestParams, Tool},
    service::RequestContext,
};
use serde_json::{Value, json};
use toolbond::contract::Action;
use toolbond::{Policy, Revision, ServerOptions, enforce, enforce_with, testing};

use crate::server::{
    BOTH, NEW, OLD, Plain, connect, connect_with, names, noting, structured, taking, tool,
};

#[tokio::test]
async fn each_revision_gets_the_output_schemas_it_can_carry() {
    let array = json!({ "type": "array", "items": { "type": "integer" } });
    let server = enforce(Plain::new(json!([
        tool("list", array.clone(), structured(json!([1]))),
        tool("object", json!({ "type": "object" }), structured(json!({}))),
        taking("text", json!({ "type": "object" })),
    ])));
    let new = testing::list_tools(server.clone(), Revision::V2026_07_28).await.unwrap();
    assert_eq!(names(&new), ["list", "object", "text"]);
    assert_eq!(new[0]["outputSchema"], array);
    for revision in [Revision::V2024_11_05, Revision::V2025_06_18, Revision::V2025_11_25] {
        let old = testing::list_tools(server.clone(), revision).await.unwrap();
        assert_eq!(names(&old), ["list", "object", "text"]);
        assert_eq!(old[0]["outputSchema"]["type"], "object");
        assert_eq!(old[0]["outputSchema"]["properties"]["result"], array);
        assert_eq!(old[1], new[1]);
        assert_eq!(old[2], new[2]);
    }
}

#[tokio::test]
async fn schemas_of_older_dialects_are_listed_as_2020_12() {
    let pair = json!({
        "$schema": "http://json-schema.org/draft-07/schema#",
        "type": "object",
        "properties": { "at": { "items": [{ "type": "number" }] } }
    });
    let plain =
        || Plain::new(json!([tool("pair", pair.clone(), structured(json!({ "at": [1] })))]));
    let at = json!({ "prefixItems": [{ "type": "number" }] });
    let converted = json!({ "type": "object", "properties": { "at": at } });
    for revision in BOTH {
        for (keep, expected) in [(false, &converted), (true, &pair)] {
            let options = ServerOptions::default().keep_dialects(keep);
            let session = connect_with(plain(), options, revision.clone()).await;
            assert_eq!(session.tools().await.unwrap()[0]["outputSchema"], *expected);
        }
    }
}

#[tokio::test]
async fn a_request_may_speak_another_revision_than_the_one_before() {
    let count = tool("count", json!({ "type": "integer" }), structured(json!(42)));
    let session = connect(Plain::new(json!([count])), NEW).await;
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2025-11-25" });
    let old = json!({ "name": "count", "_meta": meta });
    let old = session.request("tools/call", old).await.unwrap();
    assert_eq!(old["structuredContent"], json!({ "result": 42 }));
    let new = session.call_result("count", json!({})).await.unwrap();
    assert_eq!(new["structuredContent"], 42);
}

#[tokio::test]
async fn one_bad_tool_leaves_the_others_alone() {
    let remote = json!({ "$ref": "http://127.0.0.1:1/schema.json" });
    let good = || taking("good", json!({ "type": "object" }));
    let tools = json!([
        taking("bad_input", json!({ "type": "object", "properties": { "x": remote } })),
        tool("bad_output", remote, structured(json!(1))),
        taking("no_type", json!({ "properties": {} })),
        good(),
        good(),
    ]);
    let (options, rules) =
        noting(|found| (found.action != Action::None).then(|| found.rule.to_owned()));
    let session = connect_with(Plain::new(tools.clone()), options, OLD).await;
    let listed = session.tools().await.unwrap();
    assert_eq!(names(&listed), ["bad_output", "no_type", "good"]);
    assert_eq!(listed[0].get("outputSchema"), None);
    assert_eq!(listed[1]["inputSchema"]["type"], "object");
    let expected = ["external-ref", "external-ref", "input-root-type", "duplicate-name"];
    assert_eq!(*rules.lock().unwrap(), expected);

    let error = session.call_result("bad_input", json!({})).await.unwrap_err().to_string();
    assert!(error.starts_with("error -32602: tool `bad_input` cannot be used"), "{error}");
    let result = session.call_result("bad_output", json!({})).await.unwrap();
    assert_eq!(result["structuredContent"], json!({ "result": 1 }));

    let options = ServerOptions::default().policy(Policy::Reject);
    let session = connect_with(Plain::new(tools), options, NEW).await;
    let error = session.tools().await.unwrap_err().to_string();
    assert!(error.contains("tool list refused: error[external-ref] bad_input"), "{error}");
}

#[tokio::test]
async fn an_unusable_tool_is_refused_for_its_error_not_for_a_warning_before_it() {
    // The form of the name is a warning, and comes first.
    let input = json!({ "type": "object", "$ref": "http://127.0.0.1:1/schema.json" });
    let plain = Plain::new(json!([taking("bad tool", input)]));
    for policy in [Policy::Filter, Policy::Repair, Policy::Reject] {
        let (options, rules) = noting(|finding| Some(finding.rule.to_owned()));
        let session = connect_with(plain.clone(), options.policy(policy), NEW).await;
        let error = session.call_result("bad tool", json!({})).await.unwrap_err().to_string();
        assert_eq!(rules.lock().unwrap()[0], "tool-name-form");
        let reason = "error -32602: tool `bad tool` cannot be used: error[external-ref] bad tool";
        assert!(error.starts_with(reason), "{error}");
    }
}

#[tokio::test]
async fn contracts_follow_tools_that_come_go_and_change() {
    let plain = Plain::new(json!([tool("a", json!({ "type": "integer" }), structured(json!(1)))]));
    let session = connect(plain.clone(), NEW).await;
    assert_eq!(session.call_result("a", json!({})).await.unwrap()["structuredContent"], 1);

    // Changed: the same answer breaks the new schema, though nobody has listed it.
    plain.set(json!([tool("a", json!({ "type": "string" }), structured(json!(1)))]));
    assert_eq!(session.call_result("a", json!({})).await.unwrap()["isError"], true);

    plain.set(json!([tool("b", json!({ "type": "integer" }), structured(json!(2)))]));
    assert_eq!(names(&session.tools().await.unwrap()), ["b"]);
    let gone = session.call_result("a", json!({})).await.unwrap_err().to_string();
    assert_eq!(gone, "error -32602: tool not found");
    assert_eq!(session.call_result("b", json!({})).await.unwrap()["structuredContent"], 2);
}

#[tokio::test]
async fn pages_stay_pages() {
    let t = |n| tool(&format!("t{n}"), json!({ "type": "integer" }), structured(json!(n)));
    let session = connect(Plain::new((0..7).map(t).collect()).paged(3), OLD).await;
    let page = session.request("tools/list", json!({})).await.unwrap();
    assert_eq!(page["tools"].as_array().unwrap().len(), 3);
    assert_eq!(page["nextCursor"], "3");
    assert_eq!(session.tools().await.unwrap().len(), 7);
    let last = session.call_result("t6", json!({})).await.unwrap();
    assert_eq!(last["structuredContent"], json!({ "result": 6 }));
}

#[tokio::test]
async fn a_server_may_stop_at_an_older_revision() {
    let options = ServerOptions::default().max_revision(Revision::V2025_06_18);
    let server = enforce_with(Plain::new(json!([])), options);
    assert!(testing::connect(server.clone(), Revision::V2025_06_18).await.is_ok());
    let error = testing::connect(server.clone(), Revision::V2025_11_25).await.unwrap_err();
    assert_eq!(error.to_string(), "expected revision 2025-11-25, found 2025-06-18");
    let error = testing::connect(server, Revision::V2026_07_28).await.unwrap_err().to_string();
    assert!(error.contains("rotocol version"), "{error}");
}

#[tokio::test]
async fn undeclared_capabilities_are_answered_only_where_that_is_allowed() {
    let bare = connect(Plain::new(json!([])), NEW).await;
    let prompts = bare.request("prompts/list", json!({})).await.unwrap();
    assert_eq!(prompts["prompts"], json!([]));
    let options = ServerOptions::default().declared_capabilities_only(true);
    let strict = connect_with(Plain::new(json!([])), options, NEW).await;
    for method in ["prompts/list", "resources/list", "resources/templates/list"] {
        let error = strict.request(method, json!({})).await.unwrap_err().to_string();
        assert_eq!(error, format!("error -32601: {method}"));
    }
    assert!(strict.tools().await.unwrap().is_empty());
}

/// A server that can do more than it says.
#[derive(Clone)]
struct Modest;

#[expect(deprecated, reason = "of older revisions")]
impl ServerHandler for Modest {
    async fn set_level(
        &self,
        _: rmcp::model::SetLevelRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }

    async fn subscribe(
        &self,
        _: SubscribeRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        Ok(())
    }
}

#[tokio::test]
async fn what_a_server_can_but_does_not_declare_is_not_answered() {
    for strict in [false, true] {
        let options = ServerOptions::default().declared_capabilities_only(strict);
        let session = connect_with(Modest, options, OLD).await;
        for (method, params) in [
            ("logging/setLevel", json!({ "level": "info" })),
            ("resources/subscribe", json!({ "uri": "file:///a" })),
        ] {
            let answer = session.request(method, params).await;
            assert_eq!(answer.is_err(), strict, "{method}: {answer:?}");
        }
    }
}

#[tokio::test]
async fn a_snapshot_shows_both_eras() {
    let server = enforce(Plain::new(json!([tool("n", json!({ "type": "integer" }), json!(null))])));
    let text = testing::snapshot(server).await.unwrap();
    let (old, new) = text.split_once("// 2026-07-28\n").unwrap();
    let old: Value = serde_json::from_str(old.strip_prefix("// 2025-11-25\n").unwrap()).unwrap();
    let new: Value = serde_json::from_str(new).unwrap();
    assert_eq!(old[0]["outputSchema"]["required"], json!(["result"]));
    assert_eq!(new[0]["outputSchema"], json!({ "type": "integer" }));
}

/// A server that knows its tools by name, and counts how often it is asked.
#[derive(Clone)]
struct ByName {
    plain: Plain,
    asked: Arc<AtomicUsize>,
}

impl ServerHandler for ByName {
    fn get_info(&self) -> ServerConfig {
        self.plain.get_info()
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        self.asked.fetch_add(1, Ordering::Relaxed);
        self.plain.find(name)
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.plain.call_tool(request, context).await
    }
}

#[tokio::test]
async fn tools_that_are_declared_to_change_are_asked_for_at_every_call() {
    let tools = json!([tool("a", json!({ "type": "integer" }), structured(json!(1)))]);
    let changed = json!([tool("a", json!({ "type": "string" }), structured(json!(1)))]);
    for changes in [false, true] {
        let plain = Plain::new(tools.clone());
        let plain = if changes { plain.changing() } else { plain };
        let server = ByName { plain: plain.clone(), asked: Arc::default() };
        let session = connect(server.clone(), NEW).await;
        for _ in 0..5 {
            assert_eq!(session.call_result("a", json!({})).await.unwrap()["structuredContent"], 1);
        }
        let asked = server.asked.load(Ordering::Relaxed);
        if changes {
            assert_eq!(asked, 5);
            plain.set(changed.clone());
            assert_eq!(session.call_result("a", json!({})).await.unwrap()["isError"], true);
        } else {
            assert!(asked <= 5, "{asked}");
        }
        // One that goes is gone, whatever was kept of it.
        plain.set(json!([]));
        let gone = session.call_result("a", json!({})).await.unwrap_err().to_string();
        assert_eq!(gone, "error -32602: tool not found");
    }
}
