//! Handlers that panic: the request gets an error, and the server lives.
#![expect(clippy::unwrap_used, deprecated, reason = "a server for tests only, of every revision")]

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::*,
    service::{RequestContext, SubscriptionContext},
};
use serde_json::{Value, json};
use toolbond::{ServerOptions, enforce, testing};

use crate::http::Served;
use crate::server::{BOTH, connect_with};

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
        // One that is not known by its name is looked for in the list.
        (name != "listed").then(|| serde_json::from_value(tool).unwrap())
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

/// What is asked in revisions of this era.
fn requests(is_modern: bool) -> Vec<(&'static str, Value)> {
    let reference = json!({ "type": "ref/prompt", "name": "p" });
    let mut requests = vec![
        ("tools/list", json!({})),
        ("prompts/list", json!({})),
        ("prompts/get", json!({ "name": "p" })),
        ("resources/list", json!({})),
        ("resources/templates/list", json!({})),
        ("resources/read", json!({ "uri": "test://a" })),
        (
            "completion/complete",
            json!({ "ref": reference, "argument": { "name": "a", "value": "" } }),
        ),
        ("own/method", json!({})),
    ];
    if is_modern {
        let changes = json!({ "notifications": { "resourcesListChanged": true } });
        requests.push(("subscriptions/listen", changes));
    } else {
        requests.push(("ping", json!({})));
        requests.push(("logging/setLevel", json!({ "level": "info" })));
        requests.push(("resources/subscribe", json!({ "uri": "test://a" })));
        requests.push(("resources/unsubscribe", json!({ "uri": "test://a" })));
    }
    requests
}

#[tokio::test]
async fn each_request_gets_an_error_and_the_next_an_answer() {
    for revision in BOTH {
        let options = ServerOptions::default().declared_capabilities_only(true);
        let session = connect_with(Panics, options, revision.clone()).await;
        for (method, params) in requests(revision.is_natural()) {
            let error = session.request(method, params).await.unwrap_err().to_string();
            assert_eq!(error, "error -32603: internal error", "{method}");
        }
        // The second call of a tool takes the short path.
        for _ in 0..2 {
            for name in ["panicking", "lost", "listed"] {
                let panicked = session.call_result(name, json!({})).await;
                let text = format!("{panicked:?}");
                assert!(text.contains("internal error") && !text.contains("secret"), "{text}");
            }
            let count = session.call_result("count", json!({})).await.unwrap();
            assert_eq!(count["content"][0]["text"], "42");
        }
    }
}

#[test]
fn over_http_too() {
    let served = Served::new(Panics);
    for (method, mut params) in requests(true) {
        // What a subscription is answered is a stream.
        if method != "subscriptions/listen" {
            let named = params.get("uri").or(params.get("name")).cloned();
            params["name"] = named.unwrap_or_default();
            let answer = served.modern(method, &params);
            assert_eq!(answer["error"]["message"], "internal error", "{method}: {answer}");
        }
    }
    for name in ["panicking", "lost", "panicking", "lost"] {
        let answer = served.modern("tools/call", &json!({ "name": name })).to_string();
        assert!(answer.contains("internal error") && !answer.contains("secret"), "{answer}");
    }
    let count = served.modern("tools/call", &json!({ "name": "count" }));
    assert_eq!(count["result"]["content"][0]["text"], "42", "{count}");
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
    for revision in BOTH {
        let error = testing::connect(enforce(Nobody), revision).await.unwrap_err();
        assert_eq!(error.to_string(), "error -32603: internal error");
    }
}
