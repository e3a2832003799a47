//! The trace that a call belongs to, as W3C Trace Context carries it.

use opentelemetry::Context;
use opentelemetry::propagation::{Extractor, TextMapPropagator as _};
use opentelemetry::trace::{SpanContext, TraceContextExt as _};
use opentelemetry_sdk::propagation::TraceContextPropagator;

/// The field that names the trace and the span that a call comes from, in `_meta` and in headers.
pub const TRACEPARENT: &str = "traceparent";

/// The field with what vendors add to that.
pub const TRACESTATE: &str = "tracestate";

/// The most bytes of `tracestate` that are read; a longer one is ignored.
const MAX_TRACESTATE: usize = 4096;

/// The trace and the span that a call comes from.
#[derive(Clone, Debug, PartialEq)]
pub struct TraceContext(SpanContext);

/// The two fields as they are sent.
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Fields {
    /// The value of [`TRACEPARENT`].
    pub traceparent: String,
    /// The value of [`TRACESTATE`], where there is one.
    pub tracestate: Option<String>,
}

struct Carrier<'a>(&'a str, Option<&'a str>);

impl Extractor for Carrier<'_> {
    fn get(&self, key: &str) -> Option<&str> {
        match key {
            TRACEPARENT => Some(self.0),
            TRACESTATE => self.1,
            _ => None,
        }
    }

    fn keys(&self) -> Vec<&str> {
        vec![TRACEPARENT, TRACESTATE]
    }
}

impl TraceContext {
    /// Reads the two fields; `None` where `traceparent` is malformed.
    #[must_use]
    pub fn read(traceparent: &str, tracestate: Option<&str>) -> Option<Self> {
        // The propagator does not ask for two digits of the version.
        if traceparent.find('-') != Some(2) {
            return None;
        }
        let state = tracestate.filter(|state| state.len() <= MAX_TRACESTATE);
        let propagator = TraceContextPropagator::new();
        let context =
            propagator.extract_with_context(&Context::new(), &Carrier(traceparent, state));
        let context = context.span().span_context().clone();
        context.is_valid().then_some(Self(context))
    }

    /// The two fields that pass it on as it is.
    #[must_use]
    pub fn fields(&self) -> Fields {
        Fields::from_valid(&self.0)
    }

    pub(crate) fn span_context(&self) -> &SpanContext {
        &self.0
    }
}

impl Fields {
    /// What passes `context` on; `None` where it is of no trace.
    pub(crate) fn new(context: &SpanContext) -> Option<Self> {
        context.is_valid().then(|| Self::from_valid(context))
    }

    fn from_valid(context: &SpanContext) -> Self {
        let (trace, span) = (context.trace_id(), context.span_id());
        let traceparent = format!("00-{trace}-{span}-{:02x}", context.trace_flags());
        let tracestate = Some(context.trace_state().header()).filter(|state| !state.is_empty());
        Self { traceparent, tracestate }
    }
}

#[cfg(test)]
mod tests {
    use super::{MAX_TRACESTATE, TraceContext};

    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";

    #[test]
    fn fields_are_read_and_written() {
        let context = TraceContext::read(PARENT, Some("a=1,b=2")).unwrap();
        let fields = context.fields();
        assert_eq!(fields.traceparent, PARENT);
        assert_eq!(fields.tracestate.as_deref(), Some("a=1,b=2"));
    }

    #[test]
    fn malformed_fields_are_not_read() {
        let zeros = "00-00000000000000000000000000000000-b7ad6b7169203331-01";
        for parent in ["", "00", "x", zeros, &PARENT[1..], &PARENT.to_uppercase()] {
            assert_eq!(TraceContext::read(parent, None), None, "{parent}");
        }
        let long = format!("a={}", "1".repeat(MAX_TRACESTATE));
        let context = TraceContext::read(PARENT, Some(&long)).unwrap();
        assert_eq!(context.fields().tracestate, None);
    }
}
