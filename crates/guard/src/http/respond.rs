//! Responses.

use std::convert::Infallible;
use std::pin::Pin;
use std::task::{Context, Poll};

use http_body_util::BodyExt as _;
use http_body_util::combinators::UnsyncBoxBody;
use hyper::body::{Bytes, Frame, SizeHint};
use hyper::header::{CONTENT_LENGTH, CONTENT_TYPE, HeaderValue};
use hyper::http::response::Parts;
use hyper::{Response, StatusCode};
use smallvec::SmallVec;

pub(crate) use toolbond_guard_core::hop_by_hop::remove_hop_by_hop;
use toolbond_guard_core::message::error;

/// Why a body ended early.
pub type BoxError = Box<dyn std::error::Error + Send + Sync>;

/// The body of a request or a response.
pub type Body = UnsyncBoxBody<Bytes, BoxError>;

/// Forwards a response unchanged.
pub(crate) fn forward<B>(response: Response<B>) -> Response<Body>
where
    B: hyper::body::Body<Data = Bytes, Error: Into<BoxError>> + Send + 'static,
{
    let (mut parts, body) = response.into_parts();
    remove_hop_by_hop(&mut parts.headers);
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
    in_pieces([bytes.into()])
}

/// A body of these pieces.
pub(crate) fn in_pieces(pieces: impl IntoIterator<Item = Bytes>) -> Body {
    let pieces = pieces.into_iter().filter(|piece| !piece.is_empty());
    Whole(pieces.collect()).map_err(|never| match never {}).boxed_unsync()
}

/// The bytes of a body, which it hands out a little at a time: other connections have their turn in between.
struct Whole(SmallVec<[Bytes; 1]>);

/// The bytes of a piece.
const PIECE: usize = 64 << 10;

impl hyper::body::Body for Whole {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(first) = self.0.first_mut() else { return Poll::Ready(None) };
        let piece = first.split_to(first.len().min(PIECE));
        if first.is_empty() {
            self.0.remove(0);
        }
        Poll::Ready(Some(Ok(Frame::data(piece))))
    }

    fn is_end_stream(&self) -> bool {
        self.0.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.0.iter().map(|piece| piece.len() as u64).sum())
    }
}

/// A response with JSON.
pub(crate) fn json(status: StatusCode, bytes: impl Into<Bytes>) -> Response<Body> {
    json_in_pieces(status, [bytes.into()])
}

/// A response with JSON of these pieces.
pub(crate) fn json_in_pieces(
    status: StatusCode,
    pieces: impl IntoIterator<Item = Bytes>,
) -> Response<Body> {
    let mut response = Response::new(in_pieces(pieces));
    *response.status_mut() = status;
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

/// A response with a JSON-RPC error whose `id` is null.
pub(crate) fn refuse(status: StatusCode, code: i32, message: &str) -> Response<Body> {
    json(status, error(None, code, message))
}

/// A response that says that there is nothing, and that nothing will come.
pub(crate) fn no_content() -> Response<Body> {
    plain(StatusCode::NO_CONTENT, "")
}

/// A response with text.
pub(crate) fn plain(status: StatusCode, text: impl Into<Bytes>) -> Response<Body> {
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
