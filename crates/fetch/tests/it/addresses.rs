//! Host names and the addresses behind them.

use std::io;
use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use futures_util::future::BoxFuture;
use toolbond_fetch::{DocumentErrorKind, Fetcher, Policy, Resolve};
use toolbond_harness::http::HttpServer;

use crate::server::{json, redirect, start, start_at};
use crate::{allowing, documents, referring_to, refusal};

/// The addresses of every host: the first time those of the first list, then those of the next one. Without lists,
/// there is no host.
pub(crate) struct Names {
    turns: Vec<Vec<IpAddr>>,
    asked: AtomicUsize,
}

impl Resolve for Names {
    fn resolve<'a>(&'a self, _: &'a str) -> BoxFuture<'a, io::Result<Vec<IpAddr>>> {
        let asked = self.asked.fetch_add(1, Ordering::SeqCst);
        let found = self.turns.get(asked).or(self.turns.last()).cloned();
        Box::pin(async move { found.ok_or_else(|| io::Error::other("no such host")) })
    }
}

pub(crate) fn names(turns: &[&[&str]]) -> Arc<Names> {
    let turns = turns.iter().map(|turn| turn.iter().map(|it| it.parse().unwrap()).collect());
    Arc::new(Names { turns: turns.collect(), asked: AtomicUsize::new(0) })
}

/// How many documents there are at `uri`, for someone who asks `names`.
pub(crate) async fn fetch_named(
    policy: Policy,
    names: &Arc<Names>,
    uri: &str,
) -> Result<usize, DocumentErrorKind> {
    let fetcher = Fetcher::with(policy, Some(Arc::clone(names) as _), None).unwrap();
    Ok(documents(&fetcher, &referring_to(uri)).await?.len())
}

/// A policy that allows the server under the name `schemas.test`, and the URL of a document there.
fn named(server: &HttpServer) -> (Policy, String) {
    let url = format!("http://schemas.test:{}/", server.port);
    (allowing(&[&url]), format!("{url}a"))
}

fn reserved(address: &str, kind: &'static str) -> DocumentErrorKind {
    DocumentErrorKind::Address { address: address.parse().unwrap(), kind }
}

#[tokio::test]
async fn a_name_is_not_an_address() {
    let server = start([("/a", json("{}"))]);
    let (policy, uri) = named(&server);
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
        let found = fetch_named(policy.clone(), &names(&[&[address]]), &uri).await;
        assert_eq!(found, Err(reserved(address, kind)));
    }
    // One bad address refuses the name.
    for turn in [["93.184.216.34", "127.0.0.1"], ["127.0.0.1", "93.184.216.34"]] {
        let found = fetch_named(policy.clone(), &names(&[&turn]), &uri).await;
        assert_eq!(found, Err(reserved("127.0.0.1", "loopback")));
    }
    let (without_address, without_host): (&[&[&str]], _) = (&[&[]], &[]);
    for turns in [without_address, without_host] {
        let found = fetch_named(policy.clone(), &names(turns), &uri).await;
        assert!(matches!(found, Err(DocumentErrorKind::Resolve { .. })), "{found:?}");
    }
    assert_eq!(server.connections(), 0);
    // The policy names the address itself.
    for address in ["127.0.0.1", "127.0.0.0/8"] {
        let policy = policy.clone().allow(address).unwrap();
        assert_eq!(fetch_named(policy, &names(&[&["127.0.0.1"]]), &uri).await, Ok(1));
    }
    assert_eq!(server.connections(), 2);
}

#[tokio::test]
async fn a_name_that_changes_its_address_is_checked_each_time() {
    let first = start([("/a", redirect("/b")), ("/b", json("{}"))]);
    let second = start_at(&format!("127.0.0.2:{}", first.port), [("/b", json("{}"))]);
    let (policy, from) = named(&first);
    let (policy, to) = (policy.allow("127.0.0.1").unwrap(), from.replace("/a", "/b"));
    let turns: &[&[&str]] = &[&["127.0.0.1"], &["127.0.0.2"]];
    // The connection uses the address that was checked.
    let resolver = names(turns);
    assert_eq!(fetch_named(policy.clone(), &resolver, &to).await, Ok(1));
    assert_eq!(resolver.asked.load(Ordering::SeqCst), 1);
    // A redirect to the same name resolves it again.
    let found = fetch_named(policy, &names(turns), &from).await;
    let kind = Box::new(reserved("127.0.0.2", "loopback"));
    assert_eq!(found, Err(DocumentErrorKind::Redirected { to, kind }));
    assert_eq!((first.connections(), second.connections()), (2, 0));
}

#[tokio::test]
async fn a_host_that_is_an_address_needs_a_prefix_with_it() {
    let server = start([("/a", json("{}"))]);
    let url = |host: &str| format!("http://{host}:{}/", server.port);
    let hosts = ["127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]"];
    for host in hosts.into_iter().chain(["127.1", "0x7f000001", "017700000001"]) {
        let policy = allowing(&["https://schemas.test/", "http://schemas.test/", "127.0.0.1"]);
        let kind = refusal(policy, &format!("{}a", url(host))).await;
        let is_refused =
            matches!(kind, DocumentErrorKind::NotAllowed | DocumentErrorKind::UnusualHost { .. });
        assert!(is_refused, "{host}: {kind}");
    }
    let kind = refusal(allowing(&[&url("[::ffff:127.0.0.1]")]), &server.url("/a")).await;
    assert_eq!(kind, DocumentErrorKind::NotAllowed);
    // This one is a name.
    let uri = url("localhost");
    let kind = refusal(allowing(&[&uri]), &uri).await;
    let DocumentErrorKind::Address { address, kind: "loopback" } = kind else { panic!("{kind}") };
    assert_eq!(kind.to_allow(&uri), Some(address.to_string()));
    assert_eq!(server.connections(), 0);
}
