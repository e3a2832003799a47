//! The trace that a call belongs to: where it says so, and how that is passed on.

use http::HeaderMap;
use http::header::HeaderValue;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::contract::header_changes::HeaderChange;
use crate::environment::TraceFields;
use crate::json::edit::Span;
use crate::json::members::{Name, members};
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

/// What `_meta` of a request says about its trace.
#[derive(Debug)]
pub struct MetaTrace<'a> {
    params: &'a str,
    meta: Option<&'a str>,
    traceparent: Option<&'a str>,
    tracestate: Option<&'a str>,
    /// Whether two readers would read the same.
    is_readable: bool,
}

impl<'a> MetaTrace<'a> {
    /// Reads `meta`, the `_meta` of `params`.
    pub fn read(params: &'a str, meta: Option<&'a str>) -> Self {
        let found = meta.map_or(Ok([None, None]), |meta| members(meta, [TRACEPARENT, TRACESTATE]));
        let is_readable = found.is_ok();
        let [traceparent, tracestate] = found.unwrap_or_default();
        let text = |raw: Option<&'a RawValue>| raw.map(RawValue::get);
        let (traceparent, tracestate) = (text(traceparent), text(tracestate));
        Self { params, meta, traceparent, tracestate, is_readable }
    }

    /// The trace that it names.
    pub fn fields(&self) -> Option<TraceFields> {
        let traceparent = string(self.traceparent?)?;
        Some(TraceFields { traceparent, tracestate: self.tracestate.and_then(string) })
    }

    /// What changes in `text`, which `params` are a part of, to pass `fields` on. What is malformed is replaced; a
    /// `_meta` that two readers may read in two ways stays as it is.
    pub fn edits(&self, text: &str, fields: &TraceFields) -> Vec<(Span, String)> {
        if !self.is_readable {
            return Vec::new();
        }
        let quoted = |value: &str| Value::from(value).to_string();
        let state = fields.tracestate.as_deref();
        let wanted = [
            (TRACEPARENT, self.traceparent, Some(fields.traceparent.as_str())),
            // Without its `traceparent`, it belongs to no trace.
            (TRACESTATE, self.tracestate, state.or(self.tracestate.map(|_| ""))),
        ];
        let (mut edits, mut added) = (Vec::new(), Vec::new());
        for (name, found, value) in wanted {
            let Some(value) = value.map(quoted) else { continue };
            match found {
                Some(found) if found == value => {}
                Some(found) => edits.extend(Span::locate(text, found).map(|at| (at, value))),
                None => added.push(format!("\"{name}\":{value}")),
            }
        }
        if added.is_empty() {
            return edits;
        }
        let added = added.join(",");
        let is_empty = |meta: &str| meta[1..].trim_ascii_start().starts_with('}');
        let (at, new) = match self.meta {
            Some(meta) if is_empty(meta) => (Span::inside(text, meta), added),
            Some(meta) => (Span::inside(text, meta), format!("{added},")),
            None => match members(self.params, ["_meta"]) {
                Ok([Some(null)]) => (Span::locate(text, null.get()), format!("{{{added}}}")),
                // A call has a name beside it.
                _ => (Span::inside(text, self.params), format!("\"_meta\":{{{added}}},")),
            },
        };
        edits.extend(at.map(|at| (at, new)));
        edits
    }
}

/// Repeats the trace that `params` of a request to `server` name in its headers, where anything is exported.
pub fn repeat_trace(server: &Server, params: Option<&str>, headers: &mut HeaderMap) {
    let Some(params) = params.filter(|_| server.environment().is_tracing()) else { return };
    let Ok([Some(meta)]) = members(params, ["_meta"]) else { return };
    let found = MetaTrace::read(params, Some(meta.get()));
    for (name, value) in [(TRACEPARENT, found.traceparent), (TRACESTATE, found.tracestate)] {
        let value = value.and_then(string).filter(|value| !value.is_empty());
        if let Some(Ok(value)) = value.map(HeaderValue::try_from) {
            headers.insert(name, value);
        }
    }
}

fn string(json: &str) -> Option<String> {
    serde_json::from_str::<Name<'_>>(json).ok().map(|name| name.0.into_owned())
}

#[cfg(test)]
mod tests {
    use serde_json::value::RawValue;

    use super::MetaTrace;
    use crate::environment::TraceFields;
    use crate::json::edit::{Span, apply};
    use crate::json::members::members;

    fn fields(state: Option<&str>) -> TraceFields {
        TraceFields { traceparent: "NEW".to_owned(), tracestate: state.map(str::to_owned) }
    }

    /// The call with the parameters `params` as it leaves.
    fn passed_on(params: &str, state: Option<&str>) -> String {
        let text = format!(r#"{{"id":1,"params":{params}}}"#);
        let [params] = members(&text, ["params"]).unwrap();
        let params = params.unwrap().get();
        let [meta] = members(params, ["_meta"]).unwrap();
        let meta = meta.map(RawValue::get).filter(|meta| *meta != "null");
        let edits = MetaTrace::read(params, meta).edits(&text, &fields(state));
        let edited = apply(&text, Span::from(0, &text), edits).unwrap();
        let [params] = members(&edited, ["params"]).unwrap();
        params.unwrap().get().to_owned()
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
