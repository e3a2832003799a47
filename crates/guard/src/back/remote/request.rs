//! Messages for a server on Streamable HTTP, and what their headers repeat of them.

use std::sync::Arc;

use hyper::HeaderMap;
use hyper::header::{HeaderName, HeaderValue};
use serde_json::Value;
use toolbond_contract::headers::{encode, param_headers};

use crate::back::http::set_message_headers;
use crate::pipe::pieces::Pieces;
use crate::runtime::drive::Driven;
use crate::server::GuardedServer;
use toolbond_guard_core::counted::Counted;
use toolbond_guard_core::era::{MODERN, meta};
use toolbond_guard_core::json::object::Object;
use toolbond_guard_core::json::strict::parse_described;
use toolbond_guard_core::message::{Id, Outgoing};
use toolbond_guard_core::trace::repeat_trace;

/// What is known of the input schema of a tool.
pub(super) type SchemaOf<'a> = &'a dyn Fn(&str) -> Option<Arc<Value>>;

/// A message for a server on HTTP.
#[derive(Clone)]
pub(crate) struct ToServer {
    /// What it is, unless it is an answer.
    pub(super) request: Option<Request>,
    pub(super) text: Pieces,
}

/// A request, or without an id a notification.
#[derive(Clone)]
pub(super) struct Request {
    pub(super) id: Option<Id>,
    pub(super) method: String,
    pub(super) params: Object,
}

impl ToServer {
    pub(crate) fn new(message: Outgoing, driven: &Driven) -> Self {
        let request = match &message {
            Outgoing::Request { id, method, params } => {
                Some(Request { id: id.clone(), method: method.clone(), params: params.clone() })
            }
            Outgoing::Sent(sent) => {
                let method = sent.frame.method().into_owned();
                let params = sent.params().unwrap_or_default();
                (!method.is_empty()).then(|| Request { id: sent.id(), method, params })
            }
            Outgoing::Text(_) => None,
        };
        Self { request, text: driven.pieces(message) }
    }

    /// Text that could not be read.
    pub(crate) fn unread(text: Counted) -> Self {
        Self { request: None, text: text.into() }
    }

    /// The id of a request.
    pub(crate) fn id(&self) -> Option<&Id> {
        self.request.as_ref()?.id.as_ref()
    }
}

/// The headers of a message.
pub(super) fn headers_of(
    request: Option<&Request>,
    server: &GuardedServer,
    schema_of: SchemaOf<'_>,
) -> HeaderMap {
    let mut headers = HeaderMap::new();
    set_message_headers(&mut headers);
    let Some(Request { id: Some(_), method, params }) = request else { return headers };
    let names_version = || params.object("_meta").get(meta::VERSION).is_some();
    if matches!(method.as_str(), "server/discover" | "subscriptions/listen") || names_version() {
        headers.insert("mcp-protocol-version", HeaderValue::from_static(MODERN));
        repeat(schema_of, &mut headers, method, params);
    }
    repeat_trace(server, params, &mut headers);
    headers
}

/// Repeats parts of a modern request in its headers.
fn repeat(schema_of: SchemaOf<'_>, headers: &mut HeaderMap, method: &str, params: &Object) {
    let mut set = |name: &str, value: &str| {
        let name = HeaderName::try_from(name.to_ascii_lowercase());
        if let (Ok(name), Ok(value)) = (name, HeaderValue::try_from(value)) {
            headers.insert(name, value);
        }
    };
    set("mcp-method", method);
    let name = match method {
        "tools/call" | "prompts/get" => params.string("name"),
        "resources/read" => params.string("uri"),
        _ => None,
    };
    let Some(name) = name else { return };
    set("mcp-name", &encode(&name.as_str().into()).unwrap_or_default());
    if method != "tools/call" {
        return;
    }
    let Some(schema) = schema_of(&name) else { return };
    let arguments = params.get("arguments").and_then(|text| parse_described(&schema, text).ok());
    for header in param_headers(&schema, arguments.as_ref()) {
        if let Some(value) = header.value.and_then(encode) {
            set(&header.name, &value);
        }
    }
}
