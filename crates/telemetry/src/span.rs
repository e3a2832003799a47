//! The span of one call.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use opentelemetry::global::BoxedTracer;
use opentelemetry::trace::{SpanKind, Status, TraceContextExt as _, Tracer as _};
use opentelemetry::{Array, Context, ContextGuard, KeyValue, StringValue, Value};
use toolbond_contract::{Finding, Revision, judge::CallCheck};

use crate::attribute::{self, MAX_MESSAGE, MAX_NAME, shorten};
use crate::context::{Fields, TraceContext};
use crate::instruments::Instruments;
use crate::redact::exported_value;
use crate::role::CallRole;

/// The most findings of one call that are events of its span.
const MAX_FINDINGS: usize = 16;

const METHOD: &str = "tools/call";

/// What a span without an answer ended with.
const CANCELLED: &str = "cancelled";

/// What carries the messages of a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Standard input and output.
    Pipe,
    /// HTTP.
    Tcp,
}

/// What is known of a call when it starts.
#[derive(Clone, Debug)]
pub struct CallStart<'a> {
    /// The side that the span is about.
    pub role: CallRole,
    /// The trace that the call says it belongs to. Without one, the span belongs to the current context.
    pub parent: Option<&'a TraceContext>,
    /// What the operator calls the server.
    pub server: Option<&'a str>,
    /// The protocol revision of the request.
    pub revision: &'a Revision,
    /// The id of the request.
    pub request_id: Option<String>,
    /// The session that it is part of.
    pub session: Option<&'a str>,
    /// What carries its messages.
    pub transport: Option<Transport>,
}

/// The span of one call. Clones are the same span, which ends once: with the first `end_…`, or as cancelled when the
/// last clone is dropped.
#[derive(Clone)]
pub struct CallSpan(Arc<Inner>);

struct Inner {
    instruments: Option<Arc<Instruments>>,
    role: CallRole,
    context: Context,
    /// Whether the context is not that of the caller, so that it has to be passed on.
    has_own_context: bool,
    started: Instant,
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    is_ended: bool,
    /// What the span and the metrics have.
    common: Vec<KeyValue>,
    /// How many of these the span has had from its start.
    initial: usize,
    /// What only the span has.
    own: Vec<KeyValue>,
    rules: Vec<&'static str>,
    findings: usize,
    is_tool_error: bool,
}

/// How a call ended.
enum End {
    Result,
    Error(i64),
    Failed(&'static str),
}

impl std::fmt::Debug for CallSpan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("CallSpan").field(&self.0.context.span().span_context().span_id()).finish()
    }
}

impl CallSpan {
    pub(crate) fn start(
        tracer: &BoxedTracer,
        instruments: Option<Arc<Instruments>>,
        call: &CallStart<'_>,
    ) -> Self {
        let parent = match call.parent {
            Some(parent) => {
                Context::current().with_remote_span_context(parent.span_context().clone())
            }
            None => Context::current(),
        };
        let mut common = vec![
            KeyValue::new(attribute::METHOD, METHOD),
            KeyValue::new(attribute::OPERATION, "execute_tool"),
        ];
        // Clients make up names of revisions.
        if Revision::PUBLISHED.contains(call.revision) {
            common.push(KeyValue::new(attribute::REVISION, call.revision.to_string()));
        }
        if let Some(transport) = call.transport {
            let name = if transport == Transport::Pipe { "pipe" } else { "tcp" };
            common.push(KeyValue::new(attribute::TRANSPORT, name));
        }
        if let Some(server) = call.server {
            common.push(KeyValue::new(attribute::SERVER, server.to_owned()));
        }
        let mut own = Vec::new();
        if let Some(id) = &call.request_id {
            own.push(KeyValue::new(attribute::REQUEST_ID, shorten(id, MAX_NAME)));
        }
        if let Some(session) = call.session {
            own.push(KeyValue::new(attribute::SESSION, shorten(session, MAX_NAME)));
        }
        let kind = match call.role {
            CallRole::Server => SpanKind::Server,
            CallRole::Client => SpanKind::Client,
        };
        // A sampler may go by what is known at the start.
        let builder = tracer.span_builder(METHOD).with_kind(kind);
        let builder = builder.with_attributes(common.clone());
        let initial = common.len();
        let before = parent.span().span_context().span_id();
        let context = parent.with_span(builder.start_with_context(tracer, &parent));
        let has_own_context = context.span().span_context().span_id() != before;
        Self(Arc::new(Inner {
            instruments,
            role: call.role,
            context,
            has_own_context,
            started: Instant::now(),
            state: Mutex::new(State { common, initial, own, ..State::default() }),
        }))
    }

    /// What passes the trace on, with this span as the parent; `None` where there is nothing to change.
    #[must_use]
    pub fn fields(&self) -> Option<Fields> {
        let context = self.0.context.span().span_context().clone();
        self.0.has_own_context.then(|| Fields::new(&context)).flatten()
    }

    /// The context with this span, for code that runs as part of the call.
    #[must_use]
    pub fn context(&self) -> Context {
        self.0.context.clone()
    }

    /// Makes this span the current one until the guard is dropped.
    #[must_use]
    pub fn attach(&self) -> ContextGuard {
        self.context().attach()
    }

    /// Sets the name of the tool. Only the names of `listed` tools are part of the span's name and of metrics: others
    /// are anybody's.
    pub fn set_tool(&self, name: &str, listed: bool) {
        let name = shorten(name, MAX_NAME);
        let mut state = self.0.state();
        let tool = KeyValue::new(attribute::TOOL, name.clone());
        if listed {
            state.common.push(tool);
            self.0.context.span().update_name(format!("{METHOD} {name}"));
        } else {
            state.own.push(tool);
        }
    }

    /// Adds what a check came to.
    pub fn add_check(&self, check: &CallCheck) {
        let side = attribute::side(check);
        let name = |what: &str| format!("toolbond.{side}.{what}");
        let fuel = i64::try_from(check.fuel).unwrap_or(i64::MAX);
        self.0.state().own.extend([
            KeyValue::new(name("verdict"), attribute::verdict(check)),
            KeyValue::new(name("fuel"), fuel),
            KeyValue::new(name("seconds"), check.time.as_secs_f64()),
        ]);
    }

    /// Adds a finding as an event, without the value that was found.
    pub fn add_finding(&self, finding: &Finding) {
        let mut state = self.0.state();
        if !state.rules.contains(&finding.rule) {
            state.rules.push(finding.rule);
        }
        state.findings += 1;
        if state.findings <= MAX_FINDINGS {
            drop(state);
            self.0.context.span().add_event("toolbond.finding", finding_attributes(finding));
        }
    }

    /// The call does not reach the tool.
    pub fn set_refused(&self) {
        self.0.state().own.push(KeyValue::new(attribute::REFUSED, true));
    }

    /// A tool error takes the place of the result.
    pub fn set_withheld(&self) {
        self.0.state().own.push(KeyValue::new(attribute::WITHHELD, true));
    }

    /// The result gets the shape of an older revision.
    pub fn set_projected(&self) {
        self.0.state().own.push(KeyValue::new(attribute::PROJECTED, true));
    }

    /// The result says that the tool failed.
    pub fn set_tool_error(&self) {
        self.0.state().is_tool_error = true;
    }

    /// Adds the arguments, which are JSON: see [`exported_value`].
    pub fn set_arguments(&self, text: &str) {
        let value = exported_value(text);
        self.0.state().own.push(KeyValue::new(attribute::ARGUMENTS, value));
    }

    /// Adds the result, which is JSON: see [`exported_value`].
    pub fn set_result(&self, text: &str) {
        let value = exported_value(text);
        self.0.state().own.push(KeyValue::new(attribute::RESULT, value));
    }

    /// The result leaves.
    pub fn end_result(&self) {
        self.0.end(&End::Result);
    }

    /// A JSON-RPC error with this code leaves.
    pub fn end_error(&self, code: i64) {
        self.0.end(&End::Error(code));
    }

    /// There is no answer; `reason` is one of few.
    pub fn end_failed(&self, reason: &'static str) {
        self.0.end(&End::Failed(reason));
    }

    /// Nobody waits for the answer any more.
    pub fn end_cancelled(&self) {
        self.end_failed(CANCELLED);
    }
}

impl Inner {
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn end(&self, end: &End) {
        let mut state = self.state();
        if std::mem::replace(&mut state.is_ended, true) {
            return;
        }
        let error: Option<Value> = match end {
            End::Error(code) => Some(code.to_string().into()),
            End::Failed(reason) => Some((*reason).into()),
            End::Result if state.is_tool_error => Some("tool_error".into()),
            End::Result => None,
        };
        if let End::Error(code) = end {
            state.common.push(KeyValue::new(attribute::STATUS_CODE, code.to_string()));
        }
        let span = self.context.span();
        if let Some(error) = error {
            state.common.push(KeyValue::new(attribute::ERROR_TYPE, error));
            // The message may repeat values of the call.
            span.set_status(Status::error(""));
        }
        if let Some(instruments) = &self.instruments {
            instruments.record_call(self.role, self.started.elapsed(), &state.common);
        }
        if !state.rules.is_empty() {
            let rules = state.rules.iter().map(|rule| StringValue::from(*rule)).collect();
            state.own.push(KeyValue::new(attribute::RULES, Value::Array(Array::String(rules))));
        }
        let State { common, initial, own, .. } = &mut *state;
        span.set_attributes(common.drain(*initial..).chain(own.drain(..)));
        span.end();
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.end(&End::Failed(CANCELLED));
    }
}

/// What a finding says, without the value that was found.
pub(crate) fn finding_attributes(finding: &Finding) -> Vec<KeyValue> {
    let mut attributes = vec![
        KeyValue::new(attribute::RULE, finding.rule),
        KeyValue::new(attribute::SEVERITY, finding.severity.to_string()),
        KeyValue::new(attribute::POINTER, shorten(&finding.pointer.to_string(), MAX_NAME)),
        KeyValue::new(attribute::MESSAGE, shorten(&finding.message, MAX_MESSAGE)),
        KeyValue::new(attribute::ACTION, finding.action.to_string()),
    ];
    if let Some(side) = finding.side {
        attributes.push(KeyValue::new(attribute::SIDE, side.to_string()));
    }
    attributes
}
