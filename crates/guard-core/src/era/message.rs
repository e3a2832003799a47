//! Messages as a bridge reads and writes them.

use bytestring::ByteString;
use serde_json::Value;
use toolbond_contract::Revision;

use crate::json::members::members;
use crate::json::object::Object;
pub(crate) use crate::message::error_object_code as error_code;
pub use crate::message::meta;
use crate::message::{Envelope, Frame, Id, Kind, Sent, code, error_object};

/// The modern revision that the bridge speaks.
pub const MODERN: &str = "2026-07-28";

/// The legacy revision that the bridge speaks with servers, and with clients whose own is unknown.
pub(crate) const LEGACY: &str = "2025-11-25";

/// Who a client or a server is that does not say so.
pub(crate) const UNKNOWN_INFO: &str = r#"{"name":"unknown","version":"0"}"#;

/// What a message is to a bridge.
#[derive(Debug)]
pub enum Incoming {
    Request {
        id: Id,
    },
    Notification,
    /// The result, or the error.
    Answer {
        id: Id,
        outcome: Result<ByteString, ByteString>,
    },
    /// Nothing that a bridge translates.
    Other,
}

impl Incoming {
    /// What `frame` is, whose id is `id`.
    pub fn new(frame: &Frame, id: Option<Id>) -> Self {
        match (&frame.part.kind, id) {
            (Kind::Request(..), Some(id)) => Self::Request { id },
            (Kind::Notification(_), _) => Self::Notification,
            (Kind::Response(_), Some(id)) => match (frame.part.result, frame.part.error) {
                (Some(result), _) => Self::Answer { id, outcome: Ok(frame.slice(result)) },
                (None, Some(error)) => Self::Answer { id, outcome: Err(frame.slice(error)) },
                (None, None) => Self::Other,
            },
            _ => Self::Other,
        }
    }

    /// What a message of the server is.
    pub fn of_server(frame: &Frame) -> Self {
        let id = match &frame.part.kind {
            Kind::Request(id, _) | Kind::Response(id) => Some(id.clone()),
            _ => None,
        };
        Self::new(frame, id)
    }

    /// What a message of a client is.
    pub fn of_client(sent: &Sent) -> Self {
        Self::new(&sent.frame, sent.id())
    }
}

/// The error for a version that the bridge does not speak.
pub(crate) fn unsupported_version(requested: &str) -> String {
    let data = serde_json::json!({ "supported": [MODERN], "requested": requested });
    let message = format!("unsupported protocol version; the guard speaks {MODERN} here");
    error_object(code::VERSION, &message, Some(&data))
}

/// The parameters of the notification that cancels the request `id`.
pub(crate) fn cancelled(id: &Id, reason: &str) -> Object {
    [("requestId", id.to_string()), ("reason", Value::from(reason).to_string())].into()
}

/// The request that a notification of a client cancels.
pub(crate) fn cancelled_request(sent: &Sent) -> Option<Id> {
    Id::parse(sent.params().ok()?.get("requestId")?)
}

/// Whether only a modern server answers with `error`. One that names the versions it speaks, and no modern one among
/// them, is legacy.
pub fn is_modern_error(error: &str) -> bool {
    match error_code(error) {
        Some(code::VERSION) => supported_versions(error)
            .is_none_or(|it| it.iter().any(|version| is_modern_version(version))),
        Some(code) => (code::VERSION..=code::HEADER_MISMATCH).contains(&code),
        None => false,
    }
}

/// The versions that the server speaks, where an error names them.
pub(crate) fn supported_versions(error: &str) -> Option<Vec<String>> {
    let [data] = members(error, ["data"]).ok()?;
    let [supported] = members(data?, ["supported"]).ok()?;
    serde_json::from_str(supported?).ok()
}

pub(crate) fn is_modern_version(version: &str) -> bool {
    Revision::from(version).is_natural()
}

/// How the member of an error begins that says with which status and headers a server on HTTP has refused a request.
pub const HTTP_REFUSAL: &str = "toolbond-http/";

/// Whether a server on HTTP has refused a request for what its client is or may, which tells nothing about its era.
pub(crate) fn is_http_refusal(error: &str) -> bool {
    Object::copied(error).iter().any(|(name, _)| name.starts_with(HTTP_REFUSAL))
}

/// Whether the request `part` of `text` is modern: it says so in `_meta`, or only modern clients send it.
pub fn is_modern_request(text: &str, part: &Envelope) -> bool {
    let names_version = || matches!(part.find_meta(text, [meta::VERSION]), Ok([Some(_)]));
    matches!(&*part.method(text), "server/discover" | "subscriptions/listen") || names_version()
}
