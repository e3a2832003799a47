//! Messages, read from their text once.

use std::fmt;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use bytestring::ByteString;
use serde::de::{Deserializer as _, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;

use super::envelope::{Envelope, Kind, Method, Params};
use super::id::Id;
use super::outline::Outline;
use super::unreadable::{BYTE_ORDER_MARK, Content, Unreadable};
use crate::counted::Counted;
use crate::json::edit::Span;
use crate::json::members::{members, string};

/// The most messages of one batch.
pub const MAX_BATCH: usize = 1000;

/// A text of a peer. It is made from counted bytes alone, so that nothing is read that is not counted.
#[derive(Clone, Debug)]
pub struct Text(ByteString);

impl Text {
    /// Reads `bytes` as text.
    pub fn read(bytes: &Counted) -> Result<Self, Unreadable> {
        text(bytes).map(Self)
    }
}

impl std::ops::Deref for Text {
    type Target = ByteString;

    fn deref(&self) -> &ByteString {
        &self.0
    }
}

#[cfg(test)]
impl<T: Into<ByteString>> From<T> for Text {
    fn from(text: T) -> Self {
        Self(text.into())
    }
}

/// One JSON-RPC message, or a batch of them, and the text that it was read from.
#[derive(Debug)]
pub struct Message<'a> {
    pub text: &'a Text,
    pub parts: Parts,
    /// The result, parsed on the same pass, where this is a small response that may answer a call.
    pub outline: Option<Outline<'a>>,
}

/// The messages in a text.
#[derive(Clone, Debug)]
pub enum Parts {
    /// One message.
    One(Envelope),
    /// An array of messages.
    Batch(Vec<Envelope>),
}

impl Parts {
    /// Reads `text`, for what tells messages apart.
    ///
    /// Fails as [`Message::read`] does.
    pub fn read(text: &ByteString) -> Result<Self, Unreadable> {
        read(text).map(|(parts, _)| parts)
    }

    pub fn as_slice(&self) -> &[Envelope] {
        match self {
            Self::One(envelope) => std::slice::from_ref(envelope),
            Self::Batch(envelopes) => envelopes,
        }
    }
}

/// `bytes` as text.
pub fn text(bytes: &Bytes) -> Result<ByteString, Unreadable> {
    ByteString::try_from(bytes.clone()).map_err(|_| {
        let error = serde_json::from_slice::<&RawValue>(bytes).err();
        let error = error.unwrap_or_else(|| Error::custom("expected UTF-8"));
        Unreadable { content: Content::Binary, ..Unreadable::new(bytes, &error) }
    })
}

impl<'a> Message<'a> {
    /// Reads `text`.
    ///
    /// Fails where it is no message or batch, and where two readers may disagree on what it says.
    pub fn read(text: &'a Text) -> Result<Self, Unreadable> {
        let (parts, outline) = read(text)?;
        Ok(Self { text, parts, outline })
    }

    /// A message that was read before.
    pub fn new(text: &'a Text, parts: Parts) -> Self {
        Self { text, parts, outline: None }
    }
}

/// How many texts were read as messages in this process, for a test that counts: each message is read once in each
/// direction, however it goes.
pub fn reads() -> u64 {
    READS.load(Ordering::Relaxed)
}

static READS: AtomicU64 = AtomicU64::new(0);

/// The messages in `text`, and the outline of the only one.
fn read(text: &ByteString) -> Result<(Parts, Option<Outline<'_>>), Unreadable> {
    READS.fetch_add(1, Ordering::Relaxed);
    let start = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let read = || {
        let json = &text[start..];
        if json.trim_ascii_start().starts_with('[') {
            return Ok((Parts::Batch(batch(text, json)?), None));
        }
        if let Some((envelope, outline)) = Outline::read(text, json) {
            return Ok((Parts::One(envelope), Some(outline)));
        }
        Ok((Parts::One(envelope(text, json)?), None))
    };
    read().map_err(|error: serde_json::Error| Unreadable::new(text.as_bytes(), &error))
}

/// The messages of the batch `json`, a part of `text`.
fn batch(text: &str, json: &str) -> serde_json::Result<Vec<Envelope>> {
    struct Elements<'a>(&'a str);
    impl<'de> Visitor<'de> for Elements<'_> {
        type Value = Vec<Envelope>;

        fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            f.write_str("a batch of messages")
        }

        fn visit_seq<A: SeqAccess<'de>>(self, mut seq: A) -> Result<Self::Value, A::Error> {
            let mut envelopes = Vec::new();
            while let Some(element) = seq.next_element::<&'de RawValue>()? {
                if envelopes.len() >= MAX_BATCH {
                    return Err(A::Error::custom(format!(
                        "a batch of more than {MAX_BATCH} messages"
                    )));
                }
                envelopes.push(envelope(self.0, element.get()).map_err(A::Error::custom)?);
            }
            if envelopes.is_empty() {
                return Err(A::Error::custom("an empty batch"));
            }
            Ok(envelopes)
        }
    }
    let mut deserializer = serde_json::Deserializer::from_str(json);
    let envelopes = deserializer.deserialize_seq(Elements(text))?;
    deserializer.end()?;
    Ok(envelopes)
}

/// Reads the message `json`, a part of `text`.
pub(super) fn envelope(text: &str, json: &str) -> serde_json::Result<Envelope> {
    let names = ["jsonrpc", "id", "method", "params", "result", "error"];
    let [_, id, method, params, result, error] = members(json, names)?;
    let known = match method {
        Some(method) => Some(Method::parse(&string(method)?)),
        None => None,
    };
    if method.is_some() && (result.is_some() || error.is_some()) {
        return Err(Error::custom("a message with `method` and with `result` or `error`"));
    }
    if result.is_some() && error.is_some() {
        return Err(Error::custom("a message with `result` and `error`"));
    }
    let span = |json: Option<&str>| {
        let locate =
            |json| Span::locate(text, json).ok_or_else(|| Error::custom("a part of no text"));
        json.map(locate).transpose()
    };
    let kind = match (known, id.map(|id| (id, Id::parse(id)))) {
        (Some(method), Some((_, Some(id)))) => Kind::Request(id, method),
        (Some(method), Some((_, None))) => Kind::InvalidId(method),
        (Some(method), None) => Kind::Notification(method),
        (None, Some((_, Some(id)))) if result.is_some() || error.is_some() => Kind::Response(id),
        (None, _) => Kind::Other,
    };
    let json = json.trim_ascii();
    Ok(Envelope {
        span: Span::locate(text, json).ok_or_else(|| Error::custom("a part of no text"))?,
        kind,
        id: span(id.filter(|id| Id::parse(id).is_some()))?,
        result: span(result)?,
        error: span(error)?,
        method: span(method)?,
        params: params.and_then(|params| Params::read(text, params)).map(Arc::new),
    })
}

#[cfg(test)]
mod tests {
    use super::{Kind, MAX_BATCH, Message, Text};

    fn read(text: &str) -> Result<Vec<Kind>, String> {
        let text = Text::from(text);
        let message = Message::read(&text).map_err(|unreadable| unreadable.reason)?;
        Ok(message.parts.as_slice().iter().map(|part| part.kind.clone()).collect())
    }

    #[test]
    fn tells_kinds_apart() {
        let kind = |text: &str| format!("{:?}", read(text).unwrap());
        assert_eq!(kind(r#"{"id":1,"method":"a"}"#), "[Request(Integer(1), Other)]");
        assert_eq!(kind(r#"{"method":"tools\/call"}"#), "[Notification(CallTool)]");
        assert_eq!(kind(r#"{"id":"x","result":null}"#), r#"[Response(String("x"))]"#);
        assert_eq!(kind(r#"{"id":null,"error":{}}"#), "[Other]");
        assert_eq!(kind(r#"{"id":[1],"method":"tools/call"}"#), "[InvalidId(CallTool)]");
        assert_eq!(kind("\u{feff} [{},{}] "), "[Other, Other]");
    }

    #[test]
    fn refuses_what_two_readers_may_read_in_two_ways() {
        for text in [
            r#"{"id":1,"method":"a","method":"b"}"#,
            r#"{"id":1,"Method":"tools/call"}"#,
            r#"{"id":1,"method":"a","result":{}}"#,
            r#"{"id":1,"result":{},"error":{}}"#,
            r#"{"id":1,"method":["a"]}"#,
            "[1]",
            "[]",
            "hello",
            "{} {}",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
    }

    #[test]
    fn a_batch_is_bounded() {
        let batch = |count: usize| format!("[{}]", vec!["{}"; count].join(","));
        assert_eq!(read(&batch(MAX_BATCH)).unwrap().len(), MAX_BATCH);
        let error = read(&batch(MAX_BATCH + 1)).unwrap_err();
        assert!(error.starts_with("a batch of more than 1000 messages"), "{error}");
    }
}
