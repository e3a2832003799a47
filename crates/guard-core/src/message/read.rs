//! Messages, read from their text once.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use bytestring::ByteString;
use serde::de::Error as _;
use serde_json::value::RawValue;

use super::envelope::{Envelope, INLINE_BYTES, Kind, Method, Params};
use super::id::Id;
use super::outline::Outline;
use super::unreadable::{BYTE_ORDER_MARK, Content, Unreadable};
use crate::counted::Counted;
use crate::json::edit::Span;
use crate::json::members::{duplicate, error_at, position, string};
use crate::json::object::{MAX_MEMBERS, MembersLeft};
use crate::json::scan::Scanner;

/// The most messages of one batch.
pub const MAX_BATCH: usize = 1000;

/// What a message of a batch takes beside its text while the batch is held.
const PART: usize = 512;

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
        read(text, false).map(|(parts, _)| parts)
    }

    /// The bytes of what was read, beyond that of one message with few members.
    pub fn memory(&self) -> usize {
        let parts = self.as_slice();
        let params = parts.iter().filter_map(|part| part.params.as_ref());
        let members: usize = params.map(|params| params.memory()).sum();
        parts.len().saturating_sub(1) * PART + members
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
        let error = error.unwrap_or_else(|| serde_json::Error::custom("expected UTF-8"));
        Unreadable { content: Content::Binary, ..Unreadable::new(bytes, &error) }
    })
}

impl<'a> Message<'a> {
    /// Reads `text`.
    ///
    /// Fails where it is no message or batch, and where two readers may disagree on what it says.
    pub fn read(text: &'a Text) -> Result<Self, Unreadable> {
        let (parts, outline) = read(text, true)?;
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

/// The messages in `text`, and the outline of the only one if that is asked for.
fn read(text: &ByteString, outlines: bool) -> Result<(Parts, Option<Outline<'_>>), Unreadable> {
    READS.fetch_add(1, Ordering::Relaxed);
    let start = if text.starts_with(BYTE_ORDER_MARK) { BYTE_ORDER_MARK.len() } else { 0 };
    let json = &text[start..];
    let (mut scanner, mut wrong, left) = (Scanner::new(json), None, MembersLeft::of_peer());
    let read = match scanner.next_byte() {
        Some(b'[') => {
            let envelopes = batch(text, &mut scanner, &left, &mut wrong);
            envelopes.map(|envelopes| (Parts::Batch(envelopes), None))
        }
        _ => {
            let outlines = outlines && json.len() <= INLINE_BYTES;
            let one = envelope(text, &mut scanner, outlines, &left, &mut wrong);
            one.map(|(envelope, outline)| (Parts::One(envelope), outline))
        }
    };
    let at = scanner.at();
    read.filter(|_| scanner.finish().is_some())
        .ok_or_else(|| Unreadable::new(text.as_bytes(), &error_at(json, at, wrong)))
}

/// Reads the batch that is next in a part of `text`, whose parameters may have so many members as are `left`; what is
/// `wrong` with it, unless it is no JSON.
fn batch(
    text: &str,
    scanner: &mut Scanner<'_>,
    left: &MembersLeft,
    wrong: &mut Option<String>,
) -> Option<Vec<Envelope>> {
    let mut envelopes = Vec::new();
    scanner.array(|scanner| {
        if envelopes.len() >= MAX_BATCH {
            *wrong = Some(format!("a batch of more than {MAX_BATCH} messages"));
            return None;
        }
        envelopes.push(envelope(text, scanner, false, left, wrong)?.0);
        Some(())
    })?;
    if envelopes.is_empty() {
        *wrong = Some("an empty batch".to_owned());
        return None;
    }
    Some(envelopes)
}

/// Reads the message that is next in a part of `text`, whose parameters may have so many members as are `left`, and the
/// outline of its result if that is asked for; what is `wrong` with it, unless it is no JSON.
fn envelope<'a>(
    text: &str,
    scanner: &mut Scanner<'a>,
    outlines: bool,
    left: &MembersLeft,
    wrong: &mut Option<String>,
) -> Option<(Envelope, Option<Outline<'a>>)> {
    const NAMES: [&str; 6] = ["jsonrpc", "id", "method", "params", "result", "error"];
    let (mut found, mut params, mut outline) = ([None::<&str>; 6], None, None);
    scanner.next_byte()?;
    let start = scanner.at();
    scanner.object(|scanner, name| {
        let index = match position(name, &NAMES) {
            Ok(Some(index)) if found[index].is_some() => Err(duplicate(NAMES[index])),
            position => position,
        };
        let Some(index) = index.map_err(|reason| *wrong = Some(reason)).ok()? else {
            return scanner.value().map(drop);
        };
        scanner.next_byte()?;
        let start = scanner.at();
        match NAMES[index] {
            "params" => {
                params = Params::scan(text, scanner, left);
                if left.is_exceeded() {
                    let text = format!("more than {MAX_MEMBERS} members of `params` and `_meta`");
                    *wrong = Some(text);
                }
                params.as_ref()?;
            }
            "result" if outlines => outline = Outline::scan(scanner)?,
            _ => scanner.value().map(drop)?,
        }
        found[index] = Some(scanner.since(start));
        Some(())
    })?;
    let [_, id, method, _, result, error] = found;
    let known = match method.map(string).transpose() {
        Ok(name) => name.map(|name| Method::parse(&name)),
        Err(error) => {
            *wrong = Some(error.to_string());
            return None;
        }
    };
    let is_answer = result.is_some() || error.is_some();
    if method.is_some() && is_answer || result.is_some() && error.is_some() {
        let both = if method.is_some() {
            "`method` and with `result` or `error`"
        } else {
            "`result` and `error`"
        };
        *wrong = Some(format!("a message with {both}"));
        return None;
    }
    let parsed = id.map(Id::parse);
    let id = id.filter(|_| matches!(parsed, Some(Some(_))));
    let kind = match (known, parsed) {
        (Some(method), Some(Some(id))) => Kind::Request(id, method),
        (Some(method), Some(None)) => Kind::InvalidId(method),
        (Some(method), None) => Kind::Notification(method),
        (None, Some(Some(id))) if is_answer => Kind::Response(id),
        (None, _) => Kind::Other,
    };
    let span = |part: Option<&str>| part.and_then(|part| Span::locate(text, part));
    let envelope = Envelope {
        span: span(Some(scanner.since(start)))?,
        kind,
        id: span(id),
        result: span(result),
        error: span(error),
        method: span(method),
        params: params.map(Arc::new),
    };
    Some((envelope, outline))
}

#[cfg(test)]
mod tests {
    use super::{Kind, MAX_BATCH, MAX_MEMBERS, Message, Text};

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
    fn members_of_parameters_are_bounded() {
        let members = |count: usize| vec![r#""":0"#; count].join(",");
        let request = |params: &str| format!(r#"{{"id":1,"method":"a","params":{params}}}"#);
        let params = |count| request(&format!("{{{}}}", members(count)));
        let meta = |count| request(&format!(r#"{{"_meta":{{{}}}}}"#, members(count - 1)));
        let batch = |count| format!("[{},{}]", params(count / 2), params(count - count / 2));
        for text in [&params as &dyn Fn(usize) -> String, &meta, &batch] {
            assert!(read(&text(MAX_MEMBERS)).is_ok());
            let error = read(&text(MAX_MEMBERS + 1)).unwrap_err();
            assert!(
                error.starts_with("more than 10000 members of `params` and `_meta`"),
                "{error}"
            );
        }
        // Arguments and results may have any number.
        let arguments = format!(r#"{{"arguments":{{{}}}}}"#, members(2 * MAX_MEMBERS));
        assert!(read(&request(&arguments)).is_ok());
        assert!(read(&format!(r#"{{"id":1,"result":{arguments}}}"#)).is_ok());
    }

    #[test]
    fn a_batch_is_bounded() {
        let batch = |count: usize| format!("[{}]", vec!["{}"; count].join(","));
        assert_eq!(read(&batch(MAX_BATCH)).unwrap().len(), MAX_BATCH);
        let error = read(&batch(MAX_BATCH + 1)).unwrap_err();
        assert!(error.starts_with("a batch of more than 1000 messages"), "{error}");
    }
}
