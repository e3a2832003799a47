//! Reading messages without holding up the I/O thread.

use std::sync::Arc;

use bytes::Bytes;
use bytestring::ByteString;

use super::pool::JobPool;
use crate::message::{INLINE_BYTES, Message, Parts, Skim, Unreadable, text};

/// Bytes of a peer on their way to a message.
pub(crate) struct Received {
    bytes: Bytes,
    text: Option<ByteString>,
    /// The messages in the text, or why there are none; `None` until a small text is read.
    parts: Option<Result<Parts, Unreadable>>,
}

impl Received {
    /// Counts the memory of `bytes`, and reads them on a worker where they are many. If there is no
    /// memory for them, that is waited for only if `may_wait`.
    pub(crate) async fn new(bytes: Bytes, pool: &Arc<JobPool>, may_wait: bool) -> Self {
        let mut memory = pool.memory().message();
        let grown =
            if may_wait { memory.grow(bytes.len()).await } else { memory.try_grow(bytes.len()) };
        if let Err(error) = grown {
            let mut skim = Skim::default();
            skim.feed(&bytes);
            let (id, has_method) = skim.finish();
            let unread = Unreadable::not_read(error.to_string());
            let parts = Some(Err(Unreadable { id, has_method, ..unread }));
            return Self { bytes, text: None, parts };
        }
        Self::counted(memory.attach(bytes), pool).await
    }

    /// [`Received::new`], for bytes whose memory is counted.
    pub(crate) async fn counted(bytes: Bytes, pool: &Arc<JobPool>) -> Self {
        if bytes.len() <= INLINE_BYTES {
            return Self::decode(bytes);
        }
        let same = bytes.clone();
        let read = pool.run(move || {
            let mut received = Self::decode(bytes);
            if let (Some(text), None) = (&received.text, &received.parts) {
                received.parts = Some(Message::read(text).map(|message| message.parts));
            }
            received
        });
        let failed = || Unreadable::not_read("reading the message failed".to_owned());
        read.await.unwrap_or_else(|| Self { bytes: same, text: None, parts: Some(Err(failed())) })
    }

    fn decode(bytes: Bytes) -> Self {
        match text(&bytes) {
            Ok(text) => Self { bytes, text: Some(text), parts: None },
            Err(unreadable) => Self { bytes, text: None, parts: Some(Err(unreadable)) },
        }
    }

    /// The message; to be asked once.
    pub(crate) fn message(&mut self) -> Result<Message<'_>, Unreadable> {
        match (&self.text, self.parts.take()) {
            (Some(text), None) => Message::read(text),
            (Some(text), Some(parts)) => Ok(Message::new(text, parts?)),
            (None, Some(Err(unreadable))) => Err(unreadable),
            (None, _) => Err(Unreadable::not_read("the message was read before".to_owned())),
        }
    }

    /// The bytes, as they came.
    pub(crate) fn into_bytes(self) -> Bytes {
        self.bytes
    }
}
