//! Tools whose schemas refer to other documents.
#![expect(clippy::unwrap_used, reason = "answers requests of tests only")]

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use serde_json::{Value, json};
use toolbond::fetch::{FetchLimits, Policy};
use toolbond::testing::TestClient;
use toolbond::{Client, ClientOptions, ServerOptions, enforce_with, testing};
use toolbond_harness::http::HttpServer;
use toolbond_harness::wait::{HANG, wait_until};

use crate::server::{BOTH, NEW, Plain, connect_with, names, noting, structured, taking, tool};

/// Has `document` at every path, but not before it is released: the server, and what releases it.
fn serve(document: Value) -> (HttpServer, Arc<AtomicBool>) {
    let is_released = Arc::<AtomicBool>::default();
    let released = Arc::clone(&is_released);
    let server = HttpServer::start(move |_, reply| {
        wait_until("a release", || released.load(Ordering::SeqCst));
        reply.json(&document)
    });
    (server, is_released)
}

/// A policy that allows everything there, however long it takes on a busy machine.
fn allowing(documents: &HttpServer) -> Policy {
    let mut limits = FetchLimits::default();
    (limits.document_time, limits.total_time) = (HANG, HANG);
    Policy::default().limits(limits).allow(&documents.url("/")).unwrap()
}

/// A server with a tool `book` that refers to the document at `url`, and a tool `plain`.
fn server(url: &str) -> Plain {
    let mut book = tool("book", Value::Null, structured(json!(1)));
    let place = json!({ "$ref": format!("{url}city.json") });
    book["inputSchema"] =
        json!({ "type": "object", "properties": { "where": place }, "required": ["where"] });
    Plain::new(json!([book, tool("plain", Value::Null, json!({ "content": [] }))]))
}

/// Lists tools until `book` is among them: a list waits for documents only in the first second.
async fn complete(session: &TestClient) -> Vec<Value> {
    loop {
        let tools = session.tools().await.unwrap();
        if names(&tools) == ["book", "plain"] {
            return tools;
        }
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_server_lists_a_tool_with_its_documents() {
    let (documents, is_released) = serve(json!({ "type": "string", "minLength": 2 }));
    is_released.store(true, Ordering::SeqCst);
    let options = ServerOptions::default().fetch(allowing(&documents)).unwrap();
    let server = enforce_with(server(&documents.url("/")), options);
    for revision in BOTH {
        let session = testing::connect(server.clone(), revision).await.unwrap();
        let tools = complete(&session).await;
        assert!(tools[0].to_string().contains("minLength"), "{}", tools[0]);
        for (place, is_wrong) in [("Bern", false), ("B", true)] {
            let answer = session.call_result("book", json!({ "where": place })).await.unwrap();
            assert_eq!(answer["isError"] == true, is_wrong, "{answer}");
        }
    }
}

#[tokio::test]
async fn a_document_that_hangs_delays_no_other_tool() {
    let (documents, is_released) = serve(json!({ "type": "string" }));
    let (options, findings) = noting(|finding| Some(finding.to_string()));
    let options = options.fetch(allowing(&documents)).unwrap();
    let session = connect_with(server(&documents.url("/")), options, NEW).await;
    assert_eq!(names(&session.tools().await.unwrap()), ["plain"]);
    let said = findings.lock().unwrap().join("\n");
    assert!(said.contains("warning[external-ref] book"), "{said}");
    assert!(said.contains("still being fetched"), "{said}");
    session.call_result("plain", json!({})).await.unwrap();
    let error =
        session.call_result("book", json!({ "where": "Bern" })).await.unwrap_err().to_string();
    assert!(error.contains("still being fetched"), "{error}");
    is_released.store(true, Ordering::SeqCst);
    complete(&session).await;
    let good = session.call_result("book", json!({ "where": "Bern" })).await.unwrap();
    assert_ne!(good["isError"], true, "{good}");
}

#[tokio::test]
async fn a_list_has_a_limited_size_with_its_documents() {
    let body = json!({ "type": "string", "title": "x".repeat(900_000) });
    let (documents, is_released) = serve(body);
    is_released.store(true, Ordering::SeqCst);
    let tools = (0..10).map(|number| {
        let place = json!({ "$ref": documents.url(&format!("/{number}.json")) });
        taking(&format!("t{number}"), json!({ "type": "object", "properties": { "a": place } }))
    });
    let (options, findings) = noting(|finding| Some(finding.to_string()));
    let options = options.fetch(allowing(&documents)).unwrap();
    let session = connect_with(Plain::new(tools.collect()), options, NEW).await;
    let is_too_large = |note: &String| note.contains("exceed 8388608 bytes");
    loop {
        let tools = session.tools().await.unwrap();
        assert!(tools.len() < 10, "more than 8 MiB");
        if findings.lock().unwrap().iter().any(is_too_large) {
            break;
        }
    }
    // A call of a tool that the list had no room for is checked like any other.
    for number in 0..10 {
        let wrong = session.call_result(&format!("t{number}"), json!({ "a": 1 })).await;
        assert!(wrong.is_err() || wrong.unwrap()["isError"] == true, "{number}");
    }
    assert!(session.tools().await.unwrap().len() < 10);
}

#[tokio::test]
async fn what_is_not_allowed_is_not_fetched() {
    let (options, findings) = noting(|finding| Some(finding.to_string()));
    let options = options.fetch(Policy::default().allow("https://a.example/").unwrap()).unwrap();
    let session = connect_with(server("http://127.0.0.1:9/"), options, NEW).await;
    assert_eq!(names(&session.tools().await.unwrap()), ["plain"]);
    let said = findings.lock().unwrap().join("\n");
    let reason = "refers to http://127.0.0.1:9/city.json, which is not allowed \
                  (allow it with `Policy::allow(\"http://127.0.0.1:9/\")`)";
    assert!(said.contains(reason), "{said}");
}

#[tokio::test]
async fn a_client_uses_a_tool_with_its_documents() {
    let (documents, is_released) = serve(json!({ "type": "string", "minLength": 2 }));
    is_released.store(true, Ordering::SeqCst);
    let plain = server(&documents.url("/"));
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
    assert_eq!(client.revision(), NEW);
    assert_eq!(client.tools().await.unwrap().len(), 1);
    let options = ClientOptions::default().fetch(allowing(&documents)).unwrap();
    let client = connect(options).await.unwrap();
    while client.tools().await.unwrap().len() < 2 {
        tokio::task::yield_now().await;
    }
    assert_eq!(client.call_value("book", &json!({ "where": "Bern" })).await.unwrap(), 1);
    let refused = client.call_value("book", &json!({ "where": "B" })).await.unwrap_err();
    assert!(refused.to_string().contains("where"), "{refused}");
}
