//! What a guard exports over OTLP: attributes, logs and metrics, and no values.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use serde_json::{Value, json};
use toolbond_harness::address::local;
use toolbond_harness::files::Folder;
use toolbond_harness::http::{HttpServer, ask};
use toolbond_harness::otlp::{
    Answer, Data, KeyValue, Received, Receiver, Span, any, attributes, export_to, hex,
};
use toolbond_harness::peers;
use toolbond_harness::process::{Process, run, toolbond};
use toolbond_harness::wait::wait_until;

use toolbond_harness::mcp::modern as modern_request;

/// A server of one era or both that returns the `_meta` of a call, and fails in several ways: see [`call`].
const SERVER: &str = r#"
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

/// A guard in front of [`SERVER`].
fn guard(variables: &[(&'static str, String)], options: &[&str], era: &str) -> Command {
    let mut command = toolbond(&["guard"]);
    command.args(options).args(["--", &peers::node(), "-e", SERVER, era]);
    command.envs(variables.iter().cloned());
    command
}

/// What a guard in front of [`SERVER`] does with these lines. It ends when the receiver has `all`: what a guard exports in
/// its end has two seconds.
fn exported(
    receiver: &Receiver,
    options: &[&str],
    era: &str,
    lines: &[String],
    all: impl Fn(&Received) -> bool,
) -> Output {
    let mut command = guard(&receiver.variables(), options, era);
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = command.spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all((lines.join("\n") + "\n").as_bytes()).unwrap();
    receiver.wait_until("everything is exported", all);
    drop(stdin);
    child.wait_with_output().unwrap()
}

/// The spans of so many calls.
fn spans(count: usize) -> impl Fn(&Received) -> bool {
    move |got| got.spans.len() >= count
}

/// The answers by id.
fn answers(output: &Output) -> Vec<Value> {
    let text = String::from_utf8(output.stdout.clone()).unwrap();
    let mut all: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    all.sort_by_key(|answer| answer["id"].as_u64());
    all
}

/// What every span and every duration of a call has.
const COMMON: [(&str, &str); 5] = [
    ("gen_ai.operation.name", "execute_tool"),
    ("mcp.method.name", "tools/call"),
    ("mcp.protocol.version", "2026-07-28"),
    ("network.transport", "pipe"),
    ("toolbond.server.name", "both"),
];

/// Attributes as text, without what differs from run to run, and without those that all have in `common`.
fn shown(all: &[KeyValue], common: &[(&str, &str)]) -> String {
    let mut all = attributes(all);
    for (name, value) in common {
        assert_eq!(all.remove(*name).as_deref(), Some(*value), "{name}");
    }
    all.iter().fold(String::new(), |mut text, (name, value)| {
        let value = if name.ends_with(".seconds") { "[time]" } else { value };
        let _ = write!(text, " {name}={value}");
        text
    })
}

/// What was received, as `data/telemetry.txt` has it.
fn shown_lines(got: &Received) -> String {
    let id = |span: &Span| attributes(&span.attributes)["jsonrpc.request.id"].clone();
    let mut spans: Vec<_> = got.spans.iter().map(|(_, span)| span).collect();
    spans.sort_by_key(|span| id(span));
    let mut text = String::new();
    for span in &spans {
        let status = span.status.as_ref().map_or(0, |status| status.code);
        let own = shown(&span.attributes, &COMMON);
        let _ = writeln!(text, "span {} kind={} status={status}{own}", span.name, span.kind);
        for event in &span.events {
            let _ = writeln!(text, "  event {}{}", event.name, shown(&event.attributes, &[]));
        }
    }
    let mut lines = Vec::new();
    for log in &got.logs {
        let body = log.body.as_ref().map(any).unwrap_or_default();
        let span = spans.iter().find(|span| span.span_id == log.span_id);
        let call = span.map_or_else(|| "none".to_owned(), |span| id(span));
        let own = shown(&log.attributes, &[("toolbond.server.name", "both")]);
        let (name, severity) = (&log.event_name, &log.severity_text);
        lines.push(format!("log {name} {severity} call={call}{own}: {body}"));
    }
    for metric in &got.metrics {
        let start = format!("metric {} [{}]", metric.name, metric.unit);
        match metric.data.as_ref().unwrap() {
            Data::Histogram(histogram) => {
                for point in &histogram.data_points {
                    assert_eq!(point.explicit_bounds, BOUNDS);
                    let own = shown(&point.attributes, &COMMON);
                    lines.push(format!("{start}{own}: {}", point.count));
                }
            }
            Data::Sum(sum) => {
                for point in &sum.data_points {
                    let (own, value) = (shown(&point.attributes, &[]), point.value.unwrap());
                    lines.push(format!("{start}{own}: {value:?}"));
                }
            }
            other => panic!("{other:?}"),
        }
    }
    lines.sort();
    text + &lines.join("\n") + "\n"
}

/// The bounds of the conventions for durations, in seconds.
const BOUNDS: [f64; 14] =
    [0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 30.0, 60.0, 120.0, 300.0];

/// How many calls the metrics count.
fn counted(got: &Received) -> u64 {
    let histograms = got.metrics.iter().filter_map(|metric| match metric.data.as_ref()? {
        Data::Histogram(histogram) => Some(&histogram.data_points),
        _ => None,
    });
    histograms.flatten().map(|point| point.count).sum()
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
fn spans_logs_and_metrics_are_those_of_the_conventions() {
    let receiver = Receiver::start(Answer::Takes);
    let all = |got: &Received| got.spans.len() >= 8 && got.logs.len() >= 5 && counted(got) >= 8;
    let output = exported(&receiver, &["--results", "enforce"], "both", &calls(), all);
    assert_eq!(answers(&output).len(), 8, "{output:?}");
    let got = receiver.received();
    let text = shown_lines(&got);
    assert!(text == include_str!("data/telemetry.txt"), "data/telemetry.txt is not\n{text}");
    for (service, span) in &got.spans {
        assert_eq!(service, "toolbond");
        if attributes(&span.attributes)["jsonrpc.request.id"] != "8" {
            assert_eq!(hex(&span.trace_id), PARENT[3..35]);
            assert_eq!(hex(&span.parent_span_id), PARENT[36..52]);
        }
    }
}

#[test]
fn no_value_of_a_call_is_exported() {
    let receiver = Receiver::start(Answer::Takes);
    let mut lines = calls();
    lines.push(format!(r#"{{"jsonrpc":"2.0","id":9,"method":"tools/call","params":"{SECRET}"}}"#));
    lines.push(format!(r#"["{SECRET}"]"#));
    lines.push(call(10, &json!(6), &modern()));
    for (options, count) in
        [(&["--log-values"][..], 9), (&["--log-values", "--results", "enforce"], 18)]
    {
        let all = |got: &Received| {
            got.spans.len() >= count && !got.logs.is_empty() && !got.metrics.is_empty()
        };
        let output = exported(&receiver, options, "both", &lines, all);
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(said.contains(SECRET), "the log was asked for values: {said}");
    }
    assert!(!receiver.received().contains(SECRET));
}

#[test]
fn values_that_were_asked_for_have_no_secrets() {
    let receiver = Receiver::start(Answer::Takes);
    let lines = [INITIALIZE.to_owned(), call(1, &json!(1), &json!({}))];
    exported(&receiver, &["--export-values"], "both", &lines, spans(1));
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
        let output = exported(&receiver, &["--no-project"], server, &lines, spans(1));
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
    let output = exported(&receiver, &[], "legacy", &lines, spans(1));
    let got = receiver.received();
    let (_, span) = &got.spans[0];
    assert!(span.parent_span_id.is_empty());
    let own = format!("00-{}-{}-01", hex(&span.trace_id), hex(&span.span_id));
    assert_eq!(seen(&answers(&output)[1]), &json!({ "traceparent": own, "tracestate": "" }));
}

/// A server of 2026-07-28 on HTTP.
fn server() -> HttpServer {
    HttpServer::start(|request, reply| {
        let mut result = json!({ "resultType": "complete", "ttlMs": 0, "cacheScope": "private" });
        match request.message()["method"].as_str().unwrap() {
            "tools/list" => {
                result["tools"] = json!([{ "name": "send", "inputSchema": { "type": "object" } }]);
            }
            "tools/call" => result["content"] = json!([]),
            _ => {
                result["supportedVersions"] = json!(["2026-07-28"]);
                result["capabilities"] = json!({});
            }
        }
        reply.result(request, &result)
    })
}

#[test]
fn headers_name_a_trace_where_meta_does_not() {
    let (receiver, server) = (Receiver::start(Answer::Takes), server());
    let upstream = server.url(&format!("/mcp?key={SECRET}"));
    let mut command = toolbond(&["guard", "--listen", "127.0.0.1:0", "--upstream", &upstream]);
    command.envs(receiver.variables());
    let (_guard, port) = Process::listening(command);
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
    receiver.wait_until("three spans", spans(3));
    let got = receiver.received();
    let mut calls = server.take();
    calls.retain(|request| request.message()["method"] == "tools/call");
    for (index, parent) in [(0, ""), (1, &PARENT[36..52]), (2, &other[36..52])] {
        let (_, span) = &got.spans[index];
        assert_eq!(hex(&span.parent_span_id), parent);
        let own = format!("00-{}-{}-01", hex(&span.trace_id), hex(&span.span_id));
        let (head, params) = (&calls[index].head, &calls[index].message()["params"]);
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
    let lines = plain_calls().join("\n") + "\n";
    let expected = answers(&run(guard(&[], &[], "both"), &lines));
    for answer in
        [Answer::Refuses(500), Answer::Refuses(400), Answer::Hangs, Answer::TakesAfter(300)]
    {
        let receiver = Receiver::start(answer);
        let asked = |got: &Received| got.requests > 0;
        let output = exported(&receiver, &[], "both", &plain_calls(), asked);
        assert_eq!(answers(&output), expected, "{answer:?}");
        let said = String::from_utf8_lossy(&output.stderr);
        let count = said.matches("could not export").count();
        assert_eq!(count, usize::from(matches!(answer, Answer::Refuses(_))), "{answer:?}: {said}");
    }
    // Nobody listens there.
    let (folder, variables) = (Folder::new(), export_to(&local(9).to_string()));
    let mut command = guard(&variables, &[], "both");
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut child = command.stderr(File::create(folder.join("log")).unwrap()).spawn().unwrap();
    let mut stdin = child.stdin.take().unwrap();
    stdin.write_all(lines.as_bytes()).unwrap();
    let said =
        || fs::read_to_string(folder.join("log")).unwrap().matches("could not export").count();
    wait_until("it is said", || said() > 0);
    drop(stdin);
    assert_eq!(answers(&child.wait_with_output().unwrap()), expected);
    assert_eq!(said(), 1);
}

/// Calls whose answers say nothing of a trace.
fn plain_calls() -> Vec<String> {
    let mut lines = vec![INITIALIZE.to_owned()];
    lines.extend((1..=60).map(|id| call(id, &json!(if id % 2 == 0 { 2 } else { 3 }), &json!({}))));
    lines
}

#[test]
fn the_queue_is_bounded_and_what_is_dropped_is_counted() {
    let receiver = Receiver::start(Answer::Hangs);
    let mut command = guard(&receiver.variables(), &[], "both");
    command.envs([("OTEL_BSP_MAX_QUEUE_SIZE", "4"), ("OTEL_BSP_MAX_EXPORT_BATCH_SIZE", "2")]);
    let output = run(command, &(plain_calls().join("\n") + "\n"));
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
        let mut command = guard(&receiver.variables(), &[], "both");
        let lines = format!("{INITIALIZE}\n{}\n", call(1, &json!(2), &json!({})));
        let output = {
            command.env(name, value);
            run(command, &lines)
        };
        assert_eq!(answers(&output).len(), 2);
        let said = String::from_utf8_lossy(&output.stderr);
        let line = said.lines().find(|line| line.contains("traces are not exported")).unwrap();
        assert!(line.contains(expected), "{line}");
        assert!(receiver.received().spans.is_empty());
    }
}

#[test]
fn without_export_nothing_changes() {
    let receiver = Receiver::start(Answer::Takes);
    let meta = json!({ "traceparent": PARENT });
    let lines = format!("{INITIALIZE}\n{}\n", call(1, &json!(1), &meta));
    let mut disabled = receiver.variables();
    disabled.push(("OTEL_SDK_DISABLED", "true".to_owned()));
    for variables in [&disabled[..], &[]] {
        let output = run(guard(variables, &[], "legacy"), &lines);
        assert_eq!(seen(&answers(&output)[1]), &meta);
        assert!(output.stderr.is_empty(), "{output:?}");
    }
    assert_eq!(receiver.received().requests, 0);
}
