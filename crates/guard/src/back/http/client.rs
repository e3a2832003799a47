//! Requests to servers, in the clear and over TLS.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::{Request, Response, Uri};
use hyper_rustls::{HttpsConnector, HttpsConnectorBuilder};
use hyper_util::client::legacy;
use hyper_util::client::legacy::connect::HttpConnector;
use hyper_util::rt::TokioExecutor;
use toolbond_fetch::error_chain;
use toolbond_fetch::tls::{TrustError, client_config};

use crate::http::READ_BUFFER;
use crate::http::respond::Body;
use crate::url::without_query;

/// The timeout for connecting to a server.
const CONNECT: Duration = Duration::from_secs(10);

/// The most headers of an answer.
const MAX_HEADERS: usize = 1000;

/// Sends requests to servers. All clones share their connections.
#[derive(Clone, Debug)]
pub struct Client {
    client: legacy::Client<HttpsConnector<HttpConnector>, Body>,
    /// Shared by all clones.
    mark: Arc<()>,
}

/// Why a URL cannot be that of a server.
#[derive(Debug, thiserror::Error)]
#[error("{url}: expected a URL such as http://127.0.0.1:3000/mcp, found {found}")]
pub struct UpstreamError {
    /// The URL.
    url: String,
    /// What is wrong with it.
    found: &'static str,
}

/// Parses the URL of a server.
///
/// Fails if it has no host, a user, a port beyond 65535, or a scheme other than `http` and `https`.
pub(crate) fn parse_upstream(url: &str) -> Result<Uri, UpstreamError> {
    // Neither a password nor a key in the query reaches a log.
    let shown = without_query(url);
    let host = shown.rfind('@').map_or(shown, |at| &shown[at + 1..]);
    let wrong = |found| UpstreamError { url: host.to_owned(), found };
    let uri: Uri = url.parse().map_err(|_| wrong("something else"))?;
    match (uri.scheme_str(), uri.authority()) {
        (Some("http" | "https"), Some(authority)) if authority.as_str().contains('@') => {
            Err(wrong("a user, whose password would be in every log"))
        }
        (Some("http" | "https"), Some(authority)) => {
            let port = authority.as_str().rsplit_once(':').map_or("", |(_, port)| port);
            let is_port = port.is_empty() || port.ends_with(']') || port.parse::<u16>().is_ok();
            is_port.then_some(uri).ok_or_else(|| wrong("a port beyond 65535"))
        }
        (None, _) => Err(wrong("no scheme")),
        _ => Err(wrong("another scheme")),
    }
}

impl Client {
    /// Trusts the certificates of the system (or of `SSL_CERT_FILE`), and those in the PEM file `ca`.
    ///
    /// Fails if `ca` cannot be read or holds no certificate.
    pub fn new(ca: Option<&Path>) -> Result<Self, TrustError> {
        let mut connector = HttpConnector::new();
        connector.enforce_http(false);
        connector.set_nodelay(true);
        connector.set_connect_timeout(Some(CONNECT));
        let connector = HttpsConnectorBuilder::new()
            .with_tls_config(client_config(ca)?)
            .https_or_http()
            .enable_http1()
            .wrap_connector(connector);
        let client = legacy::Client::builder(TokioExecutor::new())
            .http1_max_buf_size(READ_BUFFER)
            .http1_max_headers(MAX_HEADERS)
            .build(connector);
        Ok(Self { client, mark: Arc::default() })
    }

    /// Whether one is a clone of the other, and so trusts the same certificates.
    pub(crate) fn is_same(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.mark, &other.mark)
    }

    /// Sends a request. Fails with the reason in one line.
    pub(crate) async fn send(&self, request: Request<Body>) -> Result<Response<Incoming>, String> {
        self.client.request(request).await.map_err(|error| error_chain(&error))
    }
}
