//! Tools whose schemas refer to other documents.
#![expect(clippy::unwrap_used, reason = "answers requests of tests only")]

use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::TcpListener;
use tokio::sync::watch;
use toolbond::fetch::Policy;
use toolbond::{Client, ClientOptions, Revision, ServerOptions, enforce_with, testing};

use crate::server::{Plain, structured, tool};

/// Answers every request with `body`, but not before it is released: the URL, and what releases it.
async fn document(body: &'static str) -> (String, watch::Sender<bool>) {
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let url = format!("http://{}/", listener.local_addr().unwrap());
    let (release, released) = watch::channel(false);
    tokio::spawn(async move {
        while let Ok((mut stream, _)) = listener.accept().await {
            let mut released = released.clone();
            tokio::spawn(async move {
                let _ = stream.read(&mut [0; 1024]).await;
                let _ = released.wait_for(|it| *it).await;
                let head = format!("HTTP/1.1 200 OK\r\ncontent-length: {}\r\n\r\n", body.len());
                let _ = stream.write_all(format!("{head}{body}").as_bytes()).await;
            });
        }
    });
    (url, release)
}

/// A server with a tool `book` that refers to the document at `url`, and a tool `plain`.
fn server(url: &str) -> Plain {
    let mut book = tool("book", Value::Null, structured(json!(1)));
    let uri = format!("{url}city.json");
    book["inputSchema"] = json!({ "type": "object", "properties": { "where": { "$ref": uri } }, "required": ["where"] });
    Plain::new(json!([book, tool("plain", Value::Null, json!({ "content": [] }))]))
}

fn names(tools: &[Value]) -> Vec<&str> {
    tools.iter().filter_map(|tool| tool["name"].as_str()).collect()
}

#[tokio::test]
async fn a_server_lists_a_tool_with_its_documents() {
    let (url, release) = document(r#"{"type":"string","minLength":2}"#).await;
    release.send(true).unwrap();
    let options = ServerOptions::default().fetch(Policy::default().allow(&url).unwrap()).unwrap();
    let server = enforce_with(server(&url), options);
    for revision in [Revision::V2025_11_25, Revision::V2026_07_28] {
        let session = testing::connect(server.clone(), revision).await.unwrap();
        let tools = session.tools().await.unwrap();
        assert_eq!(names(&tools), ["book", "plain"]);
        assert!(tools[0].to_string().contains("minLength"), "{}", tools[0]);
        let good = session.call("book", json!({ "where": "Bern" })).await.unwrap();
        assert_ne!(good["isError"], true, "{good}");
        let bad = session.call("book", json!({ "where": "B" })).await.unwrap();
        assert_eq!(bad["isError"], true, "{bad}");
    }
}

#[tokio::test]
async fn a_document_that_hangs_delays_no_other_tool() {
    let (url, release) = document(r#"{"type":"string"}"#).await;
    let findings = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&findings);
    let options = ServerOptions::default()
        .on_finding(move |finding| heard.lock().unwrap().push(finding.to_string()))
        .fetch(Policy::default().allow(&url).unwrap())
        .unwrap();
    let server = enforce_with(server(&url), options);
    let session = testing::connect(server, Revision::V2026_07_28).await.unwrap();
    assert_eq!(names(&session.tools().await.unwrap()), ["plain"]);
    let said = findings.lock().unwrap().join("\n");
    assert!(said.contains("warning[external-ref] book"), "{said}");
    assert!(said.contains("still being fetched"), "{said}");
    session.call("plain", json!({})).await.unwrap();
    let error = session.call("book", json!({ "where": "Bern" })).await.unwrap_err().to_string();
    assert!(error.contains("still being fetched"), "{error}");
    release.send(true).unwrap();
    // A list waits only for the first second of a request.
    while names(&session.tools().await.unwrap()) != ["book", "plain"] {
        tokio::time::sleep(std::time::Duration::from_millis(20)).await;
    }
    let good = session.call("book", json!({ "where": "Bern" })).await.unwrap();
    assert_ne!(good["isError"], true, "{good}");
}

#[tokio::test]
async fn what_is_not_allowed_is_not_fetched() {
    let findings = Arc::new(Mutex::new(Vec::new()));
    let heard = Arc::clone(&findings);
    let options = ServerOptions::default()
        .on_finding(move |finding| heard.lock().unwrap().push(finding.to_string()))
        .fetch(Policy::default().allow("https://a.example/").unwrap())
        .unwrap();
    let server = enforce_with(server("http://127.0.0.1:9/"), options);
    let tools = testing::list_tools(server, Revision::V2026_07_28).await.unwrap();
    assert_eq!(names(&tools), ["plain"]);
    let said = findings.lock().unwrap().join("\n");
    let reason = "refers to http://127.0.0.1:9/city.json, which is not allowed \
                  (allow it with `Policy::allow(\"http://127.0.0.1:9/\")`)";
    assert!(said.contains(reason), "{said}");
}

#[tokio::test]
async fn a_client_uses_a_tool_with_its_documents() {
    let (url, release) = document(r#"{"type":"string","minLength":2}"#).await;
    release.send(true).unwrap();
    let plain = server(&url);
    let connect = |options: ClientOptions| {
        let (ours, theirs) = tokio::io::duplex(1 << 16);
        let plain = plain.clone();
        tokio::spawn(async move {
            let running = rmcp::ServiceExt::serve(plain, theirs).await.unwrap();
            running.waiting().await.unwrap();
        });
        Client::connect_with(ours, options)
    };
    let client = connect(ClientOptions::default()).await.unwrap();
    assert_eq!(client.tools().await.unwrap().len(), 1);
    let policy = Policy::default().allow(&url).unwrap();
    let client = connect(ClientOptions::default().fetch(policy).unwrap()).await.unwrap();
    assert_eq!(client.tools().await.unwrap().len(), 2);
    assert_eq!(client.call_value("book", &json!({ "where": "Bern" })).await.unwrap(), 1);
    let refused = client.call_value("book", &json!({ "where": "B" })).await.unwrap_err();
    assert!(refused.to_string().contains("where"), "{refused}");
}
