//! Spans of calls. The span of a call is in the current context of whatever runs as part of it.

use std::{
    sync::{Arc, OnceLock},
    time::Instant,
};

use opentelemetry::{Context, context::FutureExt as _};
use rmcp::{
    ErrorData, RoleServer,
    model::{CallToolResponse, RequestMetaObject},
    service::RequestContext,
};
use toolbond_contract::{Finding, Outcome, Revision, Side, judge::CallCheck};
use toolbond_telemetry::{
    CallRole, CallSpan, CallStart, Record, TRACEPARENT, TRACESTATE, Telemetry, TraceContext,
    Transport,
};

use crate::protocol::request_revision;

/// Where spans go: where [`export_from_env`] says, else where the program has said with the API of OpenTelemetry before
/// the first call.
static TELEMETRY: OnceLock<Telemetry> = OnceLock::new();

fn telemetry() -> &'static Telemetry {
    TELEMETRY.get_or_init(Telemetry::global)
}

/// Exports traces, metrics and logs over OTLP if the variables of the environment ask for that, such as
/// `OTEL_EXPORTER_OTLP_ENDPOINT`. Also sets the tracer and the meter of the whole program. `service` is its name unless
/// `OTEL_SERVICE_NAME` says another one.
///
/// Call it once, before the first call of a tool, and [`Telemetry::shutdown`] at the end.
/// [`serve_cli`](crate::serve_cli) does both. Programs that set up OpenTelemetry themselves need neither.
#[must_use]
pub fn export_from_env(service: &'static str) -> Option<Telemetry> {
    let report = |text: String| tracing::warn!(target: "toolbond", "{text}");
    let export = Telemetry::from_env(service, Arc::new(report))?;
    export.set_global();
    _ = TELEMETRY.set(export.clone());
    Some(export)
}

/// The time that a check takes.
#[derive(Clone, Copy)]
pub(crate) struct Timer(Instant);

impl Timer {
    pub(crate) fn start() -> Self {
        Self(Instant::now())
    }
}

/// What is in the context of a call, beside its span.
#[derive(Clone)]
struct Current(CallSpan);

fn current(work: impl FnOnce(&CallSpan)) {
    Context::map_current(|context| context.get::<Current>().map(|Current(span)| work(span)));
}

pub(crate) fn add_check(side: Side, outcome: Outcome, fuel: u64, timer: Timer) {
    let check = CallCheck { side, outcome, fuel, time: timer.0.elapsed() };
    current(|span| span.add_check(&check));
}

pub(crate) fn add_findings(findings: &[Finding]) {
    for finding in findings {
        current(|span| span.add_finding(finding));
        telemetry().log(None, Record::Finding(finding));
    }
}

pub(crate) fn set_tool(name: &str, listed: bool) {
    current(|span| span.set_tool(name, listed));
}

pub(crate) fn set_refused() {
    current(CallSpan::set_refused);
}

pub(crate) fn set_withheld() {
    current(CallSpan::set_withheld);
}

/// The `_meta` of a request of a client: it passes the trace on.
#[cfg(feature = "client")]
pub(crate) fn request_meta() -> Option<RequestMetaObject> {
    let mut fields = None;
    current(|span| fields = span.fields());
    let fields = fields?;
    let mut meta = RequestMetaObject::default();
    meta.0.0.insert(TRACEPARENT.to_owned(), fields.traceparent.into());
    meta.0.0.extend(fields.tracestate.map(|state| (TRACESTATE.to_owned(), state.into())));
    Some(meta)
}

/// The context for what runs as part of a call.
fn context_of(span: &CallSpan) -> Context {
    span.context().with_value(Current(span.clone()))
}

/// Runs `work`, which answers a call, in `span`.
pub(crate) fn server_call<'a, W>(
    span: CallSpan,
    work: impl FnOnce() -> W + 'a,
) -> impl Future<Output = Result<CallToolResponse, ErrorData>> + 'a
where
    W: Future<Output = Result<CallToolResponse, ErrorData>> + 'a,
{
    let parts = context_of(&span);
    let work = async move {
        let answer = Box::pin(work()).await;
        match &answer {
            Ok(CallToolResponse::Complete(result)) if result.is_error == Some(true) => {
                span.set_tool_error();
                span.end_result();
            }
            Ok(_) => span.end_result(),
            Err(error) => span.end_error(error.code.0.into()),
        }
        answer
    };
    work.with_context(parts)
}

/// Starts the span of a call that a server gets.
pub(crate) fn start_server_call(context: &RequestContext<RoleServer>) -> CallSpan {
    let http = context.extensions.get::<hyper::http::request::Parts>();
    let header = |name: &str| http.and_then(|parts| parts.headers.get(name)?.to_str().ok());
    let meta = |name: &str| context.meta.get(name).and_then(|value| value.as_str());
    let read = |get: &dyn Fn(&str) -> Option<String>| {
        TraceContext::read(&get(TRACEPARENT)?, get(TRACESTATE).as_deref())
    };
    let parent = read(&|name| meta(name).map(str::to_owned));
    let parent = parent.or_else(|| read(&|name| header(name).map(str::to_owned)));
    telemetry().start_call(&CallStart {
        role: CallRole::Server,
        parent: parent.as_ref(),
        server: None,
        revision: &request_revision(context),
        request_id: Some(context.id.to_string()),
        session: header("mcp-session-id"),
        transport: Some(if http.is_some() { Transport::Tcp } else { Transport::Pipe }),
    })
}

/// How a call of a client ended without a result.
#[cfg(feature = "client")]
pub(crate) enum Failure {
    /// The tool has failed.
    Tool,
    /// The server has answered with an error of this code.
    Server(i64),
    /// Anything else, by its name in a span.
    Other(&'static str),
}

/// Runs `work`, which is a call of a client, in a span.
#[cfg(feature = "client")]
pub(crate) async fn client_call<T, E>(
    revision: Revision,
    work: impl Future<Output = Result<T, E>>,
    failure: impl Fn(&E) -> Failure,
) -> Result<T, E> {
    let span = telemetry().start_call(&CallStart {
        role: CallRole::Client,
        parent: None,
        server: None,
        revision: &revision,
        request_id: None,
        session: None,
        transport: None,
    });
    let answer = work.with_context(context_of(&span)).await;
    match answer.as_ref().map_err(failure) {
        Ok(_) => span.end_result(),
        Err(Failure::Tool) => {
            span.set_tool_error();
            span.end_result();
        }
        Err(Failure::Server(code)) => span.end_error(code),
        Err(Failure::Other(name)) => span.end_failed(name),
    }
    answer
}
