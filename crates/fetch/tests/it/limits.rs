//! Limits on all documents of a schema.

use std::time::Duration;

use serde_json::json;
use toolbond_fetch::{DocumentErrorKind, FetchError, Fetcher, Limits, Policy};

use crate::server::{Reply, Server, json as document, response};
use crate::{allowing, kind, referring_to};

fn limited(server: &Server, change: impl FnOnce(&mut Limits)) -> Policy {
    let mut limits = Limits::default();
    change(&mut limits);
    allowing(&[&server.url("/")]).limits(limits)
}

async fn collect(policy: Policy, schema: serde_json::Value) -> Result<usize, FetchError> {
    let documents = Fetcher::new(policy).unwrap().documents(&schema, None).await;
    documents.map(|documents| documents.len())
}

fn all_of(server: &Server, paths: &[&str]) -> serde_json::Value {
    let references: Vec<_> = paths.iter().map(|path| referring_to(&server.url(path))).collect();
    json!({ "allOf": references })
}

#[tokio::test]
async fn a_schema_refers_to_a_limited_number_of_documents() {
    let server =
        Server::start([("/a", document("{}")), ("/b", document("{}")), ("/c", document("{}"))])
            .await;
    let policy = |most| limited(&server, |limits| limits.documents = most);
    let schema = all_of(&server, &["/a", "/b", "/c", "/a#"]);
    assert_eq!(
        kind(collect(policy(2), schema.clone()).await),
        DocumentErrorKind::Documents { limit: 2 }
    );
    assert_eq!(server.connections(), 0);
    assert_eq!(collect(policy(3), schema).await.unwrap(), 3);
    assert_eq!(server.connections(), 3);
}

#[tokio::test]
async fn documents_refer_to_each_other_in_a_limited_chain() {
    let chain = Server::start([
        ("/1", document("{\"$ref\":\"2\"}")),
        ("/2", document("{\"$ref\":\"3\"}")),
        ("/3", document("{}")),
    ])
    .await;
    let at = chain.url("");
    let policy = |most| limited(&chain, |limits| limits.depth = most);
    let schema = referring_to(&chain.url("/1"));
    let error = collect(policy(2), schema.clone()).await.unwrap_err();
    assert_eq!(
        error.to_string(),
        format!(
            "{at}/2#/$ref refers to {at}/3, which is more than 2 documents away from the schema"
        )
    );
    assert_eq!(chain.connections(), 2);
    assert_eq!(collect(policy(3), schema).await.unwrap(), 3);
}

#[tokio::test]
async fn all_documents_together_have_a_size() {
    let body = format!("{{\"title\":\"{}\"}}", "x".repeat(1000));
    let server = Server::start([("/a", document(&body)), ("/b", document(&body))]).await;
    let policy = |most| limited(&server, |limits| limits.total_bytes = most);
    let schema = all_of(&server, &["/a", "/b"]);
    let limit = 2 * body.len() - 1;
    let found = kind(collect(policy(limit), schema.clone()).await);
    assert_eq!(found, DocumentErrorKind::TotalBytes { limit });
    assert_eq!(collect(policy(limit + 1), schema.clone()).await.unwrap(), 2);
    // Documents that are known already count, too.
    let fetcher = Fetcher::new(policy(limit)).unwrap();
    for path in ["/a", "/b"] {
        fetcher.documents(&all_of(&server, &[path]), None).await.unwrap();
    }
    let before = server.connections();
    assert!(matches!(
        kind(fetcher.documents(&schema, None).await),
        DocumentErrorKind::TotalBytes { .. }
    ));
    assert_eq!(server.connections(), before);
}

#[tokio::test]
async fn all_documents_together_have_a_time() {
    let server = Server::start([("/a", Reply::Stuck(Vec::new()))]).await;
    let limit = Duration::from_millis(300);
    let policy = limited(&server, |limits| limits.total_time = limit);
    let error = collect(policy, all_of(&server, &["/a"])).await.unwrap_err();
    assert!(matches!(error, FetchError::TotalTime { limit: found } if found == limit), "{error}");
}

#[tokio::test]
async fn connections_are_limited() {
    let held = || Reply::Held(response("200 OK", &[], b"{}"));
    let server = Server::start([("/1", held()), ("/2", held()), ("/3", held())]).await;
    let policy = limited(&server, |limits| limits.connections = 2);
    let schema = all_of(&server, &["/1", "/2", "/3"]);
    let (found, ()) = tokio::join!(collect(policy, schema), server.open_at(2));
    assert_eq!(found.unwrap(), 3);
    assert_eq!((server.connections(), server.most()), (3, 2));
}

#[tokio::test]
async fn a_host_that_hangs_does_not_hold_up_others() {
    let stuck = || Reply::Stuck(Vec::new());
    let hung = Server::start([("/1", stuck()), ("/2", stuck())]).await;
    let fine = Server::start_on("127.0.0.2:0", [("/a", document("{}"))]).await;
    let mut limits = Limits::default();
    limits.connections = 1;
    let policy = allowing(&[&hung.url("/"), &fine.url("/")]).limits(limits);
    let fetcher = Fetcher::new(policy).unwrap();
    let (slow, fast) = (all_of(&hung, &["/1", "/2"]), all_of(&fine, &["/a"]));
    tokio::select! {
        _ = fetcher.documents(&slow, None) => panic!("it hangs"),
        found = fetcher.documents(&fast, None) => assert_eq!(found.unwrap().len(), 1),
    }
}

#[tokio::test]
async fn a_document_is_fetched_once_for_several_schemas() {
    let held = || Reply::Held(response("200 OK", &[], b"{}"));
    let server = Server::start([("/1", held()), ("/2", held())]).await;
    let fetcher = Fetcher::new(allowing(&[&server.url("/")])).unwrap();
    let schema = all_of(&server, &["/1", "/2"]);
    let all = (0..3).map(|_| fetcher.documents(&schema, None));
    let (all, ()) = tokio::join!(futures_util::future::join_all(all), server.open_at(2));
    for documents in all {
        assert_eq!(documents.unwrap().len(), 2);
    }
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn a_document_that_took_too_long_is_not_requested_for_every_schema() {
    let server = Server::start([("/a", Reply::Stuck(Vec::new()))]).await;
    let limit = Duration::from_millis(300);
    let policy = limited(&server, |limits| limits.document_time = limit);
    let fetcher = Fetcher::new(policy).unwrap();
    for _ in 0..3 {
        let found = kind(fetcher.documents(&all_of(&server, &["/a"]), None).await);
        assert_eq!(found, DocumentErrorKind::DocumentTime { limit });
    }
    assert!(server.connections() <= 1);
    // Others are. On a busy machine one of them may take too long as well.
    for path in (0..100).map(|number| format!("/{number}")) {
        match kind(fetcher.documents(&all_of(&server, &[&path]), None).await) {
            DocumentErrorKind::DocumentTime { .. } => {}
            found => return assert_eq!(found, DocumentErrorKind::Status { status: 404 }),
        }
    }
    panic!("no other document is requested");
}
