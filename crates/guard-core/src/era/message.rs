//! Messages as a bridge reads and writes them.

use std::borrow::Cow;

use bytestring::ByteString;
use serde_json::Value;
use serde_json::value::RawValue;
use toolbond_contract::Revision;

use crate::json::members::{Name, members};
use crate::json::object::{Object, WriteJson};
pub use crate::message::meta;
use crate::message::{BYTE_ORDER_MARK, Id};

/// The modern revision that the bridge speaks.
pub const MODERN: &str = "2026-07-28";

/// The legacy revision that the bridge speaks with servers, and with clients whose own is unknown.
pub(crate) const LEGACY: &str = "2025-11-25";

/// Error codes of JSON-RPC and of the two revisions.
pub(crate) mod code {
    pub(crate) const METHOD: i32 = -32601;
    pub(crate) const UNSUPPORTED_VERSION: i32 = -32022;
    /// From here to [`UNSUPPORTED_VERSION`]: only modern servers answer with these.
    pub(crate) const HEADER_MISMATCH: i32 = -32020;
    /// 2025-11-25 and earlier: no such resource.
    pub(crate) const NO_RESOURCE: i32 = -32002;
    /// 2025-11-25: the user has to visit a URL first.
    pub(crate) const URL_ELICITATION: i32 = -32042;
}

/// One message.
#[derive(Debug)]
pub enum Incoming<'a> {
    Request {
        id: Id,
        method: Cow<'a, str>,
        params: Option<&'a str>,
    },
    Notification {
        method: Cow<'a, str>,
        params: Option<&'a str>,
    },
    /// The result, or the error.
    Answer {
        id: Id,
        outcome: Result<&'a str, &'a str>,
    },
    /// Nothing that a bridge translates.
    Other,
}

impl<'a> Incoming<'a> {
    pub fn read(text: &'a str) -> Self {
        Self::try_read(text).unwrap_or(Self::Other)
    }

    fn try_read(text: &'a str) -> Option<Self> {
        let json = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
        let [id, method, params, result, error] =
            members(json, ["id", "method", "params", "result", "error"]).ok()?;
        let has_id = id.is_some();
        let id = id.and_then(|id| Id::parse(id.get()));
        let params = params.map(RawValue::get).filter(|params| *params != "null");
        Some(match (method, id) {
            (Some(method), id) => {
                let method = serde_json::from_str::<Name<'_>>(method.get()).ok()?.0;
                match id {
                    Some(id) => Self::Request { id, method, params },
                    None if has_id => Self::Other,
                    None => Self::Notification { method, params },
                }
            }
            (None, Some(id)) => {
                let outcome = match (result, error) {
                    (Some(result), None) => Ok(result.get()),
                    (None, Some(error)) => Err(error.get()),
                    _ => return None,
                };
                Self::Answer { id, outcome }
            }
            (None, None) => Self::Other,
        })
    }
}

/// The messages of a batch, or the single one.
pub(crate) fn split(text: &ByteString) -> Vec<ByteString> {
    let json = text.strip_prefix(BYTE_ORDER_MARK).unwrap_or(text);
    if json.trim_ascii_start().starts_with('[')
        && let Ok(parts) = serde_json::from_str::<Vec<&RawValue>>(json)
    {
        return parts.iter().map(|part| text.slice_ref(part.get())).collect();
    }
    vec![text.clone()]
}

/// A request. `params` are copied once, whatever their size.
pub(crate) fn request(id: &Id, method: &str, params: &(impl WriteJson + ?Sized)) -> String {
    let start =
        format!(r#"{{"jsonrpc":"2.0","id":{id},"method":{},"params":"#, Value::from(method));
    whole(&start, params)
}

pub(crate) fn notification(method: &str, params: &(impl WriteJson + ?Sized)) -> String {
    whole(&format!(r#"{{"jsonrpc":"2.0","method":{},"params":"#, Value::from(method)), params)
}

pub(crate) fn result(id: &Id, result: &(impl WriteJson + ?Sized)) -> String {
    whole(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":"#), result)
}

/// An error answer; `error` is the whole error object.
pub fn failure(id: &Id, error: &(impl WriteJson + ?Sized)) -> String {
    whole(&format!(r#"{{"jsonrpc":"2.0","id":{id},"error":"#), error)
}

/// A message that begins with `start` and ends with `last`.
fn whole(start: &str, last: &(impl WriteJson + ?Sized)) -> String {
    let mut message = String::with_capacity(start.len() + last.max_length() + 1);
    message.push_str(start);
    last.write(&mut message);
    message.push('}');
    message
}

/// An error object.
pub fn error(code: i32, message: &str, data: Option<&Value>) -> String {
    let mut error = serde_json::json!({ "code": code, "message": message });
    if let Some(data) = data {
        error["data"] = data.clone();
    }
    error.to_string()
}

/// The error for a version that the bridge does not speak.
pub(crate) fn unsupported_version(requested: &str) -> String {
    let data = serde_json::json!({ "supported": [MODERN], "requested": requested });
    let message = format!("unsupported protocol version; the guard speaks {MODERN} here");
    error(code::UNSUPPORTED_VERSION, &message, Some(&data))
}

/// The notification that cancels the request `id`.
pub(crate) fn cancelled(id: &Id, reason: &str) -> String {
    let reason = Value::from(reason);
    let params = format!(r#"{{"requestId":{id},"reason":{reason}}}"#);
    notification("notifications/cancelled", &params)
}

/// The code of an error object.
pub(crate) fn error_code(error: &str) -> Option<i32> {
    let [code] = members(error, ["code"]).ok()?;
    serde_json::from_str(code?.get()).ok()
}

/// Whether only a modern server answers with `error`. One that names the versions it speaks, and no modern one among
/// them, is legacy.
pub fn is_modern_error(error: &str) -> bool {
    match error_code(error) {
        Some(code::UNSUPPORTED_VERSION) => supported_versions(error)
            .is_none_or(|it| it.iter().any(|version| is_modern_version(version))),
        Some(code) => (code::UNSUPPORTED_VERSION..=code::HEADER_MISMATCH).contains(&code),
        None => false,
    }
}

/// The versions that the server speaks, where an error names them.
pub(crate) fn supported_versions(error: &str) -> Option<Vec<String>> {
    let [data] = members(error, ["data"]).ok()?;
    let [supported] = members(data?.get(), ["supported"]).ok()?;
    serde_json::from_str(supported?.get()).ok()
}

pub(crate) fn is_modern_version(version: &str) -> bool {
    Revision::from(version).is_natural()
}

/// How the member of an error begins that says with which status and headers a server on HTTP has refused a request.
pub const HTTP_REFUSAL: &str = "toolbond-http/";

/// Whether a server on HTTP has refused a request for what its client is or may, which tells nothing about its era.
pub(crate) fn is_http_refusal(error: &str) -> bool {
    let error = Object::read(Some(error)).unwrap_or_default();
    error.iter().any(|(name, _)| name.starts_with(HTTP_REFUSAL))
}

/// Whether a request of a client is modern: it says so in `_meta`, or only modern clients send it.
pub fn is_modern_request(method: &str, params: Option<&str>) -> bool {
    let names_version = || {
        let [found] = members(params?, ["_meta"]).ok()?;
        let [version] = members(found?.get(), [meta::VERSION]).ok()?;
        version
    };
    matches!(method, "server/discover" | "subscriptions/listen") || names_version().is_some()
}
