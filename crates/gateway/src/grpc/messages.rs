//! The messages of a gRPC request.

use std::future::poll_fn;
use std::marker::PhantomData;
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use bytes::Bytes;
use hyper::body::{Body as _, Incoming};
use prost::Message;
use toolbond_guard::MemoryLimit;
use toolbond_guard::gateway::{Reservation, reserve};

use super::status::{Code, Status};

/// The bytes in front of each message: whether it is compressed, and its length.
pub(super) const PREFIX: usize = 5;

/// The messages of a request, as they arrive.
pub(crate) struct Messages<M> {
    body: Incoming,
    /// The bytes that have arrived and are not read yet: at most one message, and one frame of HTTP/2.
    buffer: Vec<u8>,
    /// The memory of the buffer.
    memory: Reservation,
    /// A frame for which there is no memory yet.
    frame: Bytes,
    max: usize,
    message: PhantomData<fn() -> M>,
}

/// A message, and the memory that it is in.
pub(crate) struct Delivered<M> {
    pub(crate) message: M,
    pub(crate) memory: Reservation,
}

impl<M: Message + Default> Messages<M> {
    /// The messages in `body`, of at most `max` bytes each.
    pub(crate) fn new(body: Incoming, max: usize, limit: &MemoryLimit) -> Self {
        let (buffer, memory, frame) = (Vec::new(), reserve(limit), Bytes::new());
        Self { body, buffer, memory, frame, max, message: PhantomData }
    }

    /// The next message; `None` after the last one.
    ///
    /// Fails if a message is too long, is none, or breaks off, and if there is no memory for it in time.
    pub(crate) async fn next(&mut self) -> Result<Option<Delivered<M>>, Status> {
        poll_fn(|context| self.poll_next(context)).await
    }

    /// Polls for what [`Messages::next`] returns.
    pub(crate) fn poll_next(
        &mut self,
        context: &mut Context<'_>,
    ) -> Poll<Result<Option<Delivered<M>>, Status>> {
        loop {
            if !self.frame.is_empty() {
                ready!(self.poll_keep(context))?;
            }
            if let Some(message) = self.read()? {
                return Poll::Ready(Ok(Some(message)));
            }
            match ready!(Pin::new(&mut self.body).poll_frame(context)) {
                Some(Ok(frame)) => self.frame = frame.into_data().unwrap_or_default(),
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

    /// Adds the frame to the buffer, once there is memory for it.
    fn poll_keep(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Status>> {
        let needed = self.buffer.len() + self.frame.len();
        if needed > self.buffer.capacity() {
            // Twice as much as before, but no more than the message has.
            let whole = self.head()?.map_or(0, |length| PREFIX + length);
            let capacity = (2 * needed).min(whole).max(needed);
            let grown = ready!(self.memory.poll_grow(capacity, context));
            grown.map_err(|error| Status::new(Code::ResourceExhausted, error.to_string()))?;
            self.buffer.reserve_exact(capacity - self.buffer.len());
        }
        self.buffer.extend_from_slice(&self.frame);
        self.frame = Bytes::new();
        Poll::Ready(Ok(()))
    }

    /// The length of the message in the buffer, once that is known.
    fn head(&self) -> Result<Option<usize>, Status> {
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
        Ok(Some(length))
    }

    /// Takes a message out of the buffer, once all of it is there.
    fn read(&mut self) -> Result<Option<Delivered<M>>, Status> {
        let end = match self.head()? {
            Some(length) if self.buffer.len() >= PREFIX + length => PREFIX + length,
            _ => return Ok(None),
        };
        // What is left does not keep the memory of the message.
        let rest = self.buffer.split_off(end);
        let memory = self.memory.another(rest.capacity());
        let memory = std::mem::replace(&mut self.memory, memory);
        let bytes = Bytes::from(std::mem::replace(&mut self.buffer, rest));
        let message = M::decode(bytes.slice(PREFIX..))
            .map_err(|error| Status::new(Code::Internal, format!("not a message: {error}")))?;
        Ok(Some(Delivered { message, memory }))
    }
}
