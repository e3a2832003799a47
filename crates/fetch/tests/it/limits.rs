//! FetchLimits on all documents of a schema.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use futures_util::future::join_all;
use serde_json::{Value, json};
use toolbond_fetch::{DocumentErrorKind, FetchError, Fetcher, Policy};
use toolbond_harness::http::HttpServer;
use toolbond_harness::wait::HANG;

use crate::server::{held, json as document, start, start_at, stuck};
use crate::{at, documents, fetch, limited, referring_to};

async fn count(policy: Policy, schema: &Value) -> Result<usize, DocumentErrorKind> {
    Ok(documents(&Fetcher::new(policy).unwrap(), schema).await?.len())
}

fn all_of(server: &HttpServer, paths: &[&str]) -> Value {
    let references: Vec<_> = paths.iter().map(|path| referring_to(&server.url(path))).collect();
    json!({ "allOf": references })
}

/// Waits for so many connections.
async fn connected(server: &HttpServer, count: usize) {
    while server.connections() < count {
        tokio::task::yield_now().await;
    }
}

#[tokio::test]
async fn a_schema_refers_to_a_limited_number_of_documents() {
    let server = start(["/a", "/b", "/c"].map(|path| (path, document("{}"))));
    let policy = |most| limited(&server, |limits| limits.documents = most);
    let schema = all_of(&server, &["/a", "/b", "/c", "/a#"]);
    let refused = count(policy(2), &schema).await;
    assert_eq!(refused, Err(DocumentErrorKind::Documents { limit: 2 }));
    assert_eq!(server.connections(), 0);
    assert_eq!(count(policy(3), &schema).await, Ok(3));
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn documents_refer_to_each_other_in_a_limited_chain() {
    let documents = [("/1", "{\"$ref\":\"2\"}"), ("/2", "{\"$ref\":\"3\"}"), ("/3", "{}")];
    let server = start(documents.map(|(path, text)| (path, document(text))));
    let (at, schema) = (server.url(""), referring_to(&server.url("/1")));
    let policy = |most| limited(&server, |limits| limits.depth = most);
    let fetcher = Fetcher::new(policy(2)).unwrap();
    assert_eq!(
        fetcher.documents(&schema, None).await.unwrap_err().to_string(),
        format!(
            "{at}/2#/$ref refers to {at}/3, which is more than 2 documents away from the schema"
        )
    );
    assert_eq!(server.connections(), 2);
    assert_eq!(count(policy(3), &schema).await, Ok(3));
}

#[tokio::test]
async fn all_documents_together_have_a_size() {
    let body = format!("{{\"title\":\"{}\"}}", "x".repeat(1000));
    let server = start([("/a", document(&body)), ("/b", document(&body))]);
    let policy = |most| limited(&server, |limits| limits.total_bytes = most);
    let schema = all_of(&server, &["/a", "/b"]);
    let limit = 2 * body.len() - 1;
    let too_large = Err(DocumentErrorKind::TotalBytes { limit });
    assert_eq!(count(policy(limit), &schema).await, too_large);
    assert_eq!(count(policy(limit + 1), &schema).await, Ok(2));
    // Documents that are known already count, too.
    let fetcher = Fetcher::new(policy(limit)).unwrap();
    for path in ["/a", "/b"] {
        documents(&fetcher, &all_of(&server, &[path])).await.unwrap();
    }
    let before = server.connections();
    assert_eq!(documents(&fetcher, &schema).await.map(|all| all.len()), too_large);
    assert_eq!(server.connections(), before);
}

#[tokio::test]
async fn a_document_that_another_schema_fetches_counts_too() {
    let is_open = Arc::<AtomicBool>::default();
    let server = start(["/a", "/b"].map(|path| (path, held(&is_open))));
    // Each has two bytes.
    let fetcher = Fetcher::new(limited(&server, |limits| limits.total_bytes = 3)).unwrap();
    let (one, both) = (all_of(&server, &["/a"]), all_of(&server, &["/a", "/b"]));
    let waiting = async {
        connected(&server, 1).await;
        documents(&fetcher, &both).await
    };
    let open = async {
        connected(&server, 2).await;
        is_open.store(true, Ordering::SeqCst);
    };
    let (one, both, ()) = tokio::join!(documents(&fetcher, &one), waiting, open);
    assert_eq!(one.unwrap().len(), 1);
    assert_eq!(both.unwrap_err(), DocumentErrorKind::TotalBytes { limit: 3 });
}

/// Time passes where there is nothing else to do.
#[tokio::test(start_paused = true)]
async fn all_documents_together_have_a_time() {
    let server = start([("/a", stuck(""))]);
    let limit = Duration::from_secs(7);
    let fetcher = Fetcher::new(limited(&server, |limits| limits.total_time = limit)).unwrap();
    let error = fetcher.documents(&all_of(&server, &["/a"]), None).await.unwrap_err();
    assert!(matches!(error, FetchError::TotalTime { limit: found } if found == limit), "{error}");
}

#[tokio::test]
async fn connections_are_limited() {
    let is_open = Arc::<AtomicBool>::default();
    let server = start(["/1", "/2", "/3"].map(|path| (path, held(&is_open))));
    let other = start([("/a", document("{}"))]);
    let policy = limited(&server, |limits| limits.connections = 2);
    let schema = all_of(&server, &["/1", "/2", "/3"]);
    let look = async {
        connected(&server, 2).await;
        // The third would have come by now.
        fetch(at(&other), &other.url("/a")).await.unwrap();
        assert_eq!(server.connections(), 2);
        is_open.store(true, Ordering::SeqCst);
    };
    assert_eq!(tokio::join!(count(policy, &schema), look).0, Ok(3));
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn a_host_that_hangs_does_not_hold_up_others() {
    let hung = start([("/1", stuck("")), ("/2", stuck(""))]);
    let fine = start_at("127.0.0.2:0", [("/a", document("{}"))]);
    let policy = limited(&hung, |limits| limits.connections = 1).allow(&fine.url("/")).unwrap();
    let fetcher = Fetcher::new(policy).unwrap();
    let (slow, fast) = (all_of(&hung, &["/1", "/2"]), all_of(&fine, &["/a"]));
    tokio::select! {
        _ = documents(&fetcher, &slow) => panic!("it hangs"),
        found = documents(&fetcher, &fast) => assert_eq!(found.unwrap().len(), 1),
    }
}

#[tokio::test]
async fn a_document_is_fetched_once_for_several_schemas() {
    let is_open = Arc::<AtomicBool>::default();
    let server = start(["/1", "/2"].map(|path| (path, held(&is_open))));
    let fetcher = Fetcher::new(at(&server)).unwrap();
    let schema = all_of(&server, &["/1", "/2"]);
    let all = join_all((0..3).map(|_| documents(&fetcher, &schema)));
    let open = async {
        connected(&server, 2).await;
        is_open.store(true, Ordering::SeqCst);
    };
    for found in tokio::join!(all, open).0 {
        assert_eq!(found.unwrap().len(), 2);
    }
    assert_eq!(server.connections(), 2);
}

/// Time passes where there is nothing else to do.
#[tokio::test(start_paused = true)]
async fn a_document_that_took_too_long_is_not_requested_for_every_schema() {
    let server = start([("/a", stuck(""))]);
    let fetcher = Fetcher::new(at(&server)).unwrap();
    for _ in 0..3 {
        let found = documents(&fetcher, &all_of(&server, &["/a"])).await.unwrap_err();
        assert_eq!(found, DocumentErrorKind::DocumentTime { limit: HANG });
    }
    assert!(server.connections() <= 1);
    // Others are.
    tokio::time::resume();
    let found = documents(&fetcher, &all_of(&server, &["/b"])).await.unwrap_err();
    assert_eq!(found, DocumentErrorKind::Status { status: 404 });
}
