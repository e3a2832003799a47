//! Parameters and results that the guard reads.

use std::borrow::Cow;

use serde_json::Value;
use serde_json::value::RawValue;
use toolbond_contract::Revision;

use super::meta;
use super::{Envelope, Id};
use crate::caller::keyed_hash;
use crate::json::edit::Span;
use crate::json::members::{Name, members};
use crate::json::object::Object;

/// The member of `_meta` that names the protocol revision of a request, from 2026-07-28 on.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The member of `_meta` that has the capabilities of the client.
const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";

fn string(raw: &RawValue) -> serde_json::Result<Cow<'_, str>> {
    serde_json::from_str::<Name<'_>>(raw.get()).map(|name| name.0)
}

/// Reads `raw` unless it is absent or `null`.
fn present(raw: Option<&RawValue>) -> Option<&RawValue> {
    raw.filter(|raw| raw.get() != "null")
}

/// What `_meta` of a request says about its client.
#[derive(Clone, Debug, Default)]
pub struct ClientMeta {
    /// The revision that the request itself names.
    pub revision: Option<Revision>,
    /// The name of the client.
    pub client: Option<String>,
    /// A hash of all that it says about the client; 0 if that is nothing.
    pub said: u64,
}

impl ClientMeta {
    fn read(meta: Option<&RawValue>) -> serde_json::Result<Self> {
        let Some(meta) = present(meta) else { return Ok(Self::default()) };
        let all = members(meta.get(), [VERSION, meta::CLIENT_INFO, CAPABILITIES])?;
        let said = all.map(|member| member.map(RawValue::get));
        let said = if said == [None; 3] { 0 } else { keyed_hash(said) };
        let [version, info, _] = all;
        let version = present(version).map(string).transpose()?;
        let revision = version.map(|version| Revision::from(&*version));
        Ok(Self { revision, client: info.and_then(client_name), said })
    }
}

/// The most characters of the name of a client that count.
const CLIENT_NAME: usize = 200;

/// The name in `info`, which says who a client is.
fn client_name(info: &RawValue) -> Option<String> {
    let [name] = members(info.get(), ["name"]).ok()?;
    Some(string(name?).ok()?.chars().take(CLIENT_NAME).collect())
}

/// The name of the client that sends `initialize` with `params`.
pub fn initializing_client(params: Option<&str>) -> Option<String> {
    let [info] = members(params?, ["clientInfo"]).ok()?;
    client_name(info?)
}

/// The parameters of `tools/call`.
#[derive(Debug)]
pub struct CallParams<'a> {
    pub name: Cow<'a, str>,
    /// The name as it is written, with quotes.
    pub name_text: &'a str,
    pub arguments: Option<&'a str>,
    pub meta: Option<&'a str>,
    pub client: ClientMeta,
}

impl<'a> CallParams<'a> {
    /// Reads the parameters of the request `part` of `text`.
    pub fn of(text: &'a str, part: &'a Envelope) -> serde_json::Result<Self> {
        match part.index.as_deref().and_then(|index| index.call.as_ref()) {
            Some(Ok(call)) => Ok(call.params(text)),
            Some(Err(reason)) => Err(serde::de::Error::custom(reason)),
            None => Self::read(part.params.map(|params| params.text(text))),
        }
    }

    fn read(params: Option<&'a str>) -> serde_json::Result<Self> {
        let [name, arguments, meta] =
            members(params.unwrap_or("{}"), ["name", "arguments", "_meta"])?;
        let name =
            name.ok_or_else(|| serde::de::Error::custom("missing required property `name`"))?;
        Ok(Self {
            name: string(name)?,
            name_text: name.get(),
            arguments: arguments.map(RawValue::get),
            meta: present(meta).map(RawValue::get),
            client: ClientMeta::read(meta)?,
        })
    }
}

/// The parameters of `tools/list`.
#[derive(Debug)]
pub struct ListParams<'a> {
    /// The cursor to the page; the first page has none.
    pub cursor: Option<&'a str>,
    pub client: ClientMeta,
}

impl<'a> ListParams<'a> {
    pub fn read(params: Option<&'a str>) -> serde_json::Result<Self> {
        let params = params.filter(|params| *params != "null").unwrap_or("{}");
        let [cursor, meta] = members(params, ["cursor", "_meta"])?;
        let mut client = ClientMeta::read(meta)?;
        // Nobody can tell what other parameters do: such a list is the sender's alone.
        let object = Object::read(Some(params)).unwrap_or_default();
        if object.iter().any(|(name, _)| !["cursor", "_meta"].contains(&name)) {
            client.said = keyed_hash(params);
        }
        Ok(Self { cursor: present(cursor).map(RawValue::get), client })
    }
}

/// What a message says about itself, as a server on HTTP compares it with the headers.
#[derive(Debug, Default)]
pub struct RequestMeta<'a> {
    /// The method; empty where there is none.
    pub method: Cow<'a, str>,
    /// What the request is about, where the header `Mcp-Name` has to say it.
    pub name: Option<Cow<'a, str>>,
    /// The protocol version in `_meta`.
    pub version: Option<Cow<'a, str>>,
    /// Whether `_meta` has the capabilities of the client.
    pub has_capabilities: bool,
}

impl<'a> RequestMeta<'a> {
    /// Reads the message `part` of `text`. Fails where two readers may disagree about it.
    pub fn read(text: &'a str, part: &Envelope) -> serde_json::Result<Self> {
        let [method] = members(part.span.text(text), ["method"])?;
        let method = method.map(string).transpose()?.unwrap_or_default();
        let params = part.params.map(|params| params.text(text));
        let params = params.filter(|params| *params != "null").unwrap_or("{}");
        let [name, uri, meta] = members(params, ["name", "uri", "_meta"])?;
        let name = match &*method {
            "tools/call" | "prompts/get" => name,
            "resources/read" => uri,
            _ => None,
        };
        let [version, capabilities] = match present(meta) {
            Some(meta) => members(meta.get(), [VERSION, CAPABILITIES])?,
            None => [None, None],
        };
        Ok(Self {
            method,
            name: name.map(string).transpose()?,
            version: present(version).map(string).transpose()?,
            has_capabilities: capabilities.is_some_and(|it| it.get().starts_with('{')),
        })
    }
}

/// The result of `initialize` or `server/discover`.
#[derive(Debug)]
pub struct Handshake {
    /// The negotiated revision.
    pub revision: Option<Revision>,
    /// Name and version of the server.
    pub server: Option<String>,
    /// The revisions that the server supports, as far as they are published.
    pub supported: Vec<Revision>,
    /// Whether it tells clients when its tools change.
    pub tells_changes: bool,
}

impl Handshake {
    /// Reads `result`; `None` where it cannot be read.
    pub fn read(result: &str) -> Option<Self> {
        let [version, info, meta, supported, capabilities] = members(
            result,
            ["protocolVersion", "serverInfo", "_meta", "supportedVersions", "capabilities"],
        )
        .ok()?;
        let version = present(version).and_then(|version| string(version).ok());
        // From 2026-07-28 on the server names itself in `_meta`.
        let in_meta = present(meta)
            .and_then(|meta| members(meta.get(), ["io.modelcontextprotocol/serverInfo"]).ok());
        let info = present(info).or_else(|| in_meta?[0]);
        let server = info.and_then(|info| {
            let [name, version] = members(info.get(), ["name", "version"]).ok()?;
            let part = |raw: Option<&RawValue>| {
                raw.and_then(|raw| Some(string(raw).ok()?.into_owned())).unwrap_or_default()
            };
            Some(format!("{} {}", part(name), part(version)).trim().to_owned())
        });
        let supported = supported
            .and_then(|all| serde_json::from_str::<Vec<String>>(all.get()).ok())
            .unwrap_or_default();
        let is_supported = |it: &Revision| supported.iter().any(|name| *name == it.to_string());
        let supported = Revision::PUBLISHED.into_iter().rev().filter(is_supported).collect();
        let revision = version.map(|version| Revision::from(&*version));
        let tools = capabilities.and_then(|all| members(all.get(), ["tools"]).ok()?[0]);
        let told = tools.and_then(|tools| members(tools.get(), ["listChanged"]).ok()?[0]);
        let tells_changes = told.is_some_and(|told| told.get() == "true");
        Some(Self { revision, server, supported, tells_changes })
    }
}

/// The request that `notifications/cancelled` is about, and where its id stands in `text`.
pub fn cancelled_id(text: &str, params: &str) -> Option<(Id, Span)> {
    let [id] = members(params, ["requestId"]).ok()?;
    let id = id?.get();
    Some((Id::parse(id)?, Span::locate(text, id)?))
}

/// What large parameters say: they are read once, with their message on a worker thread, and never on the I/O thread.
#[derive(Debug)]
pub(super) struct Index {
    /// The parameters of `tools/call`, or why they cannot be read.
    call: Option<Result<CallIndex, String>>,
    request: Progress,
    notification: Progress,
}

/// [`CallParams`], by where they stand in the text.
#[derive(Debug)]
struct CallIndex {
    name: String,
    name_text: Span,
    arguments: Option<Span>,
    meta: Option<Span>,
    client: ClientMeta,
}

impl Index {
    /// Reads `params`, a part of `text`.
    pub(super) fn read(text: &str, params: &str, is_call: bool) -> Self {
        let call = || {
            let params = CallParams::read(Some(params)).map_err(|error| error.to_string())?;
            let locate = |part: &str| Span::locate(text, part);
            let name_text = locate(params.name_text).ok_or("a part of no text")?;
            Ok(CallIndex {
                name: params.name.into_owned(),
                name_text,
                arguments: params.arguments.and_then(locate),
                meta: params.meta.and_then(locate),
                client: params.client,
            })
        };
        Self {
            call: is_call.then(call),
            request: read_progress(text, Some(params), TokenOf::Request),
            notification: read_progress(text, Some(params), TokenOf::Notification),
        }
    }
}

impl CallIndex {
    fn params<'a>(&'a self, text: &'a str) -> CallParams<'a> {
        CallParams {
            name: Cow::Borrowed(&self.name),
            name_text: self.name_text.text(text),
            arguments: self.arguments.map(|it| it.text(text)),
            meta: self.meta.map(|it| it.text(text)),
            client: self.client.clone(),
        }
    }
}

/// What a message says about the request it belongs to.
#[derive(Clone, Debug, Default)]
pub struct Progress {
    /// The progress token, and where it stands in the text.
    pub token: Option<(Id, Span)>,
    /// The subscription, which is the id of the request that opened it.
    pub subscription: Option<(Id, Span)>,
    /// Whether it asks for log messages.
    pub wants_log: bool,
}

/// Where a progress token stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum TokenOf {
    /// In `_meta` of a request.
    Request,
    /// In the parameters of a notification.
    Notification,
}

/// Reads the progress token and subscription in the parameters of the message `part` of `text`.
pub fn progress(text: &str, part: &Envelope, of: TokenOf) -> Progress {
    match (part.index.as_deref(), of) {
        (Some(index), TokenOf::Request) => index.request.clone(),
        (Some(index), TokenOf::Notification) => index.notification.clone(),
        (None, of) => read_progress(text, part.params.map(|params| params.text(text)), of),
    }
}

/// Reads the progress token and subscription in `params`, a part of `text`.
fn read_progress(text: &str, params: Option<&str>, of: TokenOf) -> Progress {
    let found = |raw: Option<&RawValue>| {
        let raw = raw?.get();
        Some((Id::parse(raw)?, Span::locate(text, raw)?))
    };
    let read = |params: &str| {
        let [token, about] = members(params, ["progressToken", "_meta"]).ok()?;
        let names = ["progressToken", meta::SUBSCRIPTION, meta::LOG_LEVEL];
        let inner = present(about).and_then(|about| members(about.get(), names).ok());
        let [meta_token, subscription, level] = inner.unwrap_or([None, None, None]);
        let token = if of == TokenOf::Request { meta_token } else { token };
        let wants_log = present(level).is_some();
        Some(Progress { token: found(token), subscription: found(subscription), wants_log })
    };
    params.and_then(read).unwrap_or_default()
}

/// A task, or a request about one.
#[derive(Debug)]
pub struct Task<'a> {
    pub id: Cow<'a, str>,
    /// The result of the call, where the task is complete.
    pub result: Option<&'a str>,
}

impl<'a> Task<'a> {
    /// Reads `text`; `None` where it says nothing about a task.
    pub fn read(text: &'a str) -> serde_json::Result<Option<Self>> {
        let [id, result] = members(text, ["taskId", "result"])?;
        let Some(id) = present(id) else { return Ok(None) };
        Ok(Some(Self { id: string(id)?, result: present(result).map(RawValue::get) }))
    }
}

/// The ids of the tasks that the result of a call may stand for, in all the places that a client may
/// look for one.
///
/// In 2025-11-25 the task is in the member `task`; in the extension of 2026-07-28 the result itself
/// is the task (`resultType: "task"`).
pub fn created_tasks(result: &Value) -> Vec<String> {
    let is_task = result.get("resultType").and_then(Value::as_str) == Some("task");
    let inner = result.get("task").and_then(|task| task.get("taskId"));
    let outer = result.get("taskId").filter(|_| is_task);
    // Some clients take a number for an id, too.
    let id = |id: &Value| match id {
        Value::String(id) => Some(id.clone()),
        Value::Number(id) => Some(id.to_string()),
        _ => None,
    };
    inner.into_iter().chain(outer).filter_map(id).collect()
}

#[cfg(test)]
mod tests {
    use super::{
        CLIENT_NAME, CallParams, Handshake, ListParams, TokenOf, initializing_client, read_progress,
    };
    use crate::message::{INLINE_BYTES, Id, Message, Text};

    #[test]
    fn large_parameters_say_the_same_as_small_ones() {
        for name in ["\"name\":\"a\",", ""] {
            let texts = [0, INLINE_BYTES].map(|bytes| {
                let long = "x".repeat(bytes);
                Text::from(format!(
                    r#"{{"id":1,"method":"tools/call","params":{{{name}"arguments":["{long}"],"_meta":{{"progressToken":7}}}}}}"#
                ))
            });
            let [small, large] = texts.each_ref().map(|text| {
                let message = Message::read(text).unwrap();
                let part = &message.parts.as_slice()[0];
                let token = super::progress(text, part, TokenOf::Request).token;
                let call = CallParams::of(text, part).map(|call| {
                    let arguments = call.arguments.unwrap().len() > INLINE_BYTES;
                    (call.name.into_owned(), call.name_text.to_owned(), arguments)
                });
                let call = call.map_err(|error| error.to_string());
                (part.index.is_some(), token.map(|(token, _)| token), call)
            });
            assert_eq!((small.0, large.0), (false, true));
            assert_eq!(small.1, large.1);
            assert_eq!(small.2.as_ref().map(|it| &it.0), large.2.as_ref().map(|it| &it.0));
            assert_eq!(large.2.map(|it| it.2), small.2.map(|it| !it.2));
        }
    }

    #[test]
    fn a_progress_token_counts_in_its_own_place_only() {
        let text = r#"{"progressToken":1,"_meta":{"progressToken":2}}"#;
        let token = |of| read_progress(text, Some(text), of).token.map(|(token, _)| token);
        assert_eq!(token(TokenOf::Request), Some(Id::Integer(2)));
        assert_eq!(token(TokenOf::Notification), Some(Id::Integer(1)));
    }

    #[test]
    fn reads_the_revision_of_a_request() {
        let text = r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","progressToken":1}}"#;
        let params = ListParams::read(Some(text)).unwrap();
        assert!(params.cursor.is_none() && params.client.revision.unwrap().is_natural());
        assert!(ListParams::read(None).unwrap().client.revision.is_none());
        assert!(CallParams::read(Some(r#"{"name":"a","Name":"b"}"#)).is_err());
        assert!(CallParams::read(Some(r#"{"arguments":{}}"#)).is_err());
        assert!(CallParams::read(Some("[]")).is_err());
    }

    #[test]
    fn reads_who_the_client_is() {
        let modern =
            r#"{"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"}}}"#;
        assert_eq!(ListParams::read(Some(modern)).unwrap().client.client.unwrap(), "a");
        let legacy = r#"{"clientInfo":{"name":"a","version":"1"}}"#;
        assert_eq!(initializing_client(Some(legacy)).unwrap(), "a");
        let twice = r#"{"clientInfo":{"name":"a","name":"b"}}"#;
        assert!(initializing_client(Some(twice)).is_none());
        let long = format!(r#"{{"clientInfo":{{"name":"{}"}}}}"#, "x".repeat(1000));
        assert_eq!(initializing_client(Some(&long)).unwrap().len(), CLIENT_NAME);
    }

    #[test]
    fn reads_who_the_server_is() {
        let natural =
            r#"{"_meta":{"io.modelcontextprotocol/serverInfo":{"name":"a","version":"1"}}}"#;
        assert_eq!(Handshake::read(natural).unwrap().server.unwrap(), "a 1");
        let legacy = r#"{"protocolVersion":"2025-11-25","serverInfo":{"name":"a"}}"#;
        assert_eq!(Handshake::read(legacy).unwrap().server.unwrap(), "a");
    }
}
