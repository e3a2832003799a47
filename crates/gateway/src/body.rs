//! Bodies that Envoy sends in pieces.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};
use toolbond_guard::gateway::{BoxError, Reservation, lock};

use crate::grpc::{Status, wrong};
use crate::wire::HttpBody;

/// Bytes that wait to be read, after which no more messages of Envoy are.
const MAX_WAITING: usize = 256 << 10;

/// One direction of an exchange, as far as Envoy has sent it.
#[derive(Default)]
pub(super) struct Half {
    queue: Arc<Mutex<Queue>>,
    pub(super) has_trailers: bool,
    /// Whether the headers said that no body follows.
    pub(super) is_bodiless: bool,
}

/// The body of one direction, as far as it has arrived.
pub(super) struct PieceBody(Arc<Mutex<Queue>>);

#[derive(Default)]
struct Queue {
    /// Each with its memory, which whoever reads it counts.
    pieces: VecDeque<(Bytes, Reservation)>,
    bytes: usize,
    is_over: bool,
    reader: Option<Waker>,
}

impl Half {
    /// Takes headers, after which nothing follows if they are `last`: the body after them.
    pub(super) fn begin(&mut self, last: bool) -> PieceBody {
        self.is_bodiless = last;
        lock(&self.queue).is_over |= last;
        PieceBody(Arc::clone(&self.queue))
    }

    /// Adds a piece. Fails if the body is over.
    pub(super) fn push(&self, piece: HttpBody, memory: Reservation) -> Result<(), Status> {
        let mut queue = lock(&self.queue);
        if queue.is_over {
            return Err(wrong("a body went on after its end"));
        }
        queue.is_over = piece.end_of_stream;
        queue.bytes += piece.body.len();
        if !piece.body.is_empty() {
            queue.pieces.push_back((piece.body, memory));
        }
        queue.wake();
        Ok(())
    }

    /// Takes trailers, which end the body.
    pub(super) fn end(&mut self) {
        self.has_trailers = true;
        let mut queue = lock(&self.queue);
        queue.is_over = true;
        queue.wake();
    }

    /// Whether as much waits to be read as may.
    pub(super) fn is_full(&self) -> bool {
        lock(&self.queue).bytes >= MAX_WAITING
    }
}

impl Queue {
    fn wake(&mut self) {
        if let Some(reader) = self.reader.take() {
            reader.wake();
        }
    }
}

impl Body for PieceBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let mut queue = lock(&self.0);
        if let Some((piece, _)) = queue.pieces.pop_front() {
            queue.bytes -= piece.len();
            return Poll::Ready(Some(Ok(Frame::data(piece))));
        }
        if queue.is_over {
            return Poll::Ready(None);
        }
        queue.reader = Some(context.waker().clone());
        Poll::Pending
    }

    fn is_end_stream(&self) -> bool {
        let queue = lock(&self.0);
        queue.is_over && queue.pieces.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        let queue = lock(&self.0);
        let mut hint = SizeHint::new();
        hint.set_lower(queue.bytes as u64);
        if queue.is_over {
            hint.set_upper(queue.bytes as u64);
        }
        hint
    }
}
