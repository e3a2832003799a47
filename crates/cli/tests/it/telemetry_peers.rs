//! One trace from a client through the guard to a server, with the SDKs that read and write trace context.

use std::path::PathBuf;
use std::process::Command;

use serde_json::Value;
use toolbond_harness::otlp::{Answer, Receiver, Span, SpanKind, hex};
use toolbond_harness::peers;
use toolbond_harness::process::{Process, example, program, toolbond};

/// The program `peers/rmcp/examples/traced.rs`.
fn traced() -> PathBuf {
    example("toolbond-peers", "traced")
}

/// Starts `command`, which listens and exports.
fn listening(mut command: Command, receiver: &Receiver) -> (Process, u16) {
    command.envs(receiver.variables());
    Process::listening(command)
}

/// Calls the tool `greet` of `target`.
fn call(era: &str, target: &[&str], receiver: &Receiver) {
    let mut client = Command::new(traced());
    client.args(["--call", era, r#"{"name":"Ada"}"#]).args(target);
    client.envs(receiver.variables());
    let output = client.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "\"Hello, Ada\"", "{said}");
}

/// Each of the spans is the parent of the next one.
fn follow(receiver: &Receiver) {
    let names = ["caller", "toolbond", "toolbond-server", "toolbond-server"];
    receiver.wait_until("four spans", |got| got.spans.len() >= names.len());
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
        let (guard, server) = (program(), traced());
        call(
            era,
            &[
                guard.to_str().unwrap(),
                "guard",
                "--results-file",
                "none",
                "--",
                server.to_str().unwrap(),
            ],
            &receiver,
        );
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
    client.args([env!("CARGO_BIN_EXE_toolbond"), "guard", "--results-file", "none", "--"]);
    client.args(peers::words("servers/traced.py")).envs(receiver.variables());
    let output = client.output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    let lines = String::from_utf8(output.stdout).unwrap();
    let lines: Vec<Value> = lines.lines().map(|it| serde_json::from_str(it).unwrap()).collect();
    assert_eq!(lines.len(), 2, "{said}");
    receiver.wait_until("two spans", |got| got.spans.len() >= 2);
    let got = receiver.received();
    for line in &lines {
        let is_it = |span: &&(String, Span)| line["span"] == hex(&span.1.span_id);
        let (_, span) = got.spans.iter().find(is_it).unwrap_or_else(|| panic!("{line}"));
        assert_eq!(line["trace"], hex(&span.trace_id));
        assert_eq!(hex(&span.parent_span_id), "b7ad6b7169203331");
        assert_eq!(hex(&span.trace_id), "0af7651916cd43dd8448eb211c80319c");
    }
}
