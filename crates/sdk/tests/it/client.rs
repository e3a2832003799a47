//! The client against servers of either era, ours and others.
#![expect(clippy::unwrap_used, reason = "connects for tests only")]

use rmcp::{
    ClientLifecycleMode, ClientServiceExt as _, ServerHandler, ServiceExt as _,
    model::ProtocolVersion,
};
use serde_json::{Value, json};
use toolpact::{Client, ClientError, enforce};

use crate::server::{Plain, structured, tool};

/// A real client of each era, over a pipe.
async fn connect(server: impl ServerHandler, is_modern: bool) -> Client<()> {
    let (near, far) = tokio::io::duplex(64 * 1024);
    tokio::spawn(async move {
        _ = server.serve(far).await.unwrap().waiting().await;
    });
    let lifecycle = if is_modern {
        ClientLifecycleMode::Discover { preferred_versions: vec![ProtocolVersion::V_2026_07_28] }
    } else {
        ClientLifecycleMode::Initialize
    };
    Client::new(().serve_with_lifecycle(near, lifecycle).await.unwrap()).await
}

#[tokio::test]
async fn both_eras_give_the_natural_value() {
    let values = [
        json!(null),
        json!(0),
        json!([1, 2]),
        json!("x"),
        json!({ "a": 1 }),
        json!({ "result": 1 }),
    ];
    for value in values {
        for is_modern in [false, true] {
            let server =
                enforce(Plain::new(json!([tool("v", json!({}), structured(value.clone()))])));
            let client = connect(server, is_modern).await;
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
    assert_eq!(error.to_string(), "tool `list`: the result is of another type");
    let error = client.call_value("nosuch", json!({})).await.unwrap_err();
    assert_eq!(error.to_string(), "no usable tool `nosuch`");
}

#[tokio::test]
async fn wrong_arguments_are_not_sent_and_wrong_results_not_returned() {
    let mut ranged = tool("ranged", Value::Null, json!({ "content": [] }));
    ranged["inputSchema"] = json!({ "type": "object", "required": ["n"] });
    // A bare server: nothing is checked on the other side.
    let server = Plain::new(json!([
        ranged,
        tool("lying", json!({ "type": "integer" }), structured(json!("x"))),
        tool(
            "failing",
            json!({ "type": "integer" }),
            json!({ "content": [{ "type": "text", "text": "no" }], "isError": true })
        ),
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
