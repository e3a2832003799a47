//! Spans of servers and clients in programs that set up OpenTelemetry themselves.

use opentelemetry_sdk::trace::{InMemorySpanExporter, SdkTracerProvider, SpanData};
use rmcp::ServiceExt as _;
use serde_json::json;
use toolbond::opentelemetry::{
    Value, global,
    trace::{FutureExt as _, Span as _, SpanKind, Status, TraceContextExt as _, Tracer as _},
};
use toolbond::{Client, ToolError};

#[derive(Clone)]
struct Counter;

#[toolbond::tools]
impl Counter {
    /// Counts down.
    #[tool]
    async fn count(&self, from: u8) -> Result<u8, ToolError> {
        tokio::task::yield_now().await;
        global::tracer("counter").start("inner").end();
        from.checked_sub(1).ok_or_else(|| ToolError::new("hunter2"))
    }
}

fn attribute<'a>(span: &'a SpanData, name: &str) -> Option<&'a Value> {
    span.attributes.iter().find(|it| it.key.as_str() == name).map(|it| &it.value)
}

#[tokio::test]
async fn a_call_is_one_trace_from_the_program_of_the_client_to_the_code_of_the_tool() {
    let exporter = InMemorySpanExporter::default();
    let provider = SdkTracerProvider::builder().with_simple_exporter(exporter.clone()).build();
    global::set_tracer_provider(provider);
    let (transport, end) = tokio::io::duplex(4096);
    tokio::spawn(async { toolbond::enforce(Counter).serve(end).await.unwrap().waiting().await });
    let client = Client::connect(transport).await.unwrap();

    let outer = global::tracer("program").start("outer");
    let context = toolbond::opentelemetry::Context::current_with_span(outer);
    let called: u8 =
        client.call("count", json!({ "from": 3 })).with_context(context.clone()).await.unwrap();
    context.span().end();
    assert_eq!(called, 2);
    let spans = exporter.get_finished_spans().unwrap();
    let names: Vec<_> = spans.iter().map(|span| &*span.name).collect();
    assert_eq!(names, ["inner", "tools/call count", "tools/call count", "outer"]);
    let kinds: Vec<_> = spans.iter().map(|span| span.span_kind.clone()).collect();
    assert_eq!(kinds, [SpanKind::Internal, SpanKind::Server, SpanKind::Client, SpanKind::Internal]);
    for (child, parent) in spans.iter().zip(&spans[1..]) {
        assert_eq!(child.parent_span_id, parent.span_context.span_id(), "{}", child.name);
        assert_eq!(child.span_context.trace_id(), parent.span_context.trace_id());
    }
    for name in ["toolbond.arguments.verdict", "toolbond.result.verdict"] {
        assert_eq!(attribute(&spans[1], name), Some(&"valid".into()), "{name}");
    }

    exporter.reset();
    client.call::<u8>("count", json!({ "from": 0 })).await.unwrap_err();
    client.call::<u8>("count", json!({ "from": "hunter2" })).await.unwrap_err();
    let spans = exporter.get_finished_spans().unwrap();
    let failed: Vec<_> = spans.iter().filter(|span| span.name.starts_with("tools/call")).collect();
    let errors: Vec<_> = failed.iter().map(|span| attribute(span, "error.type").unwrap()).collect();
    let errors: Vec<_> = errors.iter().map(|it| it.as_str().into_owned()).collect();
    assert_eq!(errors, ["tool_error", "tool_error", "invalid_arguments"]);
    assert!(failed.iter().all(|span| matches!(span.status, Status::Error { .. })));
    assert_eq!(failed[2].events.len(), 1);
    assert!(!format!("{spans:?}").contains("hunter2"), "{spans:?}");
}
