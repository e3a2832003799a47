//! Bodies, read within bounds of size and time.

use std::error::Error;
use std::time::Duration;

use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Bytes;
use hyper::{Response, StatusCode};
use tokio::time::timeout;

use super::proxy::{Body, plain, refuse};
use super::room::{NO_ROOM, NoRoom, Room};
use crate::message::code;

/// How long a client may take to send the next piece of a body.
const PIECE: Duration = Duration::from_secs(30);

/// Reads what a client posts, of at most `max` bytes; else what it is answered.
pub(crate) async fn posted<B>(body: B, max: usize) -> Result<Bytes, Response<Body>>
where
    B: hyper::body::Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    read(body, max, PIECE).await.map_err(|unread| {
        let text = unread.to_string();
        match unread {
            Unread::Long(_) => refuse(StatusCode::PAYLOAD_TOO_LARGE, code::REQUEST, &text),
            Unread::NoRoom => refuse(StatusCode::SERVICE_UNAVAILABLE, code::INTERNAL, &text),
            Unread::Broken => plain(StatusCode::BAD_REQUEST, "the body broke off\n"),
            Unread::Late => plain(StatusCode::REQUEST_TIMEOUT, "the body did not come\n"),
        }
    })
}

/// Why a body is not read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum Unread {
    #[error("message exceeds the limit of {0} bytes (--max-message)")]
    Long(usize),
    #[error("{NO_ROOM}")]
    NoRoom,
    #[error("the body broke off")]
    Broken,
    #[error("the body did not come")]
    Late,
}

/// Reads a body of at most `max` bytes, each piece of which comes within `patience`.
pub(crate) async fn read<B>(body: B, max: usize, patience: Duration) -> Result<Bytes, Unread>
where
    B: hyper::body::Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    if body.size_hint().lower() > max as u64 {
        return Err(Unread::Long(max));
    }
    let mut body = Limited::new(body, max);
    // Most come in one piece, which is not copied.
    let (mut first, mut all) = (Bytes::new(), Vec::new());
    let mut room = Room::default();
    loop {
        let frame = match timeout(patience, body.frame()).await {
            Ok(None) if all.is_empty() => return Ok(first),
            Ok(None) => return Ok(Bytes::from_owner(Held { bytes: all, _room: room })),
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(error))) if error.is::<LengthLimitError>() => {
                return Err(Unread::Long(max));
            }
            Ok(Some(Err(_))) => return Err(Unread::Broken),
            Err(_) => return Err(Unread::Late),
        };
        let Ok(piece) = frame.into_data() else { continue };
        if first.is_empty() {
            first = piece;
            continue;
        }
        if all.is_empty() {
            all.extend_from_slice(&first);
        }
        let bytes = all.len() + piece.len();
        room.hold(bytes).await.map_err(|NoRoom| Unread::NoRoom)?;
        if bytes > all.capacity() {
            // Twice as much as before, but no more than there can be.
            all.reserve_exact(bytes.saturating_mul(2).min(max) - all.len());
        }
        all.extend_from_slice(&piece);
    }
}

/// A body, and its room as long as it is there.
struct Held {
    bytes: Vec<u8>,
    _room: Room,
}

impl AsRef<[u8]> for Held {
    fn as_ref(&self) -> &[u8] {
        &self.bytes
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
