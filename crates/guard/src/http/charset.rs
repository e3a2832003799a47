//! Bodies in charsets that contain ASCII: one of ASCII alone has one reading, which is also that in UTF-8.

use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::{HeaderMap, Response};

use super::media::{Media, charsets, media};
use super::respond::BoxError;

/// Charsets that say of the bytes of ASCII what UTF-8 says.
const CONTAIN_ASCII: [&str; 5] = ["iso-8859-1", "latin1", "us-ascii", "ascii", "windows-1252"];

/// A byte beyond ASCII in a body that is not in UTF-8.
#[derive(Debug, thiserror::Error)]
#[error("the body is not in UTF-8, and has characters beyond ASCII")]
pub(crate) struct NotAscii;

/// A body that is read as UTF-8.
pub(crate) struct Utf8Body<B> {
    body: B,
    /// Whether it fails at a byte beyond ASCII.
    is_ascii: bool,
}

/// The body with these headers. Where they name a charset that contains ASCII, they name UTF-8 from here on, and the body
/// fails at a byte beyond ASCII.
pub(crate) fn in_utf8<B>(headers: &mut HeaderMap, body: B) -> Utf8Body<B> {
    let old: Vec<_> = headers.get_all(CONTENT_TYPE).iter().cloned().collect();
    let new: Vec<_> = old.iter().map(|value| renamed(value.to_str().ok()?)).collect();
    if new.iter().all(Option::is_none) {
        return Utf8Body { body, is_ascii: false };
    }
    let all = old.into_iter().zip(new);
    let mut new = headers.clone();
    new.remove(CONTENT_TYPE);
    for (old, renamed) in all {
        new.append(CONTENT_TYPE, renamed.unwrap_or(old));
    }
    // What is neither JSON nor events is not read, and stays as it is.
    let is_ascii = matches!(media(&new), Ok(Media::Json | Media::Events));
    if is_ascii {
        *headers = new;
    }
    Utf8Body { body, is_ascii }
}

/// A response in UTF-8, as with [`in_utf8`].
pub(crate) fn response_in_utf8<B>(response: Response<B>) -> Response<Utf8Body<B>> {
    let (mut parts, body) = response.into_parts();
    let body = in_utf8(&mut parts.headers, body);
    Response::from_parts(parts, body)
}

/// The type with UTF-8 in the place of a charset that contains ASCII.
fn renamed(of: &str) -> Option<HeaderValue> {
    let lower = of.to_ascii_lowercase();
    let found = charsets(&lower).find(|(_, name)| CONTAIN_ASCII.contains(name));
    let (at, name) = found?;
    format!("{}utf-8{}", &of[..at], &of[at + name.len()..]).parse().ok()
}

impl<B> Body for Utf8Body<B>
where
    B: Body<Data = Bytes, Error: Into<BoxError>> + Unpin,
{
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let frame = ready!(Pin::new(&mut self.body).poll_frame(context));
        Poll::Ready(frame.map(|frame| {
            let frame = frame.map_err(Into::into)?;
            let is_wrong = |bytes: &Bytes| self.is_ascii && !bytes.is_ascii();
            if frame.data_ref().is_some_and(is_wrong) { Err(NotAscii.into()) } else { Ok(frame) }
        }))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_end_stream()
    }

    fn size_hint(&self) -> SizeHint {
        self.body.size_hint()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::{BodyExt as _, Full};
    use hyper::HeaderMap;

    use super::{Bytes, in_utf8};

    /// What becomes of a type, and whether a body of it may have bytes beyond ASCII.
    async fn read(of: &str) -> (String, bool) {
        let mut headers = HeaderMap::new();
        headers.insert("content-type", of.parse().unwrap());
        let body = in_utf8(&mut headers, Full::new(Bytes::from_static(b"\"\xe9\"")));
        let is_read = body.collect().await.is_ok();
        (headers["content-type"].to_str().unwrap().to_owned(), is_read)
    }

    #[tokio::test]
    async fn a_charset_that_contains_ascii_is_renamed() {
        for (of, becomes) in [
            ("application/json; charset=ISO-8859-1", "application/json; charset=utf-8"),
            ("text/event-stream;Charset=\"us-ascii\"", "text/event-stream;Charset=\"utf-8\""),
            (
                "application/mcp+json; charset=windows-1252; a=b",
                "application/mcp+json; charset=utf-8; a=b",
            ),
        ] {
            assert_eq!(read(of).await, (becomes.to_owned(), false));
        }
        // Nothing that is read, or another charset too.
        for of in [
            "application/json",
            "application/json; charset=utf-8",
            "text/html; charset=iso-8859-1",
            "application/json; charset=iso-8859-1; charset=utf-7",
            "application/json; charset=utf-16",
            "application/json; charset=iso-8859-15",
        ] {
            assert_eq!(read(of).await, (of.to_owned(), true));
        }
    }
}
