//! Reading messages without holding up the I/O thread.

use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::message::{
    BYTE_ORDER_MARK, Frame, INLINE_BYTES, Id, Message, Parts, Text, Unreadable,
};

use super::pool::JobPool;
use crate::memory::MemoryLimit;
use crate::pipe::breaks::{has_breaks, one_line};

/// What is read of a message need not be counted beside its bytes up to this size.
const UNCOUNTED: usize = 2 << 10;

/// Whether `bytes` begin as a batch does.
fn is_batch(bytes: &[u8]) -> bool {
    let text = bytes.strip_prefix(BYTE_ORDER_MARK.as_bytes()).unwrap_or(bytes);
    text.trim_ascii_start().starts_with(b"[")
}

/// Bytes of a peer on their way to a message, which is read once.
#[derive(Clone)]
pub(crate) struct Received {
    bytes: Counted,
    text: Option<Text>,
    /// The messages in the text, or why there are none; `None` until a small text of a server is read.
    parts: Option<Result<Parts, Unreadable>>,
}

impl Received {
    /// Reads `bytes` of a client: on a worker where they are many.
    pub(crate) async fn of_client(bytes: Counted, pool: &JobPool) -> Self {
        let (same, memory) = (bytes.clone(), pool.memory().clone());
        let read = pool.run(bytes.len(), move || Self::read(bytes, &memory)).await;
        read.unwrap_or_else(|| Self::failed(same))
    }

    /// The same for a message that goes into a pipe, as one line.
    pub(crate) async fn of_client_as_line(bytes: Counted, pool: &JobPool) -> Self {
        let (same, memory) = (bytes.clone(), pool.memory().clone());
        let read = move || Self::read(bytes, &memory).into_line(&memory);
        pool.run(same.len(), read).await.unwrap_or_else(|| Self::failed(same))
    }

    /// Reads `bytes` of a server: on a worker where they are many.
    pub(crate) async fn of_server(bytes: Counted, pool: &JobPool) -> Self {
        if bytes.len() <= INLINE_BYTES && !is_batch(&bytes) {
            return Self::decode(bytes);
        }
        Self::of_client(bytes, pool).await
    }

    /// The same for a message that goes into a pipe or an event stream, as one line.
    pub(crate) async fn of_server_as_line(bytes: Counted, pool: &JobPool) -> Self {
        if bytes.len() <= INLINE_BYTES && !is_batch(&bytes) && !has_breaks(&bytes) {
            return Self::decode(bytes);
        }
        Self::of_client_as_line(bytes, pool).await
    }

    /// The same message as one line. What is no message stays as it is: a break in a string makes it none.
    fn into_line(self, memory: &MemoryLimit) -> Self {
        if !matches!(self.parts, Some(Ok(_))) || !has_breaks(&self.bytes) {
            return self;
        }
        let line = memory.count_changed(&self.bytes, one_line);
        if line.len() != self.bytes.len() {
            // What is escaped moves what comes after it.
            return Self::read(line, memory);
        }
        Self { parts: self.parts, ..Self::decode(line) }.count_parts(memory)
    }

    /// Counts the memory of what was read of the bytes where that is much: of a batch, or of many members.
    fn count_parts(mut self, memory: &MemoryLimit) -> Self {
        let more = match &self.parts {
            Some(Ok(parts)) => parts.memory(),
            _ => 0,
        };
        if more > UNCOUNTED {
            self.bytes = memory.count_beside(self.bytes, more);
            self.text = Text::read(&self.bytes).ok();
        }
        self
    }

    /// Bytes that could not be read on a worker.
    fn failed(bytes: Counted) -> Self {
        let failed = Unreadable::not_read("reading the message failed".to_owned());
        Self { bytes, ..Self::unread(failed) }
    }

    /// A message that is not kept, such as one that is too long.
    pub(crate) fn unread(why: Unreadable) -> Self {
        Self { bytes: Counted::default(), text: None, parts: Some(Err(why)) }
    }

    /// Reads `bytes` to the end.
    pub(crate) fn read(bytes: Counted, memory: &MemoryLimit) -> Self {
        let mut received = Self::decode(bytes);
        if let (Some(text), None) = (&received.text, &received.parts) {
            received.parts = Some(Parts::read(text));
        }
        received.count_parts(memory)
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

    /// The only message of a client, if there is one.
    pub(crate) fn frame(&self) -> Option<Frame> {
        match (&self.text, &self.parts) {
            (Some(text), Some(Ok(Parts::One(part)))) => {
                Some(Frame { text: (**text).clone(), part: part.clone() })
            }
            _ => None,
        }
    }

    /// The id that a text names which looks like a broken answer.
    pub(crate) fn broken_answer_id(&self) -> Option<&Id> {
        let text = self.parts.as_ref()?.as_ref().err()?;
        text.id.as_ref().filter(|_| text.may_be_message && !text.has_method)
    }

    /// Whether it is an empty line.
    pub(crate) fn is_blank(&self) -> bool {
        self.text.is_some() && self.bytes.trim_ascii().is_empty()
    }

    /// The bytes, as they came.
    pub(crate) fn bytes(&self) -> &Counted {
        &self.bytes
    }

    /// The bytes, as they came.
    pub(crate) fn into_bytes(self) -> Counted {
        self.bytes
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::Received;
    use crate::memory::MemoryLimit;
    use crate::runtime::pool::JobPool;
    use crate::testing::counted;

    #[tokio::test]
    async fn what_is_read_is_counted_beside_the_bytes() {
        let pool = JobPool::new(Arc::new(MemoryLimit::default()));
        let memory = pool.memory();
        let params = format!("{{{}\"\":0}}", r#""":0,"#.repeat(999));
        let meta = format!(r#"{{"_meta":{params}}}"#);
        let request = |params: &str| format!(r#"{{"id":1,"method":"a","params":{params}}}"#);
        let batch = format!("[{}{{}}]", "{},".repeat(999));
        let marked = format!("\u{feff}{batch}");
        for text in [request(&params), request(&meta), batch, marked] {
            let bytes = || memory.count(text.clone());
            // Whoever keeps the text keeps the count.
            let kept = Received::of_client(bytes(), &pool).await.text.unwrap();
            assert!(memory.used()[0] > text.len() + 32_000, "{text:.20}: {:?}", memory.used());
            drop(kept);
            assert_eq!(memory.used()[0], 0);
            let line = text.replacen(',', ",\n", 1);
            let line = Received::of_client_as_line(memory.count(line), &pool).await;
            assert!(memory.used()[0] > text.len() + 32_000, "{text:.20}: {:?}", memory.used());
            drop(line);
            let of_server = Received::of_server(bytes(), &pool).await;
            let is_counted = memory.used()[0] > text.len() + 32_000;
            // A single message of a server is read when it is handled.
            assert_eq!(is_counted, !text.starts_with('{'), "{text:.20}: {:?}", memory.used());
            drop(of_server);
        }
    }

    #[test]
    fn a_message_becomes_one_line_and_what_is_none_stays() {
        let memory = MemoryLimit::default();
        let line = |text: &str| {
            let received = Received::read(counted(text.to_owned()), &memory);
            let mut received = received.into_line(&memory);
            let is_message = received.message().is_ok();
            (String::from_utf8(received.into_bytes().to_vec()).unwrap(), is_message)
        };
        let (plain, spread) = (r#"{"id":1,"method":"a"}"#, "{\"id\":1,\r\n\"method\":\"a\"}\n");
        assert_eq!(line(plain), (plain.to_owned(), true));
        assert_eq!(line(spread), (r#"{"id":1,  "method":"a"}"#.to_owned(), true));
        let separated = "{\"id\":1,\"method\":\"a\u{2028}b\"}";
        assert_eq!(line(separated), (r#"{"id":1,"method":"a\u2028b"}"#.to_owned(), true));
        // A break in a string: it is no JSON, and is not made into some.
        let broken = "{\"id\":1,\"method\":\"a\nb\"}";
        assert_eq!(line(broken), (broken.to_owned(), false));
    }
}
