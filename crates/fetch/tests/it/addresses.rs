//! Host names and the addresses behind them.

use std::collections::HashMap;
use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::BoxFuture;
use toolbond_fetch::{DocumentErrorKind, Fetcher, Policy, Resolve};

use crate::server::{Server, json, redirect};
use crate::{allowing, kind, referring_to, refusal};

/// Resolves names to the addresses of a test: the first time to the first list, then to the next one.
struct Names {
    names: HashMap<&'static str, Vec<Vec<IpAddr>>>,
    asked: AtomicUsize,
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, host: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        let found = self.names.get(host).map(|turns| turns[asked.min(turns.len() - 1)].clone());
        Box::pin(async move { found.ok_or_else(|| io::Error::other("no such host")) })
    }
}

fn names(name: &'static str, turns: &[&[&str]]) -> Arc<Names> {
    let turns = turns.iter().map(|turn| turn.iter().map(|it| it.parse().unwrap()).collect());
    Arc::new(Names { names: HashMap::from([(name, turns.collect())]), asked: AtomicUsize::new(0) })
}

async fn fetch_named(
    policy: Policy,
    names: &Arc<Names>,
    uri: &str,
) -> Result<usize, DocumentErrorKind> {
    let fetcher = Fetcher::with(policy, Some(Arc::clone(names) as _), None).unwrap();
    let documents = fetcher.documents(&referring_to(uri), None).await;
    match documents {
        Ok(documents) => Ok(documents.len()),
        Err(error) => Err(kind::<()>(Err(error))),
    }
}

#[tokio::test]
async fn a_name_is_not_an_address() {
    let server = Server::start([("/a", json("{}"))]).await;
    let port = server.address.port();
    let uri = format!("http://schemas.test:{port}/a");
    let policy = || allowing(&[&format!("http://schemas.test:{port}/")]);
    let kinds = [
        ("127.0.0.1", "loopback"),
        ("::1", "loopback"),
        ("::ffff:127.0.0.1", "loopback"),
        ("64:ff9b::7f00:1", "loopback"),
        ("10.0.0.1", "private"),
        ("fd00::1", "private"),
        ("169.254.1.1", "link-local"),
        ("fe80::1", "link-local"),
        ("169.254.169.254", "cloud metadata"),
        ("100.64.0.1", "carrier-grade NAT"),
        ("224.0.0.1", "multicast"),
        ("ff02::1", "multicast"),
        ("0.0.0.0", "unspecified"),
        ("::", "unspecified"),
        ("255.255.255.255", "reserved"),
    ];
    for (address, kind) in kinds {
        let names = names("schemas.test", &[&[address]]);
        let found = fetch_named(policy(), &names, &uri).await;
        let address = address.parse().unwrap();
        assert_eq!(found, Err(DocumentErrorKind::Address { address, kind }));
    }
    assert_eq!(server.connections(), 0);
    // The policy names the address itself.
    for named in ["127.0.0.1", "127.0.0.0/8"] {
        let names = names("schemas.test", &[&["127.0.0.1"]]);
        let policy = policy().allow(named).unwrap();
        assert_eq!(fetch_named(policy, &names, &uri).await, Ok(1));
    }
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn one_bad_address_refuses_the_name() {
    let server = Server::start([("/a", json("{}"))]).await;
    let port = server.address.port();
    let policy = || allowing(&[&format!("http://schemas.test:{port}/")]);
    let uri = format!("http://schemas.test:{port}/a");
    for turn in [["93.184.216.34", "127.0.0.1"], ["127.0.0.1", "93.184.216.34"]] {
        let found = fetch_named(policy(), &names("schemas.test", &[&turn]), &uri).await;
        let address = "127.0.0.1".parse().unwrap();
        assert_eq!(found, Err(DocumentErrorKind::Address { address, kind: "loopback" }));
    }
    let found = fetch_named(policy(), &names("schemas.test", &[&[]]), &uri).await;
    assert!(matches!(found, Err(DocumentErrorKind::Resolve { .. })), "{found:?}");
    let found = fetch_named(policy(), &names("other.test", &[&[]]), &uri).await;
    assert!(matches!(found, Err(DocumentErrorKind::Resolve { .. })), "{found:?}");
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn a_name_that_changes_its_address_is_checked_each_time() {
    let first = Server::start([("/a", redirect("/b")), ("/b", json("{}"))]).await;
    let port = first.address.port();
    let second = Server::start_on(&format!("127.0.0.2:{port}"), [("/b", json("{}"))]).await;
    let policy = || allowing(&[&format!("http://schemas.test:{port}/"), "127.0.0.1"]);
    let uri = |path: &str| format!("http://schemas.test:{port}{path}");
    let turns: &[&[&str]] = &[&["127.0.0.1"], &["127.0.0.2"]];
    // The connection uses the address that was checked.
    let resolver = names("schemas.test", turns);
    assert_eq!(fetch_named(policy(), &resolver, &uri("/b")).await, Ok(1));
    assert_eq!(resolver.asked.load(Ordering::SeqCst), 1);
    // A redirect to the same name resolves it again.
    let found = fetch_named(policy(), &names("schemas.test", turns), &uri("/a")).await;
    let address = "127.0.0.2".parse().unwrap();
    let kind = Box::new(DocumentErrorKind::Address { address, kind: "loopback" });
    assert_eq!(found, Err(DocumentErrorKind::Redirected { to: uri("/b"), kind }));
    assert_eq!((first.connections(), second.connections()), (2, 0));
}

#[tokio::test]
async fn a_host_that_is_an_address_needs_a_prefix_with_it() {
    let server = Server::start([("/a", json("{}"))]).await;
    let port = server.address.port();
    for host in [
        "127.0.0.1",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "127.1",
        "0x7f000001",
        "017700000001",
    ] {
        let policy = allowing(&["https://schemas.test/", "http://schemas.test/", "127.0.0.1"]);
        let kind = refusal(policy, &format!("http://{host}:{port}/a")).await;
        let is_refused =
            matches!(kind, DocumentErrorKind::NotAllowed | DocumentErrorKind::UnusualHost { .. });
        assert!(is_refused, "{host}: {kind}");
    }
    let mapped = format!("http://[::ffff:127.0.0.1]:{port}/");
    let kind = refusal(allowing(&[&mapped]), &format!("http://127.0.0.1:{port}/a")).await;
    assert_eq!(kind, DocumentErrorKind::NotAllowed);
    assert_eq!(server.connections(), 0);
}

#[tokio::test]
async fn localhost_is_a_name() {
    let server = Server::start([("/a", json("{}"))]).await;
    let uri = format!("http://localhost:{}/a", server.address.port());
    let kind = refusal(allowing(&[&uri]), &uri).await;
    let DocumentErrorKind::Address { address, kind: "loopback" } = kind else { panic!("{kind}") };
    assert_eq!(kind.to_allow(&uri), Some(address.to_string()));
    assert_eq!(server.connections(), 0);
}
