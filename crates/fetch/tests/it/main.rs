//! Fetching from servers on loopback, most of them hostile.

#![expect(clippy::unwrap_used, reason = "a test ends where it cannot go on")]

mod addresses;
mod answers;
mod bundles;
mod limits;
mod local;
mod locked;
mod redirects;
mod server;
mod tls;
mod tools;

use serde_json::{Value, json};
use toolbond_contract::bundle::Document;
use toolbond_fetch::{DocumentErrorKind, FetchError, FetchLimits, Fetcher, Policy};
use toolbond_harness::http::HttpServer;
use toolbond_harness::wait::HANG;

/// FetchLimits that leave documents as much time as they take on a busy machine.
fn patient() -> FetchLimits {
    let mut limits = FetchLimits::default();
    (limits.document_time, limits.total_time) = (HANG, HANG);
    limits
}

/// A policy that allows everything at `urls`, whose hosts are addresses.
fn allowing(urls: &[&str]) -> Policy {
    let policy = Policy::default().limits(patient());
    urls.iter().fold(policy, |policy, url| policy.allow(url).unwrap())
}

/// A policy that allows everything at `server`.
fn at(server: &HttpServer) -> Policy {
    allowing(&[&server.url("/")])
}

/// The same with other limits.
fn limited(server: &HttpServer, change: impl FnOnce(&mut FetchLimits)) -> Policy {
    let mut limits = patient();
    change(&mut limits);
    at(server).limits(limits)
}

fn referring_to(uri: &str) -> Value {
    json!({ "$ref": uri })
}

/// Fetches what `uri` leads to.
async fn fetch(policy: Policy, uri: &str) -> Result<Vec<Document>, DocumentErrorKind> {
    documents(&Fetcher::new(policy).unwrap(), &referring_to(uri)).await
}

/// Why `uri` cannot be fetched.
async fn refusal(policy: Policy, uri: &str) -> DocumentErrorKind {
    fetch(policy, uri).await.unwrap_err()
}

/// Fetches what `schema` refers to.
async fn documents(fetcher: &Fetcher, schema: &Value) -> Result<Vec<Document>, DocumentErrorKind> {
    fetcher.documents(schema, None).await.map_err(|error| match error {
        FetchError::Document(error) => error.kind,
        other => panic!("{other}"),
    })
}
