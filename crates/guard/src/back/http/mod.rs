//! Requests to servers on HTTP, and their answers.

pub(crate) mod answer;
mod client;
mod server;

use hyper::HeaderMap;
use hyper::header::{ACCEPT, CONTENT_TYPE, HeaderValue};

pub(crate) use self::client::parse_upstream;
pub use self::client::{Client, UpstreamError};
pub(crate) use self::server::HttpServer;
pub use toolbond_fetch::tls::TrustError;

/// Sets the headers that a server on HTTP needs to take a message.
pub(crate) fn set_message_headers(headers: &mut HeaderMap) {
    headers.insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    headers.insert(ACCEPT, HeaderValue::from_static("application/json, text/event-stream"));
}
