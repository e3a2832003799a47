//! What a guard exports over OTLP: attributes, logs and metrics, and no values.

use std::fmt::Write as _;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpListener;
use std::process::{Output, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;

use opentelemetry_proto::tonic::metrics::v1::metric::Data;
use opentelemetry_proto::tonic::trace::v1::Span;
use serde_json::{Value, json};

use crate::command::toolbond;
use crate::legacy::{Process, ask, port_of};
use crate::legacy::{modern as modern_request, settles};
use crate::receiver::{Answer, Receiver, any, attributes, export_to};

/// A server of one era or both that returns the `_meta` of a call, and fails in several ways: see [`call`].
pub(crate) const SERVER: &str = r#"
const era = process.argv[1];
const n = { type: "integer" };
const tool = { name: "send", inputSchema: { type: "object", properties: { n, password: { type: "string" } }, required: ["n"] },
  outputSchema: { type: "object", properties: { n }, required: ["n"] } };
const complete = { resultType: "complete" };
const say = (message) => console.log(JSON.stringify({ jsonrpc: "2.0", ...message }));
const call = (id, { arguments: { n, password }, _meta }) => {
  const text = (text) => ({ content: [{ type: "text", text }] });
  const all = { ...complete, ...text("done") };
  if (n === 1) say({ id, result: { ...all, structuredContent: { n, _meta } } });
  if (n === 2) say({ id, result: { ...complete, ...text("wrong: " + password), isError: true } });
  if (n === 3) say({ id, error: { code: -32001, message: "no " + password } });
  if (n === 4) say({ id, result: { ...all, structuredContent: { n: password } } });
  if (n === 5) { console.log("debug: " + password); say({ id, result: { ...all, structuredContent: { n } } }); }
  if (n === 6) { console.error("died of " + password); process.exit(1); }
};
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  if (method === "tools/call") return call(id, params);
  const results = { "tools/list": { ...complete, ttlMs: 0, cacheScope: "private", tools: [tool] } };
  if (era !== "modern") results.initialize = { protocolVersion: "2025-11-25", capabilities: { tools: {} }, serverInfo: { name: "s", version: "1" } };
  if (era !== "legacy") results["server/discover"] = { ...complete, ttlMs: 0, cacheScope: "private", supportedVersions: ["2026-07-28"], capabilities: { tools: {} } };
  const result = results[method];
  say(result ? { id, result } : { id, error: { code: -32601, message: "method not found" } });
});
"#;

const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
const SECRET: &str = "hunter2-secret";

/// A call of the tool `send` of [`SERVER`].
fn call(id: u32, n: &Value, meta: &Value) -> String {
    let arguments = json!({ "n": n, "password": SECRET });
    let params = json!({ "name": "send", "arguments": arguments, "_meta": meta });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

/// What a client of 2026-07-28 says of itself.
fn modern() -> Value {
    json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
        "io.modelcontextprotocol/clientCapabilities": {} })
}

const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}
{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// What a guard in front of [`SERVER`] does with these lines, while it exports to `port`.
fn guarded(port: Option<u16>, options: &[&str], era: &str, lines: &[String]) -> Output {
    guarded_with(&[], port, options, era, lines)
}

fn guarded_with(
    variables: &[(&str, &str)],
    port: Option<u16>,
    options: &[&str],
    era: &str,
    lines: &[String],
) -> Output {
    let mut command = toolbond(&["guard"]);
    command.args(options).args(["--", "node", "-e", SERVER, era]);
    if let Some(port) = port {
        export_to(&mut command, port);
    }
    command.envs(variables.iter().copied());
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let input = lines.join("\n") + "\n";
    let writer = thread::spawn(move || drop(stdin.write_all(input.as_bytes())));
    let output = child.wait_with_output().unwrap();
    writer.join().unwrap();
    output
}

/// The answers by id.
fn answers(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let mut all: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    all.sort_by_key(|answer| answer["id"].as_u64());
    all
}

pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// A span as text, without what differs from run to run.
fn shown(span: &Span) -> String {
    let mut text = format!("{} kind={} status=", span.name, span.kind);
    let _ = writeln!(text, "{}", span.status.as_ref().map_or(0, |status| status.code));
    for (name, value) in attributes(&span.attributes) {
        let value = if name.ends_with(".seconds") { "[time]".to_owned() } else { value };
        let _ = writeln!(text, "  {name}: {value}");
    }
    for event in &span.events {
        let _ = writeln!(text, "  event {}", event.name);
        for (name, value) in attributes(&event.attributes) {
            let _ = writeln!(text, "    {name}: {value}");
        }
    }
    text
}

/// Valid and repaired arguments, results in every form, a tool that nobody lists.
fn calls() -> Vec<String> {
    let mut parent = modern();
    let unlisted = json!({ "name": "other", "arguments": { "n": 1 }, "_meta": parent });
    let unlisted = json!({ "jsonrpc": "2.0", "id": 8, "method": "tools/call", "params": unlisted });
    parent["traceparent"] = PARENT.into();
    vec![
        call(1, &json!(1), &parent),
        call(2, &json!("1"), &parent),
        call(3, &json!([SECRET]), &parent),
        call(4, &json!(2), &parent),
        call(5, &json!(3), &parent),
        call(6, &json!(4), &parent),
        call(7, &json!(5), &parent),
        unlisted.to_string(),
    ]
}

#[test]
fn attributes_of_spans_are_those_of_the_conventions() {
    let receiver = Receiver::start(Answer::Takes);
    let output = guarded(Some(receiver.port), &["--results", "enforce"], "both", &calls());
    assert_eq!(answers(&output).len(), 8, "{output:?}");
    let got = receiver.received();
    let mut spans: Vec<_> = got.spans.iter().map(|(_, span)| span).collect();
    spans.sort_by_key(|span| attributes(&span.attributes)["jsonrpc.request.id"].clone());
    let text: Vec<_> = spans.iter().map(|span| shown(span)).collect();
    insta::assert_snapshot!("telemetry_spans", text.join("\n"));
    for (service, span) in &got.spans {
        assert_eq!(service, "toolbond");
        if attributes(&span.attributes)["jsonrpc.request.id"] != "8" {
            assert_eq!(hex(&span.trace_id), PARENT[3..35]);
            assert_eq!(hex(&span.parent_span_id), PARENT[36..52]);
        }
    }
}

#[test]
fn events_are_log_records_of_their_span() {
    let receiver = Receiver::start(Answer::Takes);
    guarded(Some(receiver.port), &["--results", "enforce"], "both", &calls());
    let got = receiver.received();
    let span_of = |id: &[u8]| {
        let found = got.spans.iter().find(|(_, span)| span.span_id == id);
        let id = found.map(|(_, span)| attributes(&span.attributes)["jsonrpc.request.id"].clone());
        id.unwrap_or_else(|| "none".to_owned())
    };
    let mut lines: Vec<_> = got
        .logs
        .iter()
        .map(|log| {
            let mut text = format!("{} {}: ", log.event_name, log.severity_text);
            let _ = write!(text, "{}", log.body.as_ref().map(any).unwrap_or_default());
            let _ = writeln!(text, "\n  call: {}", span_of(&log.span_id));
            for (name, value) in attributes(&log.attributes) {
                let _ = writeln!(text, "  {name}: {value}");
            }
            text
        })
        .collect();
    lines.sort();
    insta::assert_snapshot!("telemetry_logs", lines.join("\n"));
}

#[test]
fn metrics_are_bounded() {
    let receiver = Receiver::start(Answer::Takes);
    guarded(Some(receiver.port), &["--results", "enforce"], "both", &calls());
    let got = receiver.received();
    let mut lines = Vec::new();
    for metric in &got.metrics {
        let mut line = |all: &_, value: String| {
            let all: Vec<_> = attributes(all)
                .into_iter()
                .map(|(name, value)| format!("{name}={value}"))
                .collect();
            lines.push(format!("{} [{}] {}: {value}", metric.name, metric.unit, all.join(" ")));
        };
        match metric.data.as_ref().unwrap() {
            Data::Histogram(histogram) => {
                for point in &histogram.data_points {
                    let (count, buckets) = (point.count, &point.explicit_bounds);
                    line(&point.attributes, format!("{count} in {buckets:?}"));
                }
            }
            Data::Sum(sum) => {
                for point in &sum.data_points {
                    line(&point.attributes, format!("{:?}", point.value.unwrap()));
                }
            }
            other => panic!("{other:?}"),
        }
    }
    lines.sort();
    insta::assert_snapshot!("telemetry_metrics", lines.join("\n"));
}

#[test]
fn no_value_of_a_call_is_exported() {
    let receiver = Receiver::start(Answer::Takes);
    let mut lines = calls();
    lines.push(format!(r#"{{"jsonrpc":"2.0","id":9,"method":"tools/call","params":"{SECRET}"}}"#));
    lines.push(format!(r#"["{SECRET}"]"#));
    lines.push(call(10, &json!(6), &modern()));
    for options in [&["--log-values"][..], &["--log-values", "--results", "enforce"]] {
        let output = guarded(Some(receiver.port), options, "both", &lines);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(SECRET), "the log was asked for values: {said}");
    }
    let got = receiver.received();
    assert!(got.spans.len() >= 18, "{}", got.spans.len());
    assert!(!got.logs.is_empty() && !got.metrics.is_empty());
    assert!(!got.contains(SECRET));
}

#[test]
fn values_that_were_asked_for_have_no_secrets() {
    let receiver = Receiver::start(Answer::Takes);
    let lines = [INITIALIZE.to_owned(), call(1, &json!(1), &json!({}))];
    guarded(Some(receiver.port), &["--export-values"], "both", &lines);
    let got = receiver.received();
    let (_, span) = &got.spans[0];
    let all = attributes(&span.attributes);
    assert_eq!(all["gen_ai.tool.call.arguments"], r#"{"n":1,"password":"[redacted]"}"#);
    assert!(all["gen_ai.tool.call.result"].contains(r#""structuredContent":{"n":1"#), "{all:?}");
    assert!(!got.contains(SECRET));
}

/// The `_meta` that the server saw.
fn seen(answer: &Value) -> &Value {
    &answer["result"]["structuredContent"]["_meta"]
}

#[test]
fn the_trace_reaches_a_server_of_another_era() {
    for (client, server) in
        [("legacy", "legacy"), ("legacy", "modern"), ("modern", "legacy"), ("modern", "modern")]
    {
        let receiver = Receiver::start(Answer::Takes);
        let mut meta = if client == "modern" { modern() } else { json!({}) };
        meta["traceparent"] = PARENT.into();
        meta["tracestate"] = "vendor=1".into();
        meta["baggage"] = "user=ada".into();
        let mut lines = vec![call(1, &json!(1), &meta)];
        if client == "legacy" {
            lines.insert(0, INITIALIZE.to_owned());
        }
        let output = guarded(Some(receiver.port), &["--no-project"], server, &lines);
        let answers = answers(&output);
        let answer = answers.iter().find(|answer| answer["id"] == 1).unwrap();
        let got = receiver.received();
        let (_, span) = &got.spans[0];
        let own = format!("00-{}-{}-01", hex(&span.trace_id), hex(&span.span_id));
        assert_eq!(seen(answer)["traceparent"], json!(own), "{client} {server}: {answer}");
        assert_eq!(seen(answer)["tracestate"], "vendor=1", "{client} {server}: {answer}");
        assert_eq!(seen(answer)["baggage"], "user=ada", "{client} {server}: {answer}");
        assert_eq!(hex(&span.parent_span_id), PARENT[36..52], "{client} {server}");
    }
}

#[test]
fn a_malformed_parent_starts_a_new_trace() {
    let receiver = Receiver::start(Answer::Takes);
    let meta = json!({ "traceparent": "00-x", "tracestate": "stale=1" });
    let lines = [INITIALIZE.to_owned(), call(1, &json!(1), &meta)];
    let output = guarded(Some(receiver.port), &[], "legacy", &lines);
    let got = receiver.received();
    let (_, span) = &got.spans[0];
    assert!(span.parent_span_id.is_empty());
    let own = format!("00-{}-{}-01", hex(&span.trace_id), hex(&span.span_id));
    assert_eq!(seen(&answers(&output)[1]), &json!({ "traceparent": own, "tracestate": "" }));
}

/// The head and the parameters of calls.
type Calls = Arc<Mutex<Vec<(String, Value)>>>;

/// A server on HTTP for one request at a time; what it got of calls.
fn recording() -> (u16, Calls) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    let calls = Calls::default();
    let all = Arc::clone(&calls);
    // It ends with the process of the test.
    thread::spawn(move || {
        for stream in listener.incoming() {
            let mut reader = BufReader::new(stream.unwrap());
            let mut head = String::new();
            while !head.ends_with("\r\n\r\n") {
                reader.read_line(&mut head).unwrap();
            }
            let head = head.to_ascii_lowercase();
            let length = head.split("content-length: ").nth(1).unwrap();
            let length = length.split('\r').next().unwrap().parse().unwrap();
            let mut body = vec![0; length];
            reader.read_exact(&mut body).unwrap();
            let message: Value = serde_json::from_slice(&body).unwrap();
            let complete = |more: Value| {
                let mut result =
                    json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private" });
                result.as_object_mut().unwrap().extend(more.as_object().unwrap().clone());
                result
            };
            let result = match message["method"].as_str().unwrap() {
                "tools/list" => complete(
                    json!({ "tools": [{ "name": "send", "inputSchema": { "type": "object" } }] }),
                ),
                "tools/call" => {
                    all.lock().unwrap().push((head, message["params"].clone()));
                    complete(json!({ "content": [] }))
                }
                _ => complete(json!({ "supportedVersions": ["2026-07-28"], "capabilities": {} })),
            };
            let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
            let (answer, mut stream) = (answer.to_string(), reader.into_inner());
            let length = answer.len();
            write!(stream, "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n{answer}").unwrap();
        }
    });
    (port, calls)
}

#[test]
fn headers_name_a_trace_where_meta_does_not() {
    let receiver = Receiver::start(Answer::Takes);
    let (port, calls) = recording();
    let upstream = format!("http://127.0.0.1:{port}/mcp?key={SECRET}");
    let mut command = toolbond(&["guard", "--listen", "127.0.0.1:0", "--upstream", &upstream]);
    receiver.receives_from(&mut command);
    let mut guard = Process(command.stderr(Stdio::piped()).spawn().unwrap());
    let port = port_of(&mut guard);
    let send = |headers: &str, meta: &Value| {
        let (head, body) = modern_request("/mcp", &call(1, &json!(1), meta));
        let answer = ask(port, &format!("{head}{headers}"), &body);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    };
    let header = format!(
        "\r\nmcp-session-id: s1\r\ntraceparent: {PARENT}\r\ntracestate: v=1\r\nbaggage: b=1"
    );
    let other = PARENT.replace("b7ad", "c8be");
    let mut meta = modern();
    send("", &meta);
    send(&header, &meta);
    meta["traceparent"] = other.as_str().into();
    send(&header, &meta);
    settles("three spans", || receiver.received().spans.len() >= 3);
    let got = receiver.received();
    let calls = calls.lock().unwrap();
    for (index, parent) in [(0, ""), (1, &PARENT[36..52]), (2, &other[36..52])] {
        let (_, span) = &got.spans[index];
        assert_eq!(hex(&span.parent_span_id), parent);
        let own = format!("00-{}-{}-01", hex(&span.trace_id), hex(&span.span_id));
        let (head, params) = &calls[index];
        assert_eq!(params["_meta"]["traceparent"], json!(own));
        assert!(head.contains(&format!("\r\ntraceparent: {own}\r\n")), "{head}");
        // The state of the header belongs to the trace of the header.
        let state = if index == 1 { json!("v=1") } else { Value::Null };
        assert_eq!(params["_meta"]["tracestate"], state);
        assert_eq!(head.contains("\r\ntracestate: v=1\r\n"), index == 1, "{head}");
        assert_eq!(head.contains("\r\nbaggage: b=1\r\n"), index > 0, "{head}");
    }
    let all = attributes(&got.spans[1].1.attributes);
    assert_eq!(all["mcp.session.id"], "s1");
    assert_eq!(all["network.transport"], "tcp");
    assert!(!got.contains(SECRET));
}

#[test]
fn calls_go_on_whatever_the_receiver_does() {
    let expected = answers(&guarded(None, &[], "both", &plain_calls()));
    for answer in
        [Answer::Refuses(500), Answer::Refuses(400), Answer::Hangs, Answer::TakesAfter(300)]
    {
        let receiver = Receiver::start(answer);
        let output = guarded_with(&PATIENT, Some(receiver.port), &[], "both", &plain_calls());
        assert_eq!(answers(&output), expected, "{answer:?}");
        assert!(receiver.received().requests > 0, "{answer:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        let count = said.matches("could not export").count();
        assert_eq!(count, usize::from(matches!(answer, Answer::Refuses(_))), "{answer:?}: {said}");
    }
    // Nobody listens there.
    let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let output = guarded_with(&PATIENT, Some(port), &[], "both", &plain_calls());
    assert_eq!(answers(&output), expected);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(said.matches("could not export").count(), 1, "{said}");
}

/// An export may take ten minutes: longer than any end of a guard.
const PATIENT: [(&str, &str); 1] = [("OTEL_EXPORTER_OTLP_TIMEOUT", "600000")];

/// Calls whose answers say nothing of a trace.
fn plain_calls() -> Vec<String> {
    let mut lines = vec![INITIALIZE.to_owned()];
    lines.extend((1..=60).map(|id| call(id, &json!(if id % 2 == 0 { 2 } else { 3 }), &json!({}))));
    lines
}

#[test]
fn the_queue_is_bounded_and_what_is_dropped_is_counted() {
    let receiver = Receiver::start(Answer::Hangs);
    let mut variables = PATIENT.to_vec();
    variables.extend([("OTEL_BSP_MAX_QUEUE_SIZE", "4"), ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2")]);
    let output = guarded_with(&variables, Some(receiver.port), &[], "both", &plain_calls());
    assert_eq!(answers(&output).len(), 61);
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("telemetry: 60 spans and "), "{said}");
    let got = receiver.received();
    assert!(got.spans.len() <= 4, "{}", got.spans.len());
}

#[test]
fn a_variable_that_cannot_be_used_is_told_in_one_line() {
    for (name, value, expected) in [
        ("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "localhost:4318", "found no scheme"),
        ("OTEL_EXPORTER_OTLP_TRACES_PROTOCOL", "grpc", "expected `http/protobuf`"),
        ("OTEL_EXPORTER_OTLP_CERTIFICATE", "nowhere.pem", "nowhere.pem"),
    ] {
        let receiver = Receiver::start(Answer::Takes);
        let lines = [INITIALIZE.to_owned(), call(1, &json!(2), &json!({}))];
        let output = guarded_with(&[(name, value)], Some(receiver.port), &[], "both", &lines);
        assert_eq!(answers(&output).len(), 2);
        let said = String::from_utf8_lossy(&output.stderr);
        let line = said.lines().find(|line| line.contains("traces are not exported")).unwrap();
        assert!(line.contains(expected), "{line}");
        assert!(receiver.received().spans.is_empty());
    }
}

#[test]
fn without_export_nothing_changes() {
    let variables = [("OTEL_SDK_DISABLED", "true")];
    let receiver = Receiver::start(Answer::Takes);
    let meta = json!({ "traceparent": PARENT });
    let lines = [INITIALIZE.to_owned(), call(1, &json!(1), &meta)];
    for (variables, port) in [(&variables[..], Some(receiver.port)), (&[], None)] {
        let output = guarded_with(variables, port, &[], "legacy", &lines);
        assert_eq!(seen(&answers(&output)[1]), &meta);
        assert!(output.stderr.is_empty(), "{output:?}");
    }
    assert_eq!(receiver.received().requests, 0);
}
