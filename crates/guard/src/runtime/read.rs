//! Reading messages without holding up the I/O thread.

use super::pool::JobPool;
use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::message::{INLINE_BYTES, Message, Parts, Text, Unreadable};

/// Bytes of a peer on their way to a message.
pub(crate) struct Received {
    bytes: Counted,
    text: Option<Text>,
    /// The messages in the text, or why there are none; `None` until a small text is read.
    parts: Option<Result<Parts, Unreadable>>,
}

impl Received {
    /// Reads `bytes`: on a worker where they are many.
    pub(crate) async fn new(bytes: Counted, pool: &JobPool) -> Self {
        if bytes.len() <= INLINE_BYTES {
            return Self::decode(bytes);
        }
        let same = bytes.clone();
        let read = pool.run(bytes.len(), move || Self::read(bytes));
        let failed = || Unreadable::not_read("reading the message failed".to_owned());
        read.await.unwrap_or_else(|| Self { bytes: same, text: None, parts: Some(Err(failed())) })
    }

    /// Reads `bytes` to the end.
    pub(super) fn read(bytes: Counted) -> Self {
        let mut received = Self::decode(bytes);
        if let (Some(text), None) = (&received.text, &received.parts) {
            received.parts = Some(Parts::read(text));
        }
        received
    }

    fn decode(bytes: Counted) -> Self {
        match Text::read(&bytes) {
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
    pub(crate) fn into_bytes(self) -> Counted {
        self.bytes
    }
}

/// What `look` finds in a large message, on a worker; `None` where it panics.
pub(crate) async fn examine<T: Send + 'static>(
    message: &Message<'_>,
    pool: &JobPool,
    look: impl FnOnce(&Message<'_>) -> T + Send + 'static,
) -> Option<T> {
    let (text, parts) = (message.text.clone(), message.parts.clone());
    pool.run(text.len(), move || look(&Message::new(&text, parts))).await
}
