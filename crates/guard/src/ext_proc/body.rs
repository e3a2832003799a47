//! Bodies that Envoy sends in pieces.

use std::collections::VecDeque;
use std::pin::Pin;
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};

use bytes::Bytes;
use hyper::body::{Body, Frame, SizeHint};

use crate::http::respond::BoxError;
use crate::memory::Reservation;
use toolbond_guard_core::lock::lock;

/// Bytes that wait to be read, after which no more messages of Envoy are.
const MAX_WAITING: usize = 256 << 10;

/// The end at which pieces of a body arrive.
#[derive(Clone, Default)]
pub(super) struct Pieces(Arc<Mutex<Queue>>);

/// The body, as far as it has arrived.
#[derive(Default)]
pub(super) struct PieceBody(Pieces);

#[derive(Default)]
struct Queue {
    /// Each with its memory, which whoever reads it counts.
    pieces: VecDeque<(Bytes, Option<Reservation>)>,
    bytes: usize,
    is_over: bool,
    reader: Option<Waker>,
}

impl Pieces {
    /// Adds a piece; with `is_last`, the body is complete.
    pub(super) fn push(&self, piece: Bytes, memory: Option<Reservation>, is_last: bool) {
        let mut queue = lock(&self.0);
        queue.bytes += piece.len();
        if !piece.is_empty() {
            queue.pieces.push_back((piece, memory));
        }
        queue.is_over |= is_last;
        if let Some(reader) = queue.reader.take() {
            reader.wake();
        }
    }

    /// Whether as much waits to be read as may.
    pub(super) fn is_full(&self) -> bool {
        lock(&self.0).bytes >= MAX_WAITING
    }

    /// The body of these pieces.
    pub(super) fn body(&self) -> PieceBody {
        PieceBody(self.clone())
    }
}

impl Body for PieceBody {
    type Data = Bytes;
    type Error = BoxError;

    fn poll_frame(
        self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, BoxError>>> {
        let mut queue = lock(&self.0.0);
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
        let queue = lock(&self.0.0);
        queue.is_over && queue.pieces.is_empty()
    }

    fn size_hint(&self) -> SizeHint {
        let queue = lock(&self.0.0);
        match (queue.bytes as u64, queue.is_over) {
            (bytes, true) => SizeHint::with_exact(bytes),
            (bytes, false) => {
                let mut hint = SizeHint::new();
                hint.set_lower(bytes);
                hint
            }
        }
    }
}
