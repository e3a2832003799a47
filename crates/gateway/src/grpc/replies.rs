//! The messages that answer a gRPC request.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::{BufMut as _, Bytes, BytesMut};
use hyper::body::{Body, Frame};
use prost::Message;
use tokio::sync::mpsc;
use toolbond_guard::MemoryLimit;
use toolbond_guard::gateway::{Reservation, reserve};

use super::messages::PREFIX;
use super::status::{Code, Status};

/// Messages, each with its prefix and its memory, and the status at the end.
type Reply = Result<(BytesMut, Reservation), Status>;

/// Where replies are sent.
#[derive(Clone)]
pub(crate) struct ReplySender(mpsc::Sender<Reply>, Arc<MemoryLimit>);

/// The body of a response: the messages that were sent, and then the status.
pub(crate) struct Replies {
    replies: Option<mpsc::Receiver<Reply>>,
    /// The status, once it is known and until it is sent.
    status: Option<Status>,
}

/// A sender, and the body that at most `capacity` sent messages wait for.
pub(crate) fn replies(capacity: usize, limit: &Arc<MemoryLimit>) -> (ReplySender, Replies) {
    let (sender, receiver) = mpsc::channel(capacity);
    (ReplySender(sender, Arc::clone(limit)), Replies { replies: Some(receiver), status: None })
}

impl ReplySender {
    /// Sends a message.
    ///
    /// Fails if the gateway has closed the stream.
    pub(crate) async fn send(&self, message: &impl Message) -> Result<(), Status> {
        let length = message.encoded_len();
        let prefix = u32::try_from(length)
            .map_err(|_| Status::new(Code::OutOfRange, "a reply of more than 4 GiB"))?;
        let mut bytes = BytesMut::with_capacity(PREFIX + length);
        bytes.put_u8(0);
        bytes.put_u32(prefix);
        message
            .encode(&mut bytes)
            .map_err(|error| Status::new(Code::Internal, error.to_string()))?;
        let gone = |_| Status::new(Code::Cancelled, "the gateway closed the stream");
        let memory = reserve(&self.1).another(bytes.len());
        self.0.send(Ok((bytes, memory))).await.map_err(gone)
    }

    /// Ends the response with `status`; without it, the end of all senders is [`Code::Ok`].
    pub(crate) async fn end(&self, status: Status) {
        // A gateway that has closed the stream needs no status.
        let _ = self.0.send(Err(status)).await;
    }

    /// Waits until the gateway has closed the stream.
    pub(crate) async fn closed(&self) {
        self.0.closed().await;
    }
}

impl From<Status> for Replies {
    fn from(status: Status) -> Self {
        Self { replies: None, status: Some(status) }
    }
}

impl Body for Replies {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        // What is ready at the same time is one frame.
        let mut frame = BytesMut::new();
        let mut memory: Option<Reservation> = None;
        while let Some(replies) = &mut self.replies {
            match replies.poll_recv(context) {
                Poll::Ready(Some(Ok((bytes, counted)))) if frame.is_empty() => {
                    (frame, memory) = (bytes, Some(counted));
                }
                Poll::Ready(Some(Ok((bytes, _)))) => frame.extend_from_slice(&bytes),
                Poll::Ready(end) => {
                    let done = || Status::new(Code::Ok, "");
                    self.status = Some(end.and_then(Result::err).unwrap_or_else(done));
                    self.replies = None;
                }
                Poll::Pending if frame.is_empty() => return Poll::Pending,
                Poll::Pending => break,
            }
        }
        if let Some(memory) = memory {
            let frame = memory.attach(frame).into_bytes();
            return Poll::Ready(Some(Ok(Frame::data(frame))));
        }
        let trailers = self.status.take().map(|status| Ok(Frame::trailers(status.trailers())));
        Poll::Ready(trailers)
    }

    fn is_end_stream(&self) -> bool {
        self.replies.is_none() && self.status.is_none()
    }
}
