//! Parameters and results that the guard reads.

use std::borrow::Cow;

use serde::de::Error as _;
use serde_json::Value;
use toolbond_contract::Revision;

use super::envelope::Envelope;
use super::id::Id;
use super::meta;
use crate::caller::keyed_hash;
use crate::json::edit::Span;
use crate::json::members::{members, string};

/// `json` unless it is absent or `null`.
fn present(json: Option<&str>) -> Option<&str> {
    json.filter(|json| *json != "null")
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
    fn read(text: &str, part: &Envelope) -> serde_json::Result<Self> {
        let names = [meta::VERSION, meta::CLIENT_INFO, meta::CAPABILITIES];
        let all = part.find_meta(text, names)?;
        let said = if all == [None; 3] { 0 } else { keyed_hash(all) };
        let [version, info, _] = all;
        let version = present(version).map(string).transpose()?;
        let revision = version.map(|version| Revision::from(&*version));
        Ok(Self { revision, client: info.and_then(client_name), said })
    }
}

/// The most characters of the name of a client that count.
const CLIENT_NAME: usize = 200;

/// The name in `info`, which says who a client is.
fn client_name(info: &str) -> Option<String> {
    let [name] = members(info, ["name"]).ok()?;
    Some(string(name?).ok()?.chars().take(CLIENT_NAME).collect())
}

/// The name of the client that sends `initialize`.
pub fn initializing_client(text: &str, part: &Envelope) -> Option<String> {
    let [info] = part.find(text, ["clientInfo"]).ok()?;
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
    /// Whether its client takes a task in place of the result: it asks for one, as in 2025-11-25, or declares that it knows
    /// them, as in 2026-07-28.
    pub may_be_task: bool,
}

/// Whether the capabilities of a client in `_meta` include tasks.
fn knows_tasks(capabilities: &str) -> bool {
    object(capabilities, "extensions").is_some_and(|all| object(all, meta::TASKS).is_some())
}

/// The member `name` of the object `text`, where it is an object.
fn object<'a>(text: &'a str, name: &'static str) -> Option<&'a str> {
    members(text, [name]).ok()?[0].filter(|member| member.starts_with('{'))
}

impl<'a> CallParams<'a> {
    /// Reads the parameters of the request `part` of `text`.
    pub fn read(text: &'a str, part: &Envelope) -> serde_json::Result<Self> {
        let [name, arguments, own_meta, task] =
            part.find(text, ["name", "arguments", "_meta", "task"])?;
        let name_text =
            name.ok_or_else(|| serde_json::Error::custom("missing required property `name`"))?;
        Ok(Self {
            name: string(name_text)?,
            name_text,
            arguments,
            meta: present(own_meta),
            client: ClientMeta::read(text, part)?,
            may_be_task: task.is_some_and(|task| task.starts_with('{'))
                || part.find_meta(text, [meta::CAPABILITIES])?[0].is_some_and(knows_tasks),
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
    /// Reads the parameters of the request `part` of `text`.
    pub fn read(text: &'a str, part: &Envelope) -> serde_json::Result<Self> {
        let [cursor, _] = part.find(text, ["cursor", "_meta"])?;
        let mut client = ClientMeta::read(text, part)?;
        // Nobody can tell what other parameters do: such a list is the sender's alone.
        let is_other = |name: &str| !["cursor", "_meta"].contains(&name);
        if part.params().is_some_and(|all| all.iter(text).any(|(name, _)| is_other(&name))) {
            client.said = keyed_hash(part.params_text(text));
        }
        Ok(Self { cursor: present(cursor), client })
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
        let method = part.method(text);
        let [name, uri, _] = part.find(text, ["name", "uri", "_meta"])?;
        let name = match &*method {
            "tools/call" | "prompts/get" => name,
            "resources/read" => uri,
            _ => None,
        };
        let [version, capabilities] = part.find_meta(text, [meta::VERSION, meta::CAPABILITIES])?;
        Ok(Self {
            method,
            name: name.map(string).transpose()?,
            version: present(version).map(string).transpose()?,
            has_capabilities: capabilities.is_some_and(|it| it.starts_with('{')),
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
        let in_meta = present(meta).and_then(|meta| members(meta, [meta::SERVER_INFO]).ok());
        let info = present(info).or_else(|| in_meta?[0]);
        let server = info.and_then(|info| {
            let [name, version] = members(info, ["name", "version"]).ok()?;
            let part = |raw: Option<&str>| {
                raw.and_then(|raw| Some(string(raw).ok()?.into_owned())).unwrap_or_default()
            };
            Some(format!("{} {}", part(name), part(version)).trim().to_owned())
        });
        let supported = supported
            .and_then(|all| serde_json::from_str::<Vec<String>>(all).ok())
            .unwrap_or_default();
        let is_supported = |it: &Revision| supported.iter().any(|name| *name == it.to_string());
        let supported = Revision::PUBLISHED.into_iter().rev().filter(is_supported).collect();
        let revision = version.map(|version| Revision::from(&*version));
        let tools = capabilities.and_then(|all| members(all, ["tools"]).ok()?[0]);
        let told = tools.and_then(|tools| members(tools, ["listChanged"]).ok()?[0]);
        let tells_changes = told.is_some_and(|told| told == "true");
        Some(Self { revision, server, supported, tells_changes })
    }
}

/// The request that `notifications/cancelled` is about, and where its id stands in `text`.
pub fn cancelled_id(text: &str, part: &Envelope) -> Option<(Id, Span)> {
    let [id] = part.find(text, ["requestId"]).ok()?;
    Some((Id::parse(id?)?, Span::locate(text, id?)?))
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
///
/// Fails where two readers may disagree about them.
pub fn progress(text: &str, part: &Envelope, of: TokenOf) -> serde_json::Result<Progress> {
    // Parameters that are no object have no token.
    let Some(params) = part.params() else { return Ok(Progress::default()) };
    let [token, _] = params.find(text, ["progressToken", "_meta"])?;
    let names = ["progressToken", meta::SUBSCRIPTION, meta::LOG_LEVEL];
    let found = part.meta().map(|meta| meta.find(text, names)).transpose()?;
    let [own, subscription, level] = found.unwrap_or_default();
    let token = if of == TokenOf::Request { own } else { token };
    let found = |json: Option<&str>| Some((Id::parse(json?)?, Span::locate(text, json?)?));
    let wants_log = present(level).is_some();
    Ok(Progress { token: found(token), subscription: found(subscription), wants_log })
}

/// A task, or a request about one.
#[derive(Debug)]
pub struct Task<'a> {
    pub id: Option<Cow<'a, str>>,
    /// The result of the call, where the task is complete.
    pub result: Option<&'a str>,
}

impl<'a> Task<'a> {
    /// Reads the parameters of the message `part` of `text`.
    pub fn of_params(text: &'a str, part: &Envelope) -> serde_json::Result<Self> {
        let [id, result] = part.find(text, ["taskId", "result"])?;
        Ok(Self { id: present(id).map(string).transpose()?, result: present(result) })
    }
}

/// The result of the call in `text`, the answer to a request about a task, where the task is complete.
pub fn task_result(text: &str) -> serde_json::Result<Option<&str>> {
    Ok(present(members(text, ["result"])?[0]))
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
        CLIENT_NAME, CallParams, Handshake, ListParams, TokenOf, initializing_client, progress,
    };
    use crate::message::{Envelope, Id, Message, Parts, Text};

    /// A request with these parameters.
    fn request(params: &str) -> (Text, Envelope) {
        let text = Text::from(format!(r#"{{"id":1,"method":"a","params":{params}}}"#));
        let Parts::One(part) = Message::read(&text).unwrap().parts else { panic!("{text:?}") };
        (text, part)
    }

    #[test]
    fn a_progress_token_counts_in_its_own_place_only() {
        let (text, part) = request(r#"{"progressToken":1,"_meta":{"progressToken":2}}"#);
        let token = |of| progress(&text, &part, of).unwrap().token.map(|(token, _)| token);
        assert_eq!(token(TokenOf::Request), Some(Id::Integer(2)));
        assert_eq!(token(TokenOf::Notification), Some(Id::Integer(1)));
        for twice in
            [r#""progressToken":1,"progressToken":1"#, r#""progressToken":1,"ProgressToken":1"#]
        {
            let (text, part) = request(&format!(r#"{{"_meta":{{{twice}}}}}"#));
            assert!(progress(&text, &part, TokenOf::Request).is_err(), "{twice}");
        }
    }

    #[test]
    fn reads_the_revision_of_a_request() {
        let (text, part) = request(
            r#"{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","progressToken":1}}"#,
        );
        let params = ListParams::read(&text, &part).unwrap();
        assert!(params.cursor.is_none() && params.client.revision.unwrap().is_natural());
        let (text, part) = request("null");
        assert!(ListParams::read(&text, &part).unwrap().client.revision.is_none());
        for wrong in [r#"{"name":"a","Name":"b"}"#, r#"{"arguments":{}}"#, "[]"] {
            let (text, part) = request(wrong);
            assert!(CallParams::read(&text, &part).is_err(), "{wrong}");
        }
    }

    #[test]
    fn reads_who_the_client_is() {
        let (text, part) = request(
            r#"{"_meta":{"io.modelcontextprotocol/clientInfo":{"name":"a","version":"1"}}}"#,
        );
        assert_eq!(ListParams::read(&text, &part).unwrap().client.client.unwrap(), "a");
        let legacy = |params: &str| {
            let (text, part) = request(params);
            initializing_client(&text, &part)
        };
        assert_eq!(legacy(r#"{"clientInfo":{"name":"a","version":"1"}}"#).unwrap(), "a");
        assert!(legacy(r#"{"clientInfo":{"name":"a","name":"b"}}"#).is_none());
        let long = format!(r#"{{"clientInfo":{{"name":"{}"}}}}"#, "x".repeat(1000));
        assert_eq!(legacy(&long).unwrap().len(), CLIENT_NAME);
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
