//! TLS: whose certificate is trusted.

use std::collections::HashMap;
use std::net::IpAddr;
use std::sync::Arc;

use futures_util::future::BoxFuture;
use rcgen::{CertifiedKey, generate_simple_self_signed};
use rustls::ServerConfig;
use rustls::crypto::ring;
use rustls::pki_types::PrivatePkcs8KeyDer;
use tokio_rustls::TlsAcceptor;
use toolbond_fetch::{DocumentErrorKind, Fetcher, Resolve};

use crate::server::{Reply, Server, json, redirect};
use crate::{allowing, folder, kind, referring_to};

struct Loopback;

impl Resolve for Loopback {
    fn resolve<'a>(&'a self, _: &'a str) -> BoxFuture<'a, std::io::Result<Vec<IpAddr>>> {
        Box::pin(async { Ok(vec!["127.0.0.1".parse().unwrap()]) })
    }
}

async fn secure(replies: HashMap<String, Reply>) -> (Server, String) {
    let CertifiedKey { cert, signing_key } =
        generate_simple_self_signed(["schemas.test".to_owned()]).unwrap();
    let key = PrivatePkcs8KeyDer::from(signing_key.serialize_der()).into();
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![cert.der().clone()], key)
        .unwrap();
    let acceptor = TlsAcceptor::from(Arc::new(config));
    let server = Server::listen("127.0.0.1:0", replies, move |stream| {
        let acceptor = acceptor.clone();
        async move { acceptor.accept(stream).await.ok() }
    });
    (server.await, cert.pem())
}

#[tokio::test]
async fn a_certificate_has_to_be_trusted_and_to_name_the_host() {
    let plain = Server::start([("/b", json("{}"))]).await;
    let replies = [("/a", json("{}")), ("/down", redirect(&plain.url("/b")))];
    let replies = replies.map(|(path, reply)| (path.to_owned(), reply)).into();
    let (server, pem) = secure(replies).await;
    let ca = folder("tls").join("ca.pem");
    std::fs::write(&ca, pem).unwrap();
    let port = server.address.port();
    let get = |host: &str, path: &str, is_trusted: bool| {
        let policy = allowing(&[&format!("https://{host}:{port}/"), "127.0.0.1"]);
        let policy = if is_trusted { policy.ca_file(&ca) } else { policy };
        let schema = referring_to(&format!("https://{host}:{port}{path}"));
        async move {
            let fetcher = Fetcher::with(policy, Some(Arc::new(Loopback)), None).unwrap();
            fetcher.documents(&schema, None).await.map(|documents| documents.len())
        }
    };
    assert_eq!(get("schemas.test", "/a", true).await.unwrap(), 1);
    let untrusted = kind(get("schemas.test", "/a", false).await).to_string();
    assert!(untrusted.contains("could not be reached: invalid peer certificate"), "{untrusted}");
    let other = kind(get("other.test", "/a", true).await).to_string();
    assert!(other.contains("could not be reached: invalid peer certificate"), "{other}");
    // No redirect leads from `https` to `http` unless that is allowed.
    let down = kind(get("schemas.test", "/down", true).await);
    let to = plain.url("/b");
    let inner = Box::new(DocumentErrorKind::NotAllowed);
    assert_eq!(down, DocumentErrorKind::Redirected { to, kind: inner });
    assert_eq!(plain.connections(), 0);
}
