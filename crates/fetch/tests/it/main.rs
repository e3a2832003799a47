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

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolbond_contract::bundle::Document;
use toolbond_fetch::{DocumentErrorKind, FetchError, Fetcher, Policy};

/// An empty folder for the test `name`.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
    let _ = fs::remove_dir_all(&folder);
    fs::create_dir_all(&folder).unwrap();
    folder
}

/// A policy that allows everything at `urls`, whose hosts are addresses.
fn allowing(urls: &[&str]) -> Policy {
    urls.iter().fold(Policy::default(), |policy, url| policy.allow(url).unwrap())
}

fn referring_to(uri: &str) -> Value {
    json!({ "$ref": uri })
}

/// Fetches what `uri` leads to.
async fn fetch(policy: Policy, uri: &str) -> Result<Vec<Document>, FetchError> {
    Fetcher::new(policy).unwrap().documents(&referring_to(uri), None).await
}

/// Why `uri` cannot be fetched.
async fn refusal(policy: Policy, uri: &str) -> DocumentErrorKind {
    kind(fetch(policy, uri).await)
}

fn kind<T: std::fmt::Debug>(result: Result<T, FetchError>) -> DocumentErrorKind {
    match result.unwrap_err() {
        FetchError::Document(error) => error.kind,
        other => panic!("{other}"),
    }
}

/// A fetcher and the lines of its log.
fn logged(policy: Policy) -> (Fetcher, Arc<Mutex<Vec<String>>>) {
    let lines: Arc<Mutex<Vec<String>>> = Arc::default();
    let log = Arc::clone(&lines);
    let fetcher = Fetcher::observed(policy, move |attempt| {
        log.lock().unwrap().push(attempt.to_string());
    });
    (fetcher.unwrap(), lines)
}
