//! Tools in the form of a target, and calls of them.

use serde_json::{Value, json};
use toolbond::{ServerOptions, ViewFor, targets::target};

use crate::server::{BOTH, NEW, OLD, Plain, connect_with, names};

/// A tool that Gemini does not take as it is, under `name`, with the required property `property`.
fn tool(name: &str, property: &str) -> Value {
    json!({
        "name": name,
        "description": "Reads.",
        "inputSchema": {
            "type": "object",
            "properties": {
                property: { "type": "string", "description": "P." },
                "labels": { "type": "object", "additionalProperties": { "type": "string" } },
            },
            "required": [property],
            "additionalProperties": false,
        },
        "_meta": { "answer": { "content": [] } },
    })
}

fn options() -> ServerOptions {
    ServerOptions::default().view_for(target("gemini").expect("a target"))
}

#[tokio::test]
async fn calls_of_views_reach_the_handler_restored_and_checked() {
    for revision in BOTH {
        let plain = Plain::new(json!([tool("files/read", "path"), tool("plain", "path")]));
        let client = connect_with(plain.clone(), options(), revision).await;
        let tools = client.tools().await.unwrap();
        let name = tools[0]["name"].as_str().unwrap();
        assert_ne!(name, "files/read");
        let schema = &tools[0]["inputSchema"];
        assert!(schema.get("additionalProperties").is_none(), "{schema}");
        assert_eq!(schema["properties"]["labels"]["type"], "array", "{schema}");
        for (name, own) in [(name, "files/read"), ("plain", "plain")] {
            let view = json!({ "path": "a", "labels": [{ "key": "k", "value": "v" }] });
            client.call_result(name, view).await.unwrap();
            let call = plain.calls().pop().unwrap();
            assert_eq!(call, json!({ "path": "a", "labels": { "k": "v" } }), "{own}");
        }
        // The own name takes its own arguments.
        client
            .call_result("files/read", json!({ "path": "b", "labels": { "k": "v" } }))
            .await
            .unwrap();
        let before = plain.calls().len();
        for wrong in [
            json!({ "path": 1 }),
            json!({ "path": "a", "paths": 1 }),
            json!({ "path": "a", "labels": [{ "key": "k", "value": 1 }] }),
        ] {
            let answer = client.call_result(name, wrong.clone()).await.unwrap();
            assert_eq!(answer["isError"], true, "{wrong}: {answer}");
        }
        assert_eq!(plain.calls().len(), before);
        // A server that was started again does not know the names that it gave.
        let client = connect_with(plain.clone(), options(), OLD).await;
        client.call_result(name, json!({ "path": "c" })).await.unwrap();
        assert_eq!(plain.calls().pop().unwrap(), json!({ "path": "c" }));
    }
}

#[tokio::test]
async fn names_stay_distinct_across_pages() {
    let tools = [tool("a/b", "one"), tool("a_b", "two"), tool("a b", "three")];
    let client = connect_with(Plain::new(json!(tools)).paged(1), options(), OLD).await;
    let listed = client.tools().await.unwrap();
    let names = names(&listed);
    assert!(names[0] != names[1] && names[1] != names[2] && names[0] != names[2], "{names:?}");
    for (name, property) in names.iter().zip(["one", "two", "three"]) {
        let answer = client.call_result(name, json!({ property: "x" })).await.unwrap();
        assert!(answer.get("isError").is_none_or(|it| it == false), "{name}: {answer}");
    }
}

#[tokio::test]
async fn unknown_clients_get_the_full_tools() {
    let plain = Plain::new(json!([tool("files/read", "path")]));
    let client = connect_with(plain, ServerOptions::default().view_for(ViewFor::Auto), NEW).await;
    assert_eq!(client.tools().await.unwrap()[0]["name"], "files/read");
    // Each request says whose it is.
    let meta = json!({ "io.modelcontextprotocol/clientInfo": { "name": "gemini-cli-mcp-client", "version": "1" } });
    let list = client.request("tools/list", json!({ "_meta": meta })).await.unwrap();
    assert_ne!(list["tools"][0], tool("files/read", "path"));
}
