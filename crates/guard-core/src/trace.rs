//! The trace that a call belongs to: where it says so, and how that is passed on.

use std::borrow::Cow;

use http::HeaderMap;
use http::header::HeaderValue;
use serde_json::Value;

use crate::contract::header_changes::HeaderChange;
use crate::environment::TraceFields;
use crate::json::members::string;
use crate::json::object::Object;
use crate::message::Envelope;
use crate::server::Server;

/// The members of `_meta`, and headers, that name a trace.
const TRACEPARENT: &str = "traceparent";
const TRACESTATE: &str = "tracestate";

/// What an HTTP request says about the trace of its messages.
#[derive(Debug, Default)]
pub struct HttpTrace {
    /// The value of `Mcp-Session-Id`.
    pub session: Option<String>,
    traceparent: Option<String>,
    tracestate: Option<String>,
}

impl HttpTrace {
    /// Reads `headers` of a request to `server`; `None` where nothing is exported.
    pub fn read(server: &Server, headers: &HeaderMap) -> Option<Self> {
        if !server.environment().is_tracing() {
            return None;
        }
        let get = |name: &str| Some(headers.get(name)?.to_str().ok()?.to_owned());
        Some(Self {
            session: get("mcp-session-id"),
            traceparent: get(TRACEPARENT),
            tracestate: get(TRACESTATE),
        })
    }

    /// The trace that the headers name.
    pub fn fields(&self) -> Option<TraceFields> {
        let (traceparent, tracestate) = (self.traceparent.clone()?, self.tracestate.clone());
        Some(TraceFields { traceparent, tracestate })
    }

    /// The headers that pass `fields` on.
    pub fn changes(&self, fields: &TraceFields) -> [HeaderChange; 2] {
        let change = |name: &str, from: &Option<String>, to: Option<String>| {
            let from = from.as_deref().map(Value::from);
            HeaderChange { name: name.to_owned(), from, to }
        };
        [
            change(TRACEPARENT, &self.traceparent, Some(fields.traceparent.clone())),
            change(TRACESTATE, &self.tracestate, fields.tracestate.clone()),
        ]
    }
}

/// What `_meta` of a request says about its trace, as JSON.
#[derive(Debug)]
pub struct MetaTrace<'a> {
    traceparent: Option<&'a str>,
    tracestate: Option<&'a str>,
}

impl<'a> MetaTrace<'a> {
    /// Reads `_meta` of the request `part` of `text`.
    pub fn read(text: &'a str, part: &Envelope) -> Self {
        let found = part.find_meta(text, [TRACEPARENT, TRACESTATE]);
        let [traceparent, tracestate] = found.unwrap_or_default();
        Self { traceparent, tracestate }
    }

    /// The trace that it names.
    pub fn fields(&self) -> Option<TraceFields> {
        let owned = |json| string(json).ok().map(Cow::into_owned);
        let traceparent = owned(self.traceparent?)?;
        Some(TraceFields { traceparent, tracestate: self.tracestate.and_then(owned) })
    }

    /// The members of `_meta` that pass `fields` on. What is malformed is replaced.
    pub fn changes(&self, fields: &TraceFields) -> Vec<(&'static str, String)> {
        let state = fields.tracestate.as_deref();
        // Without its `traceparent`, it belongs to no trace.
        let state = state.or(self.tracestate.map(|_| ""));
        let wanted = [(TRACEPARENT, Some(fields.traceparent.as_str())), (TRACESTATE, state)];
        let quoted = |value: &str| Value::from(value).to_string();
        wanted.into_iter().filter_map(|(name, value)| Some((name, quoted(value?)))).collect()
    }
}

/// Repeats the trace that `params` of a request to `server` name in its headers, where anything is exported.
pub fn repeat_trace(server: &Server, params: &Object, headers: &mut HeaderMap) {
    if !server.environment().is_tracing() {
        return;
    }
    let meta = params.object("_meta");
    for name in [TRACEPARENT, TRACESTATE] {
        let value = meta.string(name).filter(|value| !value.is_empty());
        if let Some(Ok(value)) = value.map(HeaderValue::try_from) {
            headers.insert(name, value);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::MetaTrace;
    use crate::environment::TraceFields;
    use crate::message::{Changes, Message, Text};

    fn fields(state: Option<&str>) -> TraceFields {
        TraceFields { traceparent: "NEW".to_owned(), tracestate: state.map(str::to_owned) }
    }

    /// The call with the parameters `params` as it leaves.
    fn passed_on(params: &str, state: Option<&str>) -> String {
        let text = Text::from(format!(r#"{{"id":1,"method":"a","params":{params}}}"#));
        let message = Message::read(&text).unwrap();
        let part = &message.parts.as_slice()[0];
        let meta = MetaTrace::read(&text, part).changes(&fields(state));
        let edited = Changes { edits: Vec::new(), meta }.apply(&text, part).unwrap().joined();
        let edited = String::from_utf8(edited).unwrap();
        let params = edited.strip_prefix(r#"{"id":1,"method":"a","params":"#).unwrap();
        params.strip_suffix('}').unwrap().to_owned()
    }

    #[test]
    fn the_trace_is_passed_on_and_the_rest_stays() {
        for (before, after) in [
            (r#"{ "name":"a"}"#, r#"{"_meta":{"traceparent":"NEW"}, "name":"a"}"#),
            (r#"{"name":"a","_meta": null}"#, r#"{"name":"a","_meta": {"traceparent":"NEW"}}"#),
            (r#"{"name":"a","_meta":{ }}"#, r#"{"name":"a","_meta":{"traceparent":"NEW" }}"#),
            (
                r#"{"name":"a","_meta":{ "p" : 1.0}}"#,
                r#"{"name":"a","_meta":{"traceparent":"NEW", "p" : 1.0}}"#,
            ),
            (
                r#"{"_meta":{"traceparent" : "x","baggage":"b=1"},"name":"a"}"#,
                r#"{"_meta":{"traceparent" : "NEW","baggage":"b=1"},"name":"a"}"#,
            ),
            (
                r#"{"name":"a","_meta":{"tracestate":"stale=1"}}"#,
                r#"{"name":"a","_meta":{"traceparent":"NEW","tracestate":""}}"#,
            ),
            (
                r#"{"name":"a","_meta":{"traceparent":1,"traceparent":2}}"#,
                r#"{"name":"a","_meta":{"traceparent":1,"traceparent":2}}"#,
            ),
        ] {
            assert_eq!(passed_on(before, None), after);
        }
        assert_eq!(
            passed_on(r#"{"name":"a"}"#, Some("v=1")),
            r#"{"_meta":{"traceparent":"NEW","tracestate":"v=1"},"name":"a"}"#
        );
        let same = r#"{"name":"a","_meta":{"traceparent":"x","tracestate":"v=1"}}"#;
        assert_eq!(passed_on(same, Some("v=1")), same.replace("\"x\"", "\"NEW\""));
    }
}
