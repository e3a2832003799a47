//! The client against servers of either era, ours and others.
#![expect(clippy::unwrap_used, reason = "connects for tests only")]

use std::{
    sync::{Arc, Mutex},
    time::Duration,
};

use rmcp::{
    ClientLifecycleMode, ClientServiceExt as _, ErrorData, RoleServer, ServerHandler,
    ServiceExt as _,
    model::{
        CallToolRequestParams, CallToolResponse, ListToolsResult, PaginatedRequestParams,
        ProtocolVersion, ServerCapabilities, ServerConfig,
    },
    service::RequestContext,
};
use serde_json::{Value, json};
use tokio::sync::Notify;
use toolbond::contract::Side;
use toolbond::{Client, ClientError, ClientOptions, Mode, enforce, testing};

use crate::server::{NEW, Plain, structured, taking, tool};

/// A real client of each era, over a pipe.
async fn connect(server: impl ServerHandler, is_modern: bool) -> Client<()> {
    connect_with(server, is_modern, ClientOptions::default()).await
}

pub(crate) async fn connect_with(
    server: impl ServerHandler,
    is_modern: bool,
    options: ClientOptions,
) -> Client<()> {
    let (near, far) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move {
        _ = server.serve(far).await.unwrap().waiting().await;
    });
    let client = ().serve_with_lifecycle(near, lifecycle(is_modern)).await.unwrap();
    Client::with_options(client, options)
}

/// How a client of each era connects.
pub(crate) fn lifecycle(is_modern: bool) -> ClientLifecycleMode {
    if is_modern {
        let preferred_versions = vec![ProtocolVersion::V_2026_07_28];
        ClientLifecycleMode::Discover { preferred_versions }
    } else {
        ClientLifecycleMode::Initialize
    }
}

#[tokio::test]
async fn both_eras_give_the_natural_value() {
    let plain = [json!(null), json!(0), json!([1, 2]), json!("x")];
    for value in plain.into_iter().chain([json!({ "a": 1 }), json!({ "result": 1 })]) {
        for is_modern in [false, true] {
            let server = Plain::new(json!([tool("v", json!({}), structured(value.clone()))]));
            let client = connect(enforce(server), is_modern).await;
            assert_eq!(client.revision().is_natural(), is_modern);
            assert_eq!(client.tools().await.unwrap()[0].output().unwrap().value(), &json!({}));
            assert_eq!(client.call_value("v", json!({})).await.unwrap(), value);
        }
    }
}

#[tokio::test]
async fn results_are_typed() {
    let array = json!({ "type": "array", "items": { "type": "integer" } });
    let tools = json!([
        tool("list", array, structured(json!([1, 2]))),
        tool("text", Value::Null, json!({ "content": [{ "type": "text", "text": "hello" }] })),
    ]);
    let client = connect(enforce(Plain::new(tools)), false).await;
    assert_eq!(client.call::<Vec<u8>>("list", json!({})).await.unwrap(), [1, 2]);
    assert_eq!(client.call::<String>("text", json!({})).await.unwrap(), "hello");
    let error = client.call::<String>("list", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "tool `list`: expected `alloc::string::String`, found [1,2]");
    let cause = std::error::Error::source(&error).unwrap().to_string();
    assert_eq!(cause, "invalid type: sequence, expected a string");
    let error = client.call_value("nosuch", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "no usable tool `nosuch`");
}

#[tokio::test]
async fn a_string_is_the_text_even_if_that_is_json() {
    for text in ["42", "true", "null", "\"quoted\"", "{\"a\":1}", "hello"] {
        let answer = json!({ "content": [{ "type": "text", "text": text }] });
        let server = enforce(Plain::new(json!([tool("t", Value::Null, answer)])));
        for is_modern in [false, true] {
            let client = connect(server.clone(), is_modern).await;
            assert_eq!(client.call::<String>("t", json!({})).await.unwrap(), text);
        }
    }
}

#[tokio::test]
async fn wrong_arguments_are_not_sent_and_wrong_results_not_returned() {
    let failing = json!({ "content": [{ "type": "text", "text": "no" }], "isError": true });
    // A bare server: nothing is checked on the other side.
    let server = Plain::new(json!([
        taking("ranged", json!({ "type": "object", "required": ["n"] })),
        tool("lying", json!({ "type": "integer" }), structured(json!("x"))),
        tool("failing", json!({ "type": "integer" }), failing),
        tool("remote", json!({ "$ref": "http://127.0.0.1:1/x.json" }), structured(json!(1))),
    ]));
    let client = connect(server.clone(), true).await;
    let error = client.call_value("ranged", json!({})).await.unwrap_err();
    assert!(matches!(error, ClientError::InvalidArguments { .. }), "{error}");
    assert!(server.calls().is_empty());
    let error = client.call_value("lying", json!({})).await.unwrap_err();
    assert!(matches!(error, ClientError::InvalidResult { .. }), "{error}");
    let error = client.call_value("failing", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "tool `failing`: no");
    // A schema that leads elsewhere is left out, and nothing is fetched.
    assert_eq!(client.call_value("remote", json!({})).await.unwrap(), 1);
    assert_eq!(client.tools().await.unwrap().len(), 4);
}

#[tokio::test]
async fn a_result_that_can_mean_only_one_thing_is_repaired_if_asked_for() {
    let text = |text: &str| json!({ "content": [{ "type": "text", "text": text }] });
    let object = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
    // A bare server: nothing is checked on the other side.
    let server = Plain::new(json!([
        tool("text", object.clone(), text(r#"{ "n": 1 }"#)),
        tool("number", object.clone(), structured(json!({ "n": "1" }))),
        tool("null", object.clone(), structured(json!({ "n": null }))),
        tool("lying", object, structured(json!({ "n": "one" }))),
    ]));
    for is_modern in [false, true] {
        let options = ClientOptions::default().results(Mode::Repair);
        let client = connect_with(server.clone(), is_modern, options).await;
        let call = async |name| client.call_value(name, json!({})).await.unwrap();
        assert_eq!(call("text").await, json!({ "n": 1 }));
        assert_eq!(call("number").await, json!({ "n": 1 }));
        assert_eq!(call("null").await, json!({}));
        assert_eq!(call("lying").await, json!({ "n": "one" }));
        let client = connect(server.clone(), is_modern).await;
        for name in ["text", "number", "null", "lying"] {
            let error = client.call_value(name, json!({})).await.unwrap_err();
            assert!(matches!(error, ClientError::InvalidResult { .. }), "{name}: {error}");
        }
    }
}

#[tokio::test]
async fn an_error_has_its_details() {
    let answer = json!({ "content": [{ "type": "text", "text": "no such hour" }],
        "structuredContent": { "last": 23 }, "isError": true });
    let server = enforce(Plain::new(json!([tool("failing", Value::Null, answer)])));
    for is_modern in [false, true] {
        let client = connect(server.clone(), is_modern).await;
        let Err(ClientError::Tool { message, result, .. }) =
            client.call_value("failing", json!({})).await
        else {
            panic!("expected an error of the tool");
        };
        assert_eq!(message, "no such hour");
        assert_eq!(result.structured_content, Some(json!({ "last": 23 })));
    }
}

#[tokio::test]
async fn content_that_is_no_value_is_given_as_it_is() {
    let text = json!({ "type": "text", "text": "1" });
    let image = json!({ "type": "image", "data": "AAAA", "mimeType": "image/png" });
    for (content, value) in [
        (json!([]), Some(Value::Null)),
        (json!([text]), Some(json!(1))),
        (json!([text, text]), None),
        (json!([image]), None),
        (json!([text, image]), None),
    ] {
        let answer = json!({ "content": content, "_meta": { "kept": true } });
        let server = enforce(Plain::new(json!([tool("t", Value::Null, answer)])));
        let client = connect(server, false).await;
        let whole = json!(client.call_result("t", json!({})).await.unwrap());
        assert_eq!((&whole["content"], &whole["_meta"]["kept"]), (&content, &json!(true)));
        match client.call_value("t", json!({})).await {
            Err(ClientError::Content { result, .. }) => {
                assert_eq!((value, json!(result.content)), (None, content));
            }
            called => assert_eq!(Some(called.unwrap()), value),
        }
    }
}

/// A server that takes for ever, and says when it is told that nobody waits.
#[derive(Clone)]
struct Silent {
    lists: bool,
    cancelled: Arc<Notify>,
}

impl ServerHandler for Silent {
    fn get_info(&self) -> ServerConfig {
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
    }

    async fn list_tools(
        &self,
        _: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        if !self.lists {
            self.wait::<()>(context).await;
        }
        let tool = serde_json::from_value(tool("t", Value::Null, Value::Null)).unwrap();
        Ok(ListToolsResult::with_all_items(vec![tool]))
    }

    async fn call_tool(
        &self,
        _: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.wait(context).await
    }
}

impl Silent {
    async fn wait<T>(&self, context: RequestContext<RoleServer>) -> T {
        context.ct.cancelled().await;
        self.cancelled.notify_one();
        std::future::pending().await
    }
}

/// Time passes where there is nothing else to do.
#[tokio::test(start_paused = true)]
async fn an_answer_that_does_not_come_is_not_waited_for() {
    for (is_modern, lists) in [(false, false), (false, true), (true, false), (true, true)] {
        let server = Silent { lists, cancelled: Arc::default() };
        let quick = ClientOptions::default().timeout(Duration::from_millis(5));
        for (limit, options) in [("60s", ClientOptions::default()), ("5ms", quick)] {
            let client = connect_with(server.clone(), is_modern, options).await;
            let error = client.call_value("t", json!({})).await.unwrap_err();
            assert_eq!(error.to_string(), format!("no answer within {limit}"));
            let cancelled = server.cancelled.notified();
            tokio::time::timeout(Duration::from_secs(60), cancelled).await.expect("a word of it");
        }
    }
}

#[tokio::test]
async fn what_is_wrong_is_refused_reported_or_passed() {
    let mut ranged = tool("ranged", json!({ "type": "integer" }), structured(json!("x")));
    ranged["inputSchema"] = json!({ "type": "object", "required": ["n"] });
    for mode in Mode::ALL {
        let rules = Arc::new(Mutex::new(Vec::new()));
        let heard = Arc::clone(&rules);
        let options =
            ClientOptions::default().arguments(mode).results(mode).on_finding(move |finding| {
                if matches!(finding.side, Some(Side::Arguments | Side::Result)) {
                    heard.lock().unwrap().push(finding.rule.to_owned());
                }
            });
        let server = Plain::new(json!([ranged.clone()]));
        let client = connect_with(server.clone(), true, options).await;
        let called = client.call_value("ranged", json!({})).await;
        let rules = rules.lock().unwrap().clone();
        match mode {
            Mode::Repair | Mode::Enforce => {
                assert!(matches!(called, Err(ClientError::InvalidArguments { .. })), "{called:?}");
                assert_eq!(rules, ["arguments-invalid"]);
            }
            Mode::Warn => {
                assert_eq!(called.unwrap(), "x");
                assert_eq!(rules, ["arguments-invalid", "result-invalid"]);
            }
            _ => {
                assert_eq!(called.unwrap(), "x");
                assert_eq!(rules, Vec::<String>::new());
            }
        }
        // What is no object cannot be sent at all.
        let called = client.call_value("ranged", json!([1])).await;
        assert!(matches!(called, Err(ClientError::InvalidArguments { .. })), "{called:?}");
    }
}

#[tokio::test]
async fn lists_are_kept_until_their_time_is_over_or_the_server_says_so() {
    let with = |name: &str, value: Value| json!([tool(name, json!({}), structured(value))]);
    for is_modern in [false, true] {
        let server = Plain::new(with("a", json!(1))).ttl(600_000).changing();
        let client = connect(enforce(server.clone()), is_modern).await;
        for _ in 0..3 {
            assert_eq!(client.call_value("a", json!({})).await.unwrap(), 1);
        }
        // The server itself looks at its list for every call.
        let asked = server.lists();
        client.tools().await.unwrap();
        assert_eq!(server.lists(), asked, "kept");
        server.change(with("b", json!(2)));
        // The notification takes its own way.
        while client.tools().await.unwrap()[0].name() != "b" {
            tokio::task::yield_now().await;
        }
        assert_eq!(client.call_value("b", json!({})).await.unwrap(), 2);
        let gone = client.call_value("a", json!({})).await.unwrap_err();
        assert!(matches!(gone, ClientError::UnknownTool { .. }));
    }
    // Nothing is kept for longer than the server allows.
    let server = Plain::new(with("a", json!(1))).ttl(0);
    let client = connect(server.clone(), true).await;
    client.tools().await.unwrap();
    server.set(with("b", json!(2)));
    assert_eq!(client.tools().await.unwrap()[0].name(), "b");
}

#[tokio::test]
async fn schemas_keep_every_keyword_and_lists_all_pages() {
    let schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$comment": "kept",
        "type": "object",
        "$defs": { "address": { "$anchor": "address", "type": "object", "x-own": [1] } },
        "properties": { "home": { "$ref": "#address" } },
        "if": { "required": ["home"] },
        "then": { "minProperties": 1 },
        "unevaluatedProperties": false
    });
    let tools: Value = (0..7).map(|n| taking(&format!("t{n}"), schema.clone())).collect();
    for is_modern in [false, true] {
        let server = Plain::new(tools.clone()).paged(2);
        let listed = connect(server, is_modern).await.tools().await.unwrap();
        assert_eq!(listed.len(), 7);
        assert!(listed.iter().all(|contract| *contract.input().value() == schema));
    }
}

#[tokio::test]
async fn a_list_without_an_end_is_given_up() {
    // Each page is empty, and there is another one.
    let endless = Plain::new(json!([taking("t", json!({ "type": "object" }))])).paged(0);
    let error = connect(endless.clone(), true).await.tools().await.unwrap_err();
    assert_eq!(error.to_string(), "the tool list has more than 1000 pages");
    let error = testing::list_tools(endless, NEW).await.unwrap_err();
    assert_eq!(error.to_string(), "the tool list has more than 1000 pages");
}

#[tokio::test]
async fn a_server_that_is_gone_is_no_connection() {
    let (near, far) = tokio::io::duplex(64 * 1024);
    drop(far);
    let error = Client::connect(near).await.unwrap_err();
    assert!(matches!(error, ClientError::Connect(_)), "{error:?}");
    assert_eq!(error.to_string(), "could not connect to the server");
}
