//! HTTP: listening, bodies, event streams, and requests to servers.

pub(crate) mod answer;
pub(crate) mod body;
mod client;
pub(crate) mod events;
mod hosts;
mod listen;
pub(crate) mod media;
pub(crate) mod modern;
pub(crate) mod respond;
mod server;

use hyper::HeaderMap;
use toolbond_contract::Revision;

pub(crate) use self::client::parse_upstream;
pub use self::client::{Client, UpstreamError};
pub use self::hosts::Hosts;
pub(crate) use self::listen::listen;
pub(crate) use self::server::HttpServer;
pub use toolbond_fetch::tls::TrustError;

/// The protocol revision that the headers of a request name.
pub(crate) fn named_revision(headers: &HeaderMap) -> Option<Revision> {
    let named = headers.get("mcp-protocol-version").and_then(|value| value.to_str().ok());
    named.map(Revision::from)
}
