//! What a client posts, read within bounds of size and time.

use std::error::Error;
use std::time::Duration;

use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Bytes;
use hyper::{Response, StatusCode};
use tokio::time::timeout;

use super::proxy::{Body, plain, refuse};
use crate::message::code;

/// How long a client may take to send the next piece of a body.
const PIECE: Duration = Duration::from_secs(30);

/// Reads a body of at most `max` bytes; else what its client is answered.
pub(crate) async fn posted<B>(body: B, max: usize) -> Result<Bytes, Response<Body>>
where
    B: hyper::body::Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    let mut body = Limited::new(body, max);
    // Most come in one piece, which is not copied.
    let (mut first, mut all) = (Bytes::new(), Vec::new());
    loop {
        let frame = match timeout(PIECE, body.frame()).await {
            Ok(None) => return Ok(if all.is_empty() { first } else { all.into() }),
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(error))) if error.is::<LengthLimitError>() => {
                let text = format!("message exceeds the limit of {max} bytes (--max-message)");
                return Err(refuse(StatusCode::PAYLOAD_TOO_LARGE, code::REQUEST, &text));
            }
            Ok(Some(Err(_))) => return Err(plain(StatusCode::BAD_REQUEST, "the body broke off\n")),
            Err(_) => return Err(plain(StatusCode::REQUEST_TIMEOUT, "the body did not come\n")),
        };
        let Ok(piece) = frame.into_data() else { continue };
        if first.is_empty() {
            first = piece;
            continue;
        }
        if all.is_empty() {
            all.extend_from_slice(&first);
        }
        all.extend_from_slice(&piece);
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::channel::Channel;
    use hyper::StatusCode;
    use hyper::body::Bytes;

    use super::posted;

    /// What becomes of `pieces`, and the end of the body where it `ends`.
    async fn read(pieces: &[&'static str], ends: bool) -> Result<Bytes, StatusCode> {
        let (mut sender, body) = Channel::<Bytes>::new(8);
        for piece in pieces {
            sender.send_data(Bytes::from_static(piece.as_bytes())).await.unwrap();
        }
        let _open = (!ends).then_some(sender);
        posted(body, 10).await.map_err(|answer| answer.status())
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_is_bounded_in_size_and_time() {
        assert_eq!(read(&[], true).await.unwrap(), "");
        assert_eq!(read(&["abc"], true).await.unwrap(), "abc");
        assert_eq!(read(&["abc", "", "def", "ghij"], true).await.unwrap(), "abcdefghij");
        assert_eq!(read(&["abc", "defghijk"], true).await, Err(StatusCode::PAYLOAD_TOO_LARGE));
        assert_eq!(read(&["abc"], false).await, Err(StatusCode::REQUEST_TIMEOUT));
    }
}
