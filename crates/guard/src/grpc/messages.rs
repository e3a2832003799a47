//! The messages of a gRPC request.

use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::{Buf as _, BytesMut};
use hyper::body::{Body as _, Incoming};
use prost::Message;

use super::status::{Code, Status};

/// The bytes in front of each message: whether it is compressed, and its length.
pub(super) const PREFIX: usize = 5;

/// The messages of a request, as they arrive.
pub(crate) struct Messages<M> {
    body: Incoming,
    /// The bytes that have arrived and are not read yet: at most one message, and one frame of HTTP/2.
    buffer: BytesMut,
    max: usize,
    message: PhantomData<fn() -> M>,
}

impl<M: Message + Default> Messages<M> {
    /// The messages in `body`, of at most `max` bytes each.
    pub(crate) fn new(body: Incoming, max: usize) -> Self {
        Self { body, buffer: BytesMut::new(), max, message: PhantomData }
    }

    /// The next message; `None` after the last one.
    ///
    /// Fails if a message is too long, is none, or breaks off.
    pub(crate) async fn next(&mut self) -> Result<Option<M>, Status> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// Polls for what [`Messages::next`] returns.
    pub(crate) fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<M>, Status>> {
        loop {
            if let Some(message) = self.read()? {
                return Poll::Ready(Ok(Some(message)));
            }
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => {
                    self.buffer.extend_from_slice(&frame.into_data().unwrap_or_default());
                }
                Some(Err(error)) => {
                    return Poll::Ready(Err(Status::new(Code::Cancelled, error.to_string())));
                }
                None if self.buffer.is_empty() => return Poll::Ready(Ok(None)),
                None => {
                    let status = Status::new(Code::Internal, "a message broke off");
                    return Poll::Ready(Err(status));
                }
            }
        }
    }

    /// Takes a message out of the buffer, once all of it is there.
    fn read(&mut self) -> Result<Option<M>, Status> {
        let Some(&[compressed, a, b, c, d]) = self.buffer.first_chunk::<PREFIX>() else {
            return Ok(None);
        };
        if compressed != 0 {
            return Err(Status::new(Code::Unimplemented, "messages must not be compressed"));
        }
        let length = u32::from_be_bytes([a, b, c, d]) as usize;
        if length > self.max {
            let reason =
                format!("a message of {length} bytes exceeds the limit of {} bytes", self.max);
            return Err(Status::new(Code::OutOfRange, reason));
        }
        let Some(bytes) = self.buffer.get(PREFIX..PREFIX + length) else { return Ok(None) };
        let message = M::decode(bytes)
            .map_err(|error| Status::new(Code::Internal, format!("not a message: {error}")))?;
        self.buffer.advance(PREFIX + length);
        if self.buffer.is_empty() {
            // A stream that waits takes no memory.
            self.buffer = BytesMut::new();
        }
        Ok(Some(message))
    }
}
