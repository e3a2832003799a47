//! Reading bodies within limits on size, time and memory.

use std::error::Error;
use std::time::Duration;

use http_body_util::{BodyExt as _, LengthLimitError, Limited};
use hyper::body::Bytes;
use hyper::{Response, StatusCode};
use tokio::time::{Instant, timeout};

use super::charset::NotAscii;
use super::respond::{Body, plain, refuse};
use crate::memory::{NoMemory, Sender};
use crate::runtime::pool::JobPool;
use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::message::code;

/// How far a client may be behind in sending a body.
const PATIENCE: Duration = Duration::from_secs(30);

/// The bytes of a body that must arrive per second.
const RATE: usize = 4 << 10;

/// Why a body cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum BodyError {
    #[error("message exceeds the limit of {0} bytes (--max-message)")]
    TooLong(usize),
    #[error("{0}")]
    NoMemory(NoMemory),
    #[error("{0}")]
    NotAscii(NotAscii),
    #[error("the body ended early")]
    Incomplete,
    #[error("timed out reading the request body")]
    TimedOut,
}

impl BodyError {
    /// The response to a client whose body cannot be read.
    pub(crate) fn response(&self) -> Response<Body> {
        let text = self.to_string();
        match self {
            Self::TooLong(_) => refuse(StatusCode::PAYLOAD_TOO_LARGE, code::REQUEST, &text),
            Self::NoMemory(_) => refuse(StatusCode::SERVICE_UNAVAILABLE, code::INTERNAL, &text),
            Self::NotAscii(_) => refuse(StatusCode::UNSUPPORTED_MEDIA_TYPE, code::REQUEST, &text),
            Self::Incomplete => plain(StatusCode::BAD_REQUEST, "the body ended early\n"),
            Self::TimedOut => {
                plain(StatusCode::REQUEST_TIMEOUT, "timed out reading the request body\n")
            }
        }
    }
}

/// Reads a body of at most `max` bytes. A client has to send it in time.
pub(crate) async fn read_body<B>(
    body: B,
    sender: Sender,
    max: usize,
    pool: &JobPool,
) -> Result<Counted, BodyError>
where
    B: hyper::body::Body<Data = Bytes> + Unpin,
    B::Error: Into<Box<dyn Error + Send + Sync>>,
{
    if body.size_hint().lower() > max as u64 {
        return Err(BodyError::TooLong(max));
    }
    let mut body = Limited::new(body, max);
    let mut pieces = Pieces::default();
    let mut reservation = pool.memory().message(sender);
    // Bytes that come fast buy no more time than there was at the start, and waiting for memory costs none.
    let mut left = PATIENCE;
    loop {
        let start = Instant::now();
        let frame = match sender {
            Sender::Client => timeout(left, body.frame()).await,
            _ => Ok(body.frame().await),
        };
        let frame = match frame {
            Ok(None) => break,
            Ok(Some(Ok(frame))) => frame,
            Ok(Some(Err(error))) if error.is::<LengthLimitError>() => {
                return Err(BodyError::TooLong(max));
            }
            Ok(Some(Err(error))) if error.is::<NotAscii>() => {
                return Err(BodyError::NotAscii(NotAscii));
            }
            Ok(Some(Err(_))) => return Err(BodyError::Incomplete),
            Err(_) => return Err(BodyError::TimedOut),
        };
        let Ok(piece) = frame.into_data() else { continue };
        let bought = Duration::from_millis((piece.len() * 1000 / RATE) as u64);
        left = (left.saturating_sub(start.elapsed()) + bought).min(PATIENCE);
        reservation.grow(pieces.bytes + piece.len()).await.map_err(BodyError::NoMemory)?;
        pieces.push(piece);
    }
    pieces.end_small();
    // The bytes that have to be copied.
    let copied = if pieces.all.len() > 1 { pieces.bytes } else { 0 };
    let joined = pool.run(copied, move || reservation.attach(pieces.join())).await;
    joined.ok_or(BodyError::Incomplete)
}

/// The pieces of a body, which are joined once all of them are there. Most bodies come in one piece, which is not copied.
#[derive(Default)]
struct Pieces {
    all: Vec<Bytes>,
    /// Small pieces after those, in one, so that many of them take no more memory than their bytes.
    small: Vec<u8>,
    bytes: usize,
}

impl Pieces {
    /// The bytes of a piece that is kept as it came, and with it the buffer of 64 KiB that it was read into.
    const LARGE: usize = 48 << 10;

    fn push(&mut self, piece: Bytes) {
        let is_first = self.bytes == 0;
        self.bytes += piece.len();
        if !is_first && piece.len() < Self::LARGE {
            self.small.extend_from_slice(&piece);
        }
        if is_first || piece.len() >= Self::LARGE || self.small.len() >= Self::LARGE {
            self.end_small();
        }
        if is_first || piece.len() >= Self::LARGE {
            self.all.push(piece);
        }
    }

    fn end_small(&mut self) {
        if !self.small.is_empty() {
            self.all.push(Bytes::copy_from_slice(&self.small));
            self.small.clear();
        }
    }

    fn join(mut self) -> Bytes {
        if self.all.len() <= 1 {
            return self.all.pop().unwrap_or_default();
        }
        let mut joined = Vec::with_capacity(self.bytes);
        for piece in self.all {
            // Each is dropped as soon as it is copied.
            joined.extend_from_slice(&piece);
        }
        joined.into()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::channel::Channel;
    use hyper::StatusCode;
    use hyper::body::Bytes;
    use tokio::time::{Duration, sleep};

    use super::{Counted, JobPool, Pieces, Sender, read_body};

    fn pool() -> JobPool {
        JobPool::new(std::sync::Arc::default())
    }

    /// What becomes of `pieces`, and the end of the body if it `ends`.
    async fn read(pieces: &[&'static str], ends: bool) -> Result<Counted, StatusCode> {
        let (mut sender, body) = Channel::<Bytes>::new(8);
        for piece in pieces {
            sender.send_data(Bytes::from_static(piece.as_bytes())).await.unwrap();
        }
        let _open = (!ends).then_some(sender);
        let read = read_body(body, Sender::Client, 10, &pool()).await;
        read.map_err(|error| error.response().status())
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_is_bounded_in_size_and_time() {
        assert_eq!(&read(&[], true).await.unwrap()[..], b"");
        assert_eq!(&read(&["abc"], true).await.unwrap()[..], b"abc");
        assert_eq!(&read(&["abc", "", "def", "ghij"], true).await.unwrap()[..], b"abcdefghij");
        assert_eq!(read(&["abc", "defghijk"], true).await, Err(StatusCode::PAYLOAD_TOO_LARGE));
        assert_eq!(read(&["abc"], false).await, Err(StatusCode::REQUEST_TIMEOUT));
    }

    #[test]
    fn pieces_of_any_size_stay_in_order_and_small_ones_become_few() {
        let large = Pieces::LARGE;
        for sizes in [vec![1; 3 * large], vec![3, large, 5, 7, large - 1, 2, large, large, 1]] {
            let (mut pieces, mut all) = (Pieces::default(), Vec::new());
            for (i, size) in sizes.into_iter().enumerate() {
                let piece = vec![u8::try_from(i % 251).unwrap(); size];
                all.extend_from_slice(&piece);
                pieces.push(piece.into());
            }
            pieces.end_small();
            assert!(pieces.all.len() <= 8, "{}", pieces.all.len());
            assert!(pieces.join() == all);
        }
    }

    /// Sends `first` bytes and then `each` of them every second, until there are `all` or the reader has left: how many seconds
    /// that took, and the status of a refusal.
    async fn send(first: usize, each: usize, all: usize) -> (u64, Option<StatusCode>) {
        let (mut sender, body) = Channel::<Bytes>::new(8);
        tokio::spawn(async move {
            let (mut sent, mut next) = (0, first);
            while sent < all && sender.send_data(Bytes::from(vec![b'a'; next])).await.is_ok() {
                (sent, next) = (sent + next, each);
                sleep(Duration::from_secs(1)).await;
            }
        });
        let start = tokio::time::Instant::now();
        let read = read_body(body, Sender::Client, 16 << 20, &pool()).await;
        (start.elapsed().as_secs(), read.err().map(|error| error.response().status()))
    }

    #[tokio::test(start_paused = true)]
    async fn a_body_that_is_too_slow_times_out_and_fast_bytes_buy_no_time() {
        const TIMEOUT: Option<StatusCode> = Some(StatusCode::REQUEST_TIMEOUT);
        for (first, each, all, seconds, refusal) in [
            // Nothing more comes, or next to nothing.
            (15 << 20, 0, 16 << 20, 30, TIMEOUT),
            (1, 1, 1 << 20, 30, TIMEOUT),
            (15 << 20, 1, 16 << 20, 30, TIMEOUT),
            // Half of what has to come: twice the time.
            (2 << 10, 2 << 10, 1 << 20, 60, TIMEOUT),
            (2 << 10, 2 << 10, 100 << 10, 50, None),
            (15 << 20, 2 << 10, 16 << 20, 60, TIMEOUT),
            (4 << 10, 4 << 10, 1 << 20, 256, None),
        ] {
            let (took, refused) = send(first, each, all).await;
            assert!(took.abs_diff(seconds) <= 1, "{first} + {each}: {took} s");
            assert_eq!(refused, refusal, "{first} + {each}");
        }
    }
}
