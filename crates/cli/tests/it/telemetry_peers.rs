//! One trace from a client through the guard to a server, with the SDKs that read and write trace context.

use std::path::PathBuf;
use std::process::{Command, Stdio};

use opentelemetry_proto::tonic::trace::v1::Span;
use opentelemetry_proto::tonic::trace::v1::span::SpanKind;
use serde_json::Value;
use toolbond_harness::peers;
use toolbond_harness::process::example;

use crate::command::toolbond;
use crate::guard_config::settles;
use crate::guard_http::{Process, port_of};
use crate::receiver::{Answer, Receiver};
use crate::telemetry::hex;

/// The program `peers/rmcp/examples/traced.rs`.
fn traced() -> PathBuf {
    example("toolbond-peers", "traced")
}

/// Starts `command`, which listens and exports.
fn listening(mut command: Command, receiver: &Receiver) -> (Process, u16) {
    receiver.receives_from(&mut command);
    command.stderr(Stdio::piped());
    let mut process = Process(command.spawn().unwrap());
    let port = port_of(&mut process);
    (process, port)
}

/// Calls the tool `greet` of `target`.
fn call(era: &str, target: &[&str], receiver: &Receiver) {
    let mut client = Command::new(traced());
    client.args(["--call", era, r#"{"name":"Ada"}"#]).args(target);
    receiver.receives_from(&mut client);
    let output = client.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "\"Hello, Ada\"", "{said}");
}

/// Each of the spans is the parent of the next one.
fn follow(receiver: &Receiver) {
    let names = ["caller", "toolbond", "toolbond-server", "toolbond-server"];
    settles("four spans", || receiver.received().spans.len() >= names.len());
    let got = receiver.received();
    let spans = &got.spans;
    assert_eq!(spans.len(), names.len(), "{spans:?}");
    let child_of = |parent: &[u8]| -> &(String, Span) {
        spans.iter().find(|(_, span)| span.parent_span_id == parent).unwrap()
    };
    let mut parent = Vec::new();
    let mut trace = None;
    let kinds = [SpanKind::Client, SpanKind::Server, SpanKind::Server, SpanKind::Internal];
    for (index, (name, kind)) in names.into_iter().zip(kinds).enumerate() {
        let (service, span) = child_of(&parent);
        assert_eq!((service.as_str(), span.kind()), (name, kind));
        assert_eq!(span.name, if index < 3 { "tools/call greet" } else { "compose" });
        let trace = trace.get_or_insert(&span.trace_id);
        assert_eq!(*trace, &span.trace_id);
        parent.clone_from(&span.span_id);
    }
}

#[test]
fn one_trace_over_stdio() {
    for era in ["modern", "legacy"] {
        let receiver = Receiver::start(Answer::Takes);
        let (guard, server) = (env!("CARGO_BIN_EXE_toolbond"), traced());
        call(era, &[guard, "guard", "--", server.to_str().unwrap()], &receiver);
        follow(&receiver);
    }
}

#[test]
fn one_trace_over_http() {
    for era in ["modern", "legacy"] {
        let receiver = Receiver::start(Answer::Takes);
        let mut server = Command::new(traced());
        server.args(["--http", "127.0.0.1:0"]);
        let (_server, port) = listening(server, &receiver);
        let upstream = format!("http://127.0.0.1:{port}/mcp");
        let guard = toolbond(&["guard", "--listen", "127.0.0.1:0", "--upstream", &upstream]);
        let (_guard, port) = listening(guard, &receiver);
        call(era, &[&format!("http://127.0.0.1:{port}/mcp")], &receiver);
        follow(&receiver);
    }
}

#[test]
fn one_trace_over_http_to_a_process() {
    for era in ["modern", "legacy"] {
        let receiver = Receiver::start(Answer::Takes);
        let server = traced();
        let server = server.to_str().unwrap();
        let guard = toolbond(&["guard", "--listen", "127.0.0.1:0", "--", server]);
        let (_guard, port) = listening(guard, &receiver);
        call(era, &[&format!("http://127.0.0.1:{port}/mcp")], &receiver);
        follow(&receiver);
    }
}

/// The Python SDK writes the trace of its caller into `_meta`, and its server has the trace of `_meta` as its current one.
#[test]
fn one_trace_with_the_python_sdk() {
    let receiver = Receiver::start(Answer::Takes);
    let mut client = peers::command("clients/traced_client.py");
    client.args([env!("CARGO_BIN_EXE_toolbond"), "guard", "--"]);
    client.args(peers::words("servers/traced.py"));
    receiver.receives_from(&mut client);
    let output = client.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = lines.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{said}");
    settles("two spans", || receiver.received().spans.len() >= 2);
    let got = receiver.received();
    for line in &lines {
        let is_it = |span: &&(String, Span)| line["span"] == hex(&span.1.span_id);
        let (_, span) = got.spans.iter().find(is_it).unwrap_or_else(|| panic!("{line}"));
        assert_eq!(line["trace"], hex(&span.trace_id));
        assert_eq!(hex(&span.parent_span_id), "b7ad6b7169203331");
        assert_eq!(hex(&span.trace_id), "0af7651916cd43dd8448eb211c80319c");
    }
}
