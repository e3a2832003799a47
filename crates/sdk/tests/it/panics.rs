//! Handlers that panic: the request gets an error, and the server lives.
#![expect(clippy::unwrap_used, deprecated, reason = "a server for tests only, of every revision")]

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::*,
    service::{RequestContext, SubscriptionContext},
};
use serde_json::{Value, json};
use toolbond::{Http, Revision, ServerOptions, enforce_with, testing};

use crate::http::Served;

/// Panics wherever a request leads to, except in the handshake and in the tool `count`.
#[derive(Clone)]
struct Panics;

macro_rules! panics {
    ($($method:ident($($request:ty)?) -> $answer:ty;)*) => {$(
        async fn $method(
            &self,
            $(_: $request,)?
            _: RequestContext<RoleServer>,
        ) -> Result<$answer, ErrorData> {
            panic!("secret")
        }
    )*};
}

impl ServerHandler for Panics {
    fn get_info(&self) -> ServerConfig {
        let all = json!({
            "tools": {}, "prompts": {}, "resources": { "subscribe": true, "listChanged": true },
            "completions": {}, "logging": {}
        });
        ServerConfig::new(serde_json::from_value(all).unwrap())
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        assert!(name != "lost", "secret");
        let tool = json!({ "name": name, "inputSchema": { "type": "object" } });
        Some(serde_json::from_value(tool).unwrap())
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        _: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        assert!(request.name == "count", "secret");
        Ok(CallToolResult::success(vec![ContentBlock::text("42")]).into())
    }

    fn accepted_subscription_filter(&self, all: &SubscriptionFilter) -> Option<SubscriptionFilter> {
        Some(all.clone())
    }

    async fn listen(&self, _: SubscriptionContext) -> Result<(), ErrorData> {
        panic!("secret")
    }

    /// Before there is a future.
    fn list_prompts(
        &self,
        _: Option<PaginatedRequestParams>,
        _: RequestContext<RoleServer>,
    ) -> impl Future<Output = Result<ListPromptsResult, ErrorData>> + Send {
        assert!(self.get_info().capabilities.prompts.is_none(), "secret");
        std::future::ready(Ok(ListPromptsResult::default()))
    }

    panics! {
        ping() -> ();
        list_tools(Option<PaginatedRequestParams>) -> ListToolsResult;
        get_prompt(GetPromptRequestParams) -> GetPromptResponse;
        list_resources(Option<PaginatedRequestParams>) -> ListResourcesResult;
        list_resource_templates(Option<PaginatedRequestParams>) -> ListResourceTemplatesResult;
        read_resource(ReadResourceRequestParams) -> ReadResourceResponse;
        subscribe(SubscribeRequestParams) -> ();
        unsubscribe(UnsubscribeRequestParams) -> ();
        complete(CompleteRequestParams) -> CompleteResult;
        set_level(SetLevelRequestParams) -> ();
        on_custom_request(CustomRequest) -> CustomResult;
    }
}

/// What is asked in each revision; some only before 2026-07-28, and some only since.
fn requests() -> Vec<(&'static str, Value, bool, bool)> {
    let reference = json!({ "type": "ref/prompt", "name": "p" });
    let complete = json!({ "ref": reference, "argument": { "name": "a", "value": "" } });
    let resource = json!({ "uri": "test://a" });
    vec![
        ("tools/list", json!({}), true, true),
        ("prompts/list", json!({}), true, true),
        ("prompts/get", json!({ "name": "p" }), true, true),
        ("resources/list", json!({}), true, true),
        ("resources/templates/list", json!({}), true, true),
        ("resources/read", resource.clone(), true, true),
        ("completion/complete", complete, true, true),
        ("own/method", json!({}), true, true),
        ("ping", json!({}), true, false),
        ("logging/setLevel", json!({ "level": "info" }), true, false),
        ("resources/subscribe", resource.clone(), true, false),
        ("resources/unsubscribe", resource, true, false),
        (
            "subscriptions/listen",
            json!({ "notifications": { "resourcesListChanged": true } }),
            false,
            true,
        ),
    ]
}

#[tokio::test]
async fn each_request_gets_an_error_and_the_next_an_answer() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let server =
            enforce_with(Panics, ServerOptions::default().declared_capabilities_only(true));
        let session = testing::connect(server, revision.clone()).await.unwrap();
        for (method, params, is_old, is_new) in requests() {
            if if revision.is_natural() { is_new } else { is_old } {
                let error = session.request(method, params).await.unwrap_err().to_string();
                assert_eq!(error, "error -32603: internal error", "{method}");
            }
        }
        // The second call of a tool takes the short path.
        for _ in 0..2 {
            for name in ["panicking", "lost"] {
                let panicked = session.call(name, json!({})).await;
                let text = format!("{panicked:?}");
                assert!(text.contains("internal error") && !text.contains("secret"), "{text}");
            }
            let count = session.call("count", json!({})).await.unwrap();
            assert_eq!(count["content"][0]["text"], "42");
        }
    }
}

#[tokio::test]
async fn over_http_too() {
    let served = Served::of(Panics, Http::bind("127.0.0.1:0").await.unwrap());
    for (method, mut params, _, is_new) in requests() {
        // What a subscription is answered is a stream.
        if is_new && method != "subscriptions/listen" {
            let named = params.get("uri").or(params.get("name")).cloned();
            params["name"] = named.unwrap_or_default();
            let answer = served.modern(method, params).await;
            assert_eq!(answer["error"]["message"], "internal error", "{method}: {answer}");
        }
    }
    for name in ["panicking", "lost", "panicking", "lost"] {
        let answer = served.modern("tools/call", json!({ "name": name })).await.to_string();
        assert!(answer.contains("internal error") && !answer.contains("secret"), "{answer}");
    }
    let count = served.modern("tools/call", json!({ "name": "count" })).await;
    assert_eq!(count["result"]["content"][0]["text"], "42", "{count}");
    served.end().await;
}

/// A server that cannot say who it is.
#[derive(Clone)]
struct Nobody;

impl ServerHandler for Nobody {
    fn get_info(&self) -> ServerConfig {
        panic!("secret")
    }
}

#[tokio::test]
async fn a_handshake_is_refused() {
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let error = testing::connect(toolbond::enforce(Nobody), revision).await.unwrap_err();
        assert_eq!(error.to_string(), "error -32603: internal error");
    }
}
