//! JSON-RPC messages, read as far as the guard has to.

use std::borrow::Cow;

use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use toolpact_contract::Revision;

use crate::Id;
use crate::outline::Outline;

/// What some write before a text, and readers of JSON and of events pass over.
pub(crate) const BYTE_ORDER_MARK: &[u8] = b"\xef\xbb\xbf";

/// A message: its outer members, each as the text it came as.
///
/// Fails to read what is no JSON object, and what names one of these members twice: two readers
/// might not agree on what such a message says.
#[derive(Debug, Deserialize)]
pub(crate) struct Message<'a> {
    #[serde(borrow, default)]
    pub(crate) id: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) method: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) params: Option<&'a RawValue>,
    #[serde(borrow, default, deserialize_with = "text")]
    pub(crate) result: Option<&'a str>,
    /// The result once more, where it is small and may be that of a call.
    #[serde(skip)]
    pub(crate) outline: Option<Outline<'a>>,
}

fn text<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<&'de str>, D::Error> {
    Ok(Option::<&RawValue>::deserialize(deserializer)?.map(RawValue::get))
}

/// What a message is.
#[derive(Debug)]
pub(crate) enum Kind<'a> {
    /// Wants an answer.
    Request(Id, &'a str),
    /// Wants none.
    Notification(&'a str),
    /// Answers a request.
    Response(Id),
    /// An error about no request in particular, or something newer than this guard.
    Other,
}

impl<'a> Message<'a> {
    /// Reads `text`.
    pub(crate) fn read(text: &'a [u8]) -> serde_json::Result<Self> {
        let text = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        match (text.trim_ascii_start().first(), std::str::from_utf8(text)) {
            (Some(b'['), _) => Err(serde::de::Error::custom("expected an object, found an array")),
            (_, Ok(text)) => Outline::read(text).map_or_else(|| serde_json::from_str(text), Ok),
            // A reader does not check the members that it passes over.
            (_, Err(_)) => Err(serde_json::from_slice::<&RawValue>(text)
                .err()
                .unwrap_or_else(|| serde::de::Error::custom("expected UTF-8"))),
        }
    }

    /// What it is.
    pub(crate) fn kind(&self) -> Kind<'_> {
        match (&self.method, self.id.and_then(Id::of)) {
            (Some(method), Some(id)) => Kind::Request(id, method),
            (Some(method), None) => Kind::Notification(method),
            (None, Some(id)) => Kind::Response(id),
            (None, None) => Kind::Other,
        }
    }
}

/// Reads what has to be an object: members that a reader takes by name are never taken by position.
pub(crate) fn object<'a, T: Deserialize<'a>>(text: &'a str) -> serde_json::Result<T> {
    if text.starts_with('{') {
        serde_json::from_str(text)
    } else {
        Err(serde::de::Error::custom("expected an object"))
    }
}

/// The parameters of `tools/call` and `tools/list`.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct ToolParams<'a> {
    #[serde(borrow, default)]
    pub(crate) name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    pub(crate) arguments: Option<&'a RawValue>,
    #[serde(borrow, default)]
    pub(crate) cursor: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    pub(crate) meta: Option<&'a RawValue>,
}

impl<'a> ToolParams<'a> {
    /// Reads `params`; none are all absent.
    pub(crate) fn read(params: Option<&'a RawValue>) -> serde_json::Result<Self> {
        params.map_or_else(|| Ok(Self::default()), |params| object(params.get()))
    }

    /// The revision that the request itself names, as requests do from 2026-07-28 on.
    pub(crate) fn revision(&self) -> serde_json::Result<Option<Revision>> {
        let Some(meta) = self.meta else { return Ok(None) };
        let meta: Meta<'_> = object(meta.get())?;
        Ok(meta.version.map(|version| Revision::from(&*version)))
    }
}

/// What of `_meta` the guard looks at.
#[derive(Debug, Deserialize)]
struct Meta<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/protocolVersion")]
    version: Option<Cow<'a, str>>,
}

/// The result of `initialize` or `server/discover`, as far as the guard looks at it.
#[derive(Debug, Deserialize)]
pub(crate) struct Initialized<'a> {
    #[serde(borrow, default, rename = "protocolVersion")]
    pub(crate) version: Option<Cow<'a, str>>,
    #[serde(borrow, default, rename = "serverInfo")]
    server: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "_meta")]
    meta: Option<&'a RawValue>,
}

impl Initialized<'_> {
    /// Who the server says it is, in `_meta` from 2026-07-28 on.
    pub(crate) fn server(&self) -> Option<String> {
        let meta = self.meta.and_then(|meta| object::<AnswerMeta<'_>>(meta.get()).ok());
        let server = self.server.or_else(|| meta?.server)?;
        let ServerInfo { name, version } = object(server.get()).ok()?;
        let (name, version) = (name.unwrap_or_default(), version.unwrap_or_default());
        Some(format!("{name} {version}").trim().to_owned())
    }
}

#[derive(Deserialize)]
struct AnswerMeta<'a> {
    #[serde(borrow, default, rename = "io.modelcontextprotocol/serverInfo")]
    server: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct ServerInfo<'a> {
    #[serde(borrow, default)]
    name: Option<Cow<'a, str>>,
    #[serde(borrow, default)]
    version: Option<Cow<'a, str>>,
}

/// The parameters of `notifications/cancelled`.
#[derive(Debug, Deserialize)]
pub(crate) struct Cancelled<'a> {
    #[serde(borrow, default, rename = "requestId")]
    pub(crate) request: Option<&'a RawValue>,
}

/// A response to `id` that holds `result`, which is JSON, ending with a line break.
pub(crate) fn response(id: &Id, result: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n").into_bytes()
}

/// An error response, to no request in particular where there is no `id`, ending with a line break.
pub(crate) fn error(id: Option<&Id>, code: i32, message: &str) -> Vec<u8> {
    let id = id.map_or_else(|| "null".to_owned(), ToString::to_string);
    let message = serde_json::Value::from(message);
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{message}}}}}\n"
    )
    .into_bytes()
}

/// The codes of JSON-RPC that the guard answers with.
pub(crate) mod code {
    /// No JSON.
    pub(crate) const PARSE: i32 = -32700;
    /// No request.
    pub(crate) const REQUEST: i32 = -32600;
    /// Wrong parameters, and in MCP a tool that is not there.
    pub(crate) const PARAMS: i32 = -32602;
    /// The server failed.
    pub(crate) const INTERNAL: i32 = -32603;
}

#[cfg(test)]
mod tests {
    use super::{Kind, Message, ToolParams};

    #[test]
    fn tells_kinds_apart() {
        let kind = |text: &str| format!("{:?}", Message::read(text.as_bytes()).unwrap().kind());
        assert_eq!(kind(r#"{"id":1,"method":"a"}"#), r#"Request(Integer(1), "a")"#);
        assert_eq!(kind(r#"{"method":"tools\/call"}"#), r#"Notification("tools/call")"#);
        assert_eq!(kind(r#"{"id":"x","result":null}"#), r#"Response(String("x"))"#);
        assert_eq!(kind(r#"{"id":null,"error":{}}"#), "Other");
        assert!(matches!(Message::read(b"{}").unwrap().kind(), Kind::Other));
    }

    #[test]
    fn refuses_what_two_readers_may_read_in_two_ways() {
        assert!(Message::read(br#"{"id":1,"method":"a","method":"b"}"#).is_err());
        assert!(Message::read(b"[1]").is_err());
        assert!(Message::read(b"hello").is_err());
    }

    #[test]
    fn reads_the_revision_of_a_request() {
        let text = r#"{"id":1,"method":"tools/list","params":{"_meta":
            {"io.modelcontextprotocol/protocolVersion":"2026-07-28","progressToken":1}}}"#;
        let message = Message::read(text.as_bytes()).unwrap();
        let params = ToolParams::read(message.params).unwrap();
        assert!(params.revision().unwrap().unwrap().is_natural());
        assert!(ToolParams::read(None).unwrap().revision().unwrap().is_none());
    }
}
