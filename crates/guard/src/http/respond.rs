//! Responses, and the headers that stay with one connection.

use http_body_util::combinators::UnsyncBoxBody;
use http_body_util::{BodyExt as _, Full};
use hyper::body::Bytes;
use hyper::header::{
    CONNECTION, CONTENT_LENGTH, CONTENT_TYPE, HeaderName, HeaderValue, TE, TRAILER,
    TRANSFER_ENCODING, UPGRADE,
};
use hyper::http::response::Parts;
use hyper::{HeaderMap, Response, StatusCode};

use crate::message::error;

/// Why a body ended early.
pub(crate) type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The body of a request or a response.
pub(crate) type Body = UnsyncBoxBody<Bytes, BoxError>;

/// The headers that concern one connection, whatever `Connection` says.
static HOP_BY_HOP: [HeaderName; 7] = [
    CONNECTION,
    HeaderName::from_static("keep-alive"),
    HeaderName::from_static("proxy-connection"),
    TE,
    TRAILER,
    TRANSFER_ENCODING,
    UPGRADE,
];

/// The names of the headers that are about one connection.
pub(crate) fn hop_by_hop(headers: &HeaderMap) -> Vec<HeaderName> {
    let values = headers.get_all(CONNECTION).iter().filter_map(|value| value.to_str().ok());
    let named =
        values.flat_map(|value| value.split(',')).filter_map(|name| name.trim().parse().ok());
    HOP_BY_HOP.iter().cloned().chain(named).collect()
}

/// Removes the headers that are about one connection.
pub(crate) fn remove_hop_by_hop(headers: &mut HeaderMap) {
    for name in hop_by_hop(headers) {
        headers.remove(name);
    }
}

/// Marks a response whose body is forwarded unchanged.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Unchanged;

/// Forwards a response unchanged.
pub(crate) fn forward<B>(response: Response<B>) -> Response<Body>
where
    B: hyper::body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    let (mut parts, body) = response.into_parts();
    remove_hop_by_hop(&mut parts.headers);
    parts.extensions.insert(Unchanged);
    Response::from_parts(parts, body.map_err(Into::into).boxed_unsync())
}

/// Replaces the body of a response.
pub(crate) fn with_body(mut parts: Parts, body: Body) -> Response<Body> {
    remove_hop_by_hop(&mut parts.headers);
    parts.headers.remove(CONTENT_LENGTH);
    Response::from_parts(parts, body)
}

/// A body whose bytes are all known.
pub(crate) fn full(bytes: impl Into<Bytes>) -> Body {
    Full::new(bytes.into()).map_err(|never| match never {}).boxed_unsync()
}

/// A response with JSON.
pub(crate) fn json(status: StatusCode, bytes: impl Into<Bytes>) -> Response<Body> {
    let mut response = Response::new(full(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A response with a JSON-RPC error whose `id` is null.
pub(crate) fn refuse(status: StatusCode, code: i32, message: &str) -> Response<Body> {
    json(status, error(None, code, message))
}

/// A response with a line of text.
pub(crate) fn plain(status: StatusCode, text: &'static str) -> Response<Body> {
    let mut response = Response::new(full(text));
    *response.status_mut() = status;
    response
}

/// The messages `texts` as one body: a batch, or a single message.
pub(crate) fn join(texts: &[Bytes], is_batch: bool) -> Bytes {
    match texts {
        [one] if !is_batch => one.clone(),
        _ => {
            let texts: Vec<_> = texts.iter().map(|text| text.trim_ascii()).collect();
            [b"[", &texts.join(&b","[..])[..], b"]"].concat().into()
        }
    }
}
