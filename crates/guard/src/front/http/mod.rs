//! Clients on HTTP: listening, the hosts to answer to, and what 2026-07-28 asks of headers.

mod hosts;
mod listen;
pub(crate) mod modern;

use bytes::Bytes;
use hyper::{HeaderMap, Response, StatusCode};
use toolbond_contract::Revision;

pub use self::hosts::Hosts;
pub(crate) use self::listen::listen;
use crate::http::body::read_body;
use crate::http::media::media;
use crate::http::respond::{Body, BoxError, refuse};
use crate::memory::Sender;
use crate::runtime::pool::JobPool;
use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::message::code;

/// The protocol revision that the headers of a request name.
pub(crate) fn named_revision(headers: &HeaderMap) -> Option<Revision> {
    let named = headers.get("mcp-protocol-version").and_then(|value| value.to_str().ok());
    named.map(Revision::from)
}

/// Reads the body of a request, of at most `max` bytes. Fails with the response to one that cannot be read.
pub(crate) async fn read_request<B>(
    headers: &HeaderMap,
    body: B,
    max: usize,
    pool: &JobPool,
) -> Result<Counted, Box<Response<Body>>>
where
    B: hyper::body::Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    if let Err(reason) = media(headers) {
        let status = StatusCode::UNSUPPORTED_MEDIA_TYPE;
        return Err(Box::new(refuse(status, code::REQUEST, &reason)));
    }
    read_body(body, Sender::Client, max, pool).await.map_err(|error| Box::new(error.response()))
}
