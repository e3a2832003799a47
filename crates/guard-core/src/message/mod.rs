//! JSON-RPC messages, read as far as the guard has to.

mod frame;
mod id;
pub mod meta;
mod outline;
mod params;
mod reply;
mod skim;

use std::borrow::Cow;
use std::fmt;
use std::sync::Arc;

use bytes::Bytes;
use bytestring::ByteString;
use serde::de::{Deserializer as _, Error, SeqAccess, Visitor};
use serde_json::value::RawValue;

pub use self::frame::{Changes, Frame, Outgoing, Sent, default_edits};
pub use self::id::{Id, MAX_ID};
pub use self::outline::{Outline, RESULT_NAMES};
pub use self::params::{
    CallParams, ClientMeta, Handshake, ListParams, Progress, RequestMeta, Task, TokenOf,
    cancelled_id, created_tasks, initializing_client, progress,
};
pub use self::reply::{
    code, error, error_code, error_message, error_object_code, error_with_data, response,
};
pub use self::skim::Skim;
use crate::counted::Counted;
use crate::json::edit::Span;
use crate::json::fields::Fields;
use crate::json::members::{Name, members};

/// The byte order mark that some peers write before a text, and readers skip.
pub const BYTE_ORDER_MARK: &str = "\u{feff}";

/// The most messages of one batch.
pub const MAX_BATCH: usize = 1000;

/// Messages up to this size are read and checked on the I/O thread.
pub const INLINE_BYTES: usize = 64 << 10;

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

/// The outer members of a message, and those of its parameters: where they stand in its text.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// The message in its text.
    pub span: Span,
    pub kind: Kind,
    /// The value of `id`, as it is written.
    pub id: Option<Span>,
    pub result: Option<Span>,
    pub error: Option<Span>,
    /// The value of `method`, as it is written.
    method: Option<Span>,
    params: Option<Arc<Params>>,
}

/// The parameters of a message.
#[derive(Debug)]
struct Params {
    span: Span,
    /// Their members, if they are an object.
    fields: Option<Fields>,
    /// The members of `_meta`, if that is an object.
    meta: Option<Fields>,
}

impl Params {
    /// Reads `params`, a part of `text`.
    fn read(text: &str, params: &str) -> Option<Self> {
        let fields = Fields::read(text, params);
        let meta = fields.as_ref().and_then(|it| Fields::read(text, it.get(text, "_meta")?));
        Some(Self { span: Span::locate(text, params)?, fields, meta })
    }
}

impl Envelope {
    /// The method; empty where there is none.
    pub fn method<'t>(&self, text: &'t str) -> Cow<'t, str> {
        let method = self.method.map(|method| method.text(text));
        let name = method.and_then(|json| serde_json::from_str::<Name<'_>>(json).ok());
        name.map_or(Cow::Borrowed(""), |name| name.0)
    }

    /// The parameters as they are written; `None` where there are none.
    pub fn params_text<'t>(&self, text: &'t str) -> Option<&'t str> {
        let params = self.params.as_ref()?.span.text(text);
        (params != "null").then_some(params)
    }

    /// The members of the parameters, if they are an object.
    pub fn params(&self) -> Option<&Fields> {
        self.params.as_ref()?.fields.as_ref()
    }

    /// The members of `_meta` of the parameters, if that is an object.
    pub fn meta(&self) -> Option<&Fields> {
        self.params.as_ref()?.meta.as_ref()
    }

    /// The parameters called `names`.
    ///
    /// Fails where the parameters are no object, and where two readers may disagree about them.
    pub fn find<'t, const N: usize>(
        &self,
        text: &'t str,
        names: [&'static str; N],
    ) -> serde_json::Result<[Option<&'t str>; N]> {
        match (self.params(), self.params_text(text)) {
            (Some(params), _) => params.find(text, names),
            (None, Some(_)) => Err(Error::custom("expected an object")),
            (None, None) => Ok([None; N]),
        }
    }

    /// The members of `_meta` called `names`. Fails as [`Envelope::find`] does.
    pub fn find_meta<'t, const N: usize>(
        &self,
        text: &'t str,
        names: [&'static str; N],
    ) -> serde_json::Result<[Option<&'t str>; N]> {
        let meta = self.params().and_then(|params| params.get(text, "_meta"));
        match (self.meta(), meta.filter(|meta| *meta != "null")) {
            (Some(meta), _) => meta.find(text, names),
            (None, Some(_)) => Err(Error::custom("#/_meta: expected an object")),
            (None, None) => Ok([None; N]),
        }
    }
}

/// What a message is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Expects a response.
    Request(Id, Method),
    /// Expects none.
    Notification(Method),
    /// Answers a request.
    Response(Id),
    /// Has a method, and an id that is neither a string nor a number.
    InvalidId(Method),
    /// An error about no request in particular, or something newer than this guard.
    Other,
}

/// The methods that the guard knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Method {
    Initialize,
    Discover,
    Listen,
    ListTools,
    CallTool,
    TaskResult,
    TaskGet,
    Initialized,
    Cancelled,
    ToolsChanged,
    LogMessage,
    TaskStatus,
    Other,
}

impl Method {
    fn parse(name: &str) -> Self {
        match name {
            "initialize" => Self::Initialize,
            "server/discover" => Self::Discover,
            "subscriptions/listen" => Self::Listen,
            "tools/list" => Self::ListTools,
            "tools/call" => Self::CallTool,
            "tasks/result" => Self::TaskResult,
            "tasks/get" => Self::TaskGet,
            "notifications/initialized" => Self::Initialized,
            "notifications/cancelled" => Self::Cancelled,
            "notifications/tools/list_changed" => Self::ToolsChanged,
            "notifications/message" => Self::LogMessage,
            "notifications/tasks" => Self::TaskStatus,
            _ => Self::Other,
        }
    }
}

/// Text that is not a message.
#[derive(Clone, Debug)]
#[expect(clippy::struct_excessive_bools, reason = "what can be told of it, each on its own")]
pub struct Unreadable {
    /// What is wrong, in one line.
    pub reason: String,
    /// Whether it is JSON, and not a message.
    pub is_json: bool,
    /// The id that it seems to have.
    pub id: Option<Id>,
    /// Whether it seems to be a request or a notification.
    pub has_method: bool,
    /// Whether it looks like a broken message.
    pub may_be_message: bool,
    /// Whether it is UTF-8.
    pub is_text: bool,
    /// The start of the text, for the log.
    pub excerpt: String,
}

/// The characters of an unreadable text that the log shows.
const EXCERPT: usize = 2000;

impl Unreadable {
    fn new(bytes: &[u8], error: &serde_json::Error) -> Self {
        let mut skim = Skim::default();
        skim.feed(bytes);
        let (id, has_method) = skim.finish();
        let start = bytes.strip_prefix(BYTE_ORDER_MARK.as_bytes()).unwrap_or(bytes);
        let start = start.trim_ascii();
        let names = |name: &[u8]| memchr::memmem::find(bytes, name).is_some();
        let is_object = matches!(start.first(), Some(b'{' | b'['));
        Self {
            reason: error.to_string(),
            is_json: error.is_data(),
            id,
            has_method,
            may_be_message: is_object && (names(b"\"jsonrpc\"") || names(b"\"result\"")),
            // UTF-16 and UTF-32 have zero bytes where UTF-8 has none.
            is_text: !bytes.contains(&0),
            excerpt: String::from_utf8_lossy(&start[..start.len().min(4 * EXCERPT)])
                .chars()
                .take(EXCERPT)
                .collect(),
        }
    }

    /// A message that was not read, for this reason.
    pub fn not_read(reason: String) -> Self {
        Self {
            reason,
            is_json: true,
            id: None,
            has_method: false,
            may_be_message: true,
            is_text: true,
            excerpt: String::new(),
        }
    }

    /// A message of more bytes than are read.
    pub fn too_long(bytes: usize, limit: usize, id: Option<Id>, has_method: bool) -> Self {
        let reason =
            format!("message of {bytes} bytes exceeds the limit of {limit} (--max-message)");
        Self { id, has_method, ..Self::not_read(reason) }
    }
}

/// `bytes` as text.
pub fn text(bytes: &Bytes) -> Result<ByteString, Unreadable> {
    ByteString::try_from(bytes.clone()).map_err(|_| {
        let error = serde_json::from_slice::<&RawValue>(bytes).err();
        let error = error.unwrap_or_else(|| Error::custom("expected UTF-8"));
        Unreadable { is_text: false, ..Unreadable::new(bytes, &error) }
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

/// The messages in `text`, and the outline of the only one.
fn read(text: &ByteString) -> Result<(Parts, Option<Outline<'_>>), Unreadable> {
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
fn envelope(text: &str, json: &str) -> serde_json::Result<Envelope> {
    let names = ["jsonrpc", "id", "method", "params", "result", "error"];
    let [_, id, method, params, result, error] = members(json, names)?;
    let known = match method {
        Some(method) => Some(Method::parse(&serde_json::from_str::<Name<'_>>(method.get())?.0)),
        None => None,
    };
    if method.is_some() && (result.is_some() || error.is_some()) {
        return Err(Error::custom("a message with `method` and with `result` or `error`"));
    }
    if result.is_some() && error.is_some() {
        return Err(Error::custom("a message with `result` and `error`"));
    }
    let span = |raw: Option<&RawValue>| {
        raw.map(|raw| {
            Span::locate(text, raw.get()).ok_or_else(|| Error::custom("a part of no text"))
        })
        .transpose()
    };
    let kind = match (known, id.map(|id| (id, Id::parse(id.get())))) {
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
        id: span(id.filter(|id| Id::parse(id.get()).is_some()))?,
        result: span(result)?,
        error: span(error)?,
        method: span(method)?,
        params: params.and_then(|params| Params::read(text, params.get())).map(Arc::new),
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
