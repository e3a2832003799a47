//! What 2026-07-28 asks of an HTTP server: requests whose headers say what their body says, and the status of
//! its errors.

use std::borrow::Cow;

use hyper::{HeaderMap, Response, StatusCode};
use serde_json::json;
use toolbond_contract::Revision;
use toolbond_contract::headers::decode;

use crate::http::respond::{Body, json as respond};
use toolbond_guard_core::message::{
    Envelope, Id, Kind, Message, Method, Parts, RequestMeta, code, error, error_with_data,
};

const VERSION: &str = "mcp-protocol-version";
const METHOD: &str = "mcp-method";
const NAME: &str = "mcp-name";

/// The requests of earlier revisions that 2026-07-28 has removed.
const REMOVED: [&str; 5] =
    ["initialize", "ping", "logging/setLevel", "resources/subscribe", "resources/unsubscribe"];

/// The characters of a value that an error echoes.
const ECHO: usize = 60;

/// How a request is to be served.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// On its own, as from 2026-07-28 on.
    Modern,
    /// In a session.
    Legacy,
}

/// Why a request is refused.
#[derive(Debug)]
struct Refusal {
    status: StatusCode,
    code: i32,
    text: String,
    /// The version that it asked for, where it is not supported.
    requested: Option<String>,
}

impl Refusal {
    fn new(code: i32, text: impl Into<String>) -> Self {
        Self { status: StatusCode::BAD_REQUEST, code, text: text.into(), requested: None }
    }

    fn mismatch(text: impl AsRef<str>) -> Self {
        Self::new(code::HEADER_MISMATCH, format!("header mismatch: {}", text.as_ref()))
    }

    fn version(requested: &str) -> Self {
        let requested: String = requested.chars().take(ECHO).collect();
        let text = format!("unsupported protocol version `{requested}`");
        Self { requested: Some(requested), ..Self::new(code::VERSION, text) }
    }

    fn response(self, id: Option<&Id>, supported: &[String]) -> Response<Body> {
        let body = match self.requested {
            Some(requested) => {
                let data = json!({ "supported": supported, "requested": requested });
                error_with_data(id, self.code, &self.text, &data)
            }
            None => error(id, self.code, &self.text),
        };
        respond(self.status, body)
    }
}

/// Tells how to serve a POST with these headers and this message. `has_session` says whether they name a session,
/// which began with `initialize`, whatever revision that agreed on.
///
/// Fails with the response if the headers contradict the message, lack what its revision requires, or name a
/// revision that is not known; `supported` are the ones that the server has.
pub(crate) fn era_of_post(
    headers: &HeaderMap,
    message: &Message<'_>,
    has_session: bool,
    supported: &[String],
) -> Result<Era, Box<Response<Body>>> {
    let id = match &message.parts {
        Parts::One(Envelope { kind: Kind::Request(id, _), .. }) => Some(id),
        _ => None,
    };
    judge_post(headers, message, has_session)
        .map_err(|refusal| Box::new(refusal.response(id, supported)))
}

/// Tells how to serve a GET or DELETE with these headers. Fails with the response as [`era_of_post`] does.
pub(crate) fn era_of_headers(
    headers: &HeaderMap,
    has_session: bool,
    supported: &[String],
) -> Result<Era, Box<Response<Body>>> {
    let named = named_version(headers).and_then(|version| era_of_version(version.as_deref()));
    let era = named.map_err(|refusal| Box::new(refusal.response(None, supported)))?;
    Ok(if has_session { Era::Legacy } else { era })
}

fn judge_post(
    headers: &HeaderMap,
    message: &Message<'_>,
    has_session: bool,
) -> Result<Era, Refusal> {
    let named = named_version(headers)?;
    let metas = message.parts.as_slice().iter().map(|part| RequestMeta::read(message.text, part));
    let metas: Vec<_> = metas.collect();
    let mut is_legacy = has_session;
    for version in metas.iter().filter_map(|meta| meta.as_ref().ok()?.version.as_deref()) {
        is_legacy = false;
        match named.as_deref() {
            Some(named) if named == version => {}
            Some(named) => return Err(differs("MCP-Protocol-Version", named, version)),
            None => return Err(missing("MCP-Protocol-Version")),
        }
    }
    if era_of_version(named.as_deref())? == Era::Legacy || is_legacy {
        return Ok(Era::Legacy);
    }
    let Parts::One(part) = &message.parts else {
        let text = "revision 2026-07-28 has no batches: expected one request or notification";
        return Err(Refusal::new(code::REQUEST, text));
    };
    let meta = metas.into_iter().next().unwrap_or_else(|| Ok(RequestMeta::default()));
    let meta = meta.map_err(|error| Refusal::new(code::PARAMS, format!("#/params: {error}")))?;
    judge_modern(headers, part, &meta)?;
    Ok(Era::Modern)
}

/// Checks a message of 2026-07-28.
fn judge_modern(
    headers: &HeaderMap,
    part: &Envelope,
    meta: &RequestMeta<'_>,
) -> Result<(), Refusal> {
    let method = &*meta.method;
    let named = text_header(headers, METHOD, "Mcp-Method")?;
    match part.kind {
        Kind::Request(..) => {
            for (name, is_there) in [
                ("protocolVersion", meta.version.is_some()),
                ("clientCapabilities", meta.has_capabilities),
            ] {
                if !is_there {
                    let text = format!(
                        "#/params/_meta: missing required property `io.modelcontextprotocol/{name}`"
                    );
                    return Err(Refusal::new(code::PARAMS, text));
                }
            }
            if named.is_none() {
                return Err(missing("Mcp-Method"));
            }
        }
        // Header requirements of notifications are not defined; what is there has to be true.
        Kind::Notification(_) => {}
        Kind::InvalidId(_) | Kind::Response(_) | Kind::Other => {
            let text =
                "expected a request with an `id` that is a string or a number, or a notification";
            return Err(Refusal::new(code::REQUEST, text));
        }
    }
    if let Some(named) = named.filter(|named| named != method) {
        return Err(differs("Mcp-Method", &named, method));
    }
    if let Some(name) = &meta.name {
        let named = text_header(headers, NAME, "Mcp-Name")?.ok_or_else(|| missing("Mcp-Name"))?;
        let decoded = decode(named.as_bytes())
            .ok_or_else(|| Refusal::mismatch("the value of Mcp-Name is not valid Base64"))?;
        if decoded != *name {
            return Err(differs("Mcp-Name", &decoded, name));
        }
    }
    if REMOVED.contains(&method) || matches!(part.kind, Kind::Notification(Method::Initialized)) {
        let text = format!("method not found: revision 2026-07-28 has no `{method}`");
        let status = StatusCode::NOT_FOUND;
        return Err(Refusal { status, ..Refusal::new(code::METHOD, text) });
    }
    Ok(())
}

fn named_version(headers: &HeaderMap) -> Result<Option<Cow<'_, str>>, Refusal> {
    text_header(headers, VERSION, "MCP-Protocol-Version")
}

fn era_of_version(version: Option<&str>) -> Result<Era, Refusal> {
    let Some(version) = version else { return Ok(Era::Legacy) };
    let revision = Revision::from(version);
    if !Revision::PUBLISHED.contains(&revision) {
        return Err(Refusal::version(version));
    }
    Ok(if revision.is_natural() { Era::Modern } else { Era::Legacy })
}

/// The only value of the header `name`, without the space around it.
fn text_header<'a>(
    headers: &'a HeaderMap,
    name: &str,
    shown: &str,
) -> Result<Option<Cow<'a, str>>, Refusal> {
    let mut values = headers.get_all(name).iter();
    let Some(value) = values.next() else { return Ok(None) };
    if values.next().is_some() {
        return Err(Refusal::mismatch(format!("{shown} is there twice")));
    }
    let bytes = value.as_bytes();
    let is_plain = bytes.iter().all(|byte| matches!(byte, b'\t' | b' '..=b'~'));
    match str::from_utf8(bytes) {
        Ok(text) if is_plain => Ok(Some(text.trim_matches([' ', '\t']).into())),
        _ => Err(Refusal::mismatch(format!("{shown} contains invalid characters"))),
    }
}

fn missing(header: &str) -> Refusal {
    Refusal::mismatch(format!("{header} is missing"))
}

fn differs(header: &str, named: &str, found: &str) -> Refusal {
    let cut = |text: &str| text.chars().take(ECHO).collect::<String>();
    Refusal::mismatch(format!("{header} is `{}`, but the body says `{}`", cut(named), cut(found)))
}

/// The status of a response of 2026-07-28 with the JSON-RPC message `text`.
pub(crate) fn status_of(text: &[u8]) -> StatusCode {
    match str::from_utf8(text).ok().and_then(toolbond_guard_core::message::error_code) {
        Some(code::METHOD) => StatusCode::NOT_FOUND,
        Some(code::HEADER_MISMATCH | code::CAPABILITY | code::VERSION) => StatusCode::BAD_REQUEST,
        _ => StatusCode::OK,
    }
}

#[cfg(test)]
mod tests {
    use hyper::HeaderMap;
    use serde_json::{Value, json};
    use toolbond_guard_core::message::{Message, Text};

    use super::{Era, era_of_headers, era_of_post};
    use crate::memory::MemoryLimit;

    #[test]
    fn a_session_stays_one_whatever_revision_its_server_agreed_to() {
        let mut headers = HeaderMap::new();
        headers.insert("mcp-protocol-version", "2026-07-28".parse().unwrap());
        let era = |message: &Value, has_session| {
            let text = Text::read(&MemoryLimit::default().count(message.to_string())).unwrap();
            era_of_post(&headers, &Message::read(&text).unwrap(), has_session, &[]).ok()
        };
        let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
        assert_eq!(era(&initialized, true), Some(Era::Legacy));
        assert_eq!(era(&initialized, false), None);
        assert_eq!(era_of_headers(&headers, true, &[]).ok(), Some(Era::Legacy));
        // A request of that revision is one in a session, too.
        let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
        let request = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": meta } });
        assert_eq!(era(&request, true), None, "it lacks the header Mcp-Method");
    }
}
