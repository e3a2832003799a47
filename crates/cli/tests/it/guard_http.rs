//! `toolbond guard --listen --upstream`: servers on Streamable HTTP.

use std::io::{BufRead, BufReader, Read, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Stdio};
use std::thread::JoinHandle;
use std::time::Duration;

use serde_json::{Value, json};
use toolbond_harness::peers;

use crate::command::toolbond;
use crate::guard_peers::visit;

/// A process that ends with its test.
pub(crate) struct Process(pub(crate) Child);

impl Drop for Process {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// A server without an SDK: the process and its port.
pub(crate) fn bare(options: &[&str]) -> (Process, u16) {
    let mut node = peers::command("servers/bare.mjs");
    node.arg("--http").args(options).stdout(Stdio::piped());
    let mut process = Process(node.spawn().unwrap());
    let port = port_of(&mut process);
    (process, port)
}

/// The port that the first line of a process ends with, or has in a URL.
pub(crate) fn port_of(process: &mut Process) -> u16 {
    port_and_log(process).0
}

/// The port that a process says it listens on, and what it says from then on until it ends.
pub(crate) fn port_and_log(process: &mut Process) -> (u16, JoinHandle<String>) {
    let stream: Box<dyn Read + Send> = match process.0.stdout.take() {
        Some(stdout) => Box::new(stdout),
        None => Box::new(process.0.stderr.take().unwrap()),
    };
    let mut reader = BufReader::new(stream);
    let mut line = String::new();
    reader.read_line(&mut line).unwrap();
    // What it says later is not held up.
    let log = std::thread::spawn(move || {
        let mut log = Vec::new();
        // What was said before it failed is enough.
        let _ = reader.read_to_end(&mut log);
        String::from_utf8_lossy(&log).into_owned()
    });
    let address = line.split("http://127.0.0.1:").nth(1).unwrap_or(&line);
    (address.split('/').next().unwrap().trim().parse().unwrap(), log)
}

/// A guard in front of `port`: the process and its own port.
pub(crate) fn guard(port: u16, options: &[&str]) -> (Process, u16) {
    guard_at(&format!("http://127.0.0.1:{port}/mcp"), options)
}

/// A guard in front of `upstream`.
pub(crate) fn guard_at(upstream: &str, options: &[&str]) -> (Process, u16) {
    let mut command = toolbond(&["guard", "--listen", "127.0.0.1:0", "--upstream", upstream]);
    command.args(options).stderr(Stdio::piped());
    let mut process = Process(command.spawn().unwrap());
    let port = port_of(&mut process);
    (process, port)
}

/// Sends a request, and gives the whole answer.
pub(crate) fn ask(port: u16, head: &str, body: &str) -> String {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let host = if head.contains("\r\nhost:") { "" } else { "\r\nhost: localhost" };
    write!(
        stream,
        "{head}{host}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n{body}",
        body.len()
    )
    .unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    answer
}

pub(crate) fn call(id: u32, name: &str, arguments: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": name, "arguments": arguments } })
    .to_string()
}

pub(crate) const POST: &str = "POST /mcp HTTP/1.1\r\nmcp-protocol-version: 2025-11-25";

fn reads_everything_through_the_guard(options: &[&str]) {
    let calls = json!([
        ["forecast", {}], ["count", {}], ["find_person", { "id": 2 }], ["shape", {}],
        ["ranged", { "n": 500 }],
    ]);
    let (_server, port) = bare(options);
    let direct = visit(None, &calls, &[&format!("http://127.0.0.1:{port}/mcp")]);
    assert!(direct["tools"]["failed"].is_string());
    assert!(direct["calls"][0]["failed"].is_string());
    let (_guard, port) = guard(port, &[]);
    let guarded = visit(None, &calls, &[&format!("http://127.0.0.1:{port}/mcp")]);
    assert_eq!(guarded["tools"].as_array().unwrap().len(), 7);
    let structured = |call: usize| guarded["calls"][call]["structuredContent"].clone();
    assert_eq!(structured(0)["result"][1]["day"], "tuesday");
    assert_eq!(structured(1), json!({ "result": 42 }));
    assert_eq!(structured(2), json!({ "result": null }));
    assert_eq!(structured(3), json!({ "radius": 2 }));
    assert_eq!(guarded["calls"][4]["isError"], true);
}

#[test]
fn typescript_v1_reads_json_answers_only_through_the_guard() {
    reads_everything_through_the_guard(&[]);
}

#[test]
fn typescript_v1_reads_event_streams_only_through_the_guard() {
    reads_everything_through_the_guard(&["--sse"]);
}

#[test]
fn headers_pass_and_unseen_tools_are_fetched() {
    let (_server, port) = bare(&[]);
    let (_guard, port) = guard(port, &[]);
    let head = format!(
        "{POST}\r\nauthorization: Bearer t\r\nmcp-method: tools/call\r\nmcp-name: count\r\nmcp-param-a: x"
    );
    let answer = ask(port, &head, &call(1, "count", &json!({})));
    assert!(answer.contains("x-seen: Bearer t 2025-11-25 tools/call count x\r\n"), "{answer}");
    assert!(answer.contains("mcp-session-id: session-1\r\n"));
    assert!(answer.contains(r#""structuredContent":{"result":42}"#));
    let refused = ask(port, &head, &call(2, "ranged", &json!({ "n": 11 })));
    assert!(refused.starts_with("HTTP/1.1 200") && refused.contains("expected a number ≤ 10"));
    // From 2026-07-28 on the value travels as it is.
    let natural = head.replace("2025-11-25", "2026-07-28");
    assert!(
        ask(port, &natural, &call(3, "count", &json!({}))).contains(r#""structuredContent":42"#)
    );
}

#[test]
fn events_pass_byte_for_byte_and_as_they_come() {
    let (_server, port) = bare(&["--sse"]);
    let (_guard, port) = guard(port, &[]);
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    write!(stream, "GET /mcp HTTP/1.1\r\nhost: localhost\r\n\r\n").unwrap();
    // The server keeps this stream open: what comes, comes without its end.
    let event = "id: 1\ndata: {\"jsonrpc\":\"2.0\",  \"method\":\"notifications/message\"}\n\n";
    let mut seen = String::new();
    let mut buffer = [0; 1024];
    while !seen.contains(event) {
        let count = stream.read(&mut buffer).unwrap();
        assert!(count > 0, "{seen}");
        seen.push_str(std::str::from_utf8(&buffer[..count]).unwrap());
    }
    assert!(ask(port, "DELETE /mcp HTTP/1.1", "").starts_with("HTTP/1.1 204"));
}

#[test]
fn strangers_and_broken_requests_are_refused() {
    let (_server, port) = bare(&[]);
    let (_guard, port) = guard(port, &["--max-message", "1000", "--allow-host", "tools.example"]);
    let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
    let status =
        |head: &str, body: &str| ask(port, head, body).split(' ').nth(1).unwrap().to_owned();
    assert_eq!(status(POST, ping), "200");
    assert_eq!(status(&format!("{POST}\r\nhost: tools.example"), ping), "200");
    assert_eq!(status(&format!("{POST}\r\nhost: evil.example"), ping), "403");
    assert_eq!(status(&format!("{POST}\r\norigin: http://evil.example"), ping), "403");
    assert_eq!(status(POST, "no message"), "400");
    assert_eq!(status(POST, &format!("{{\"x\":\"{}\"}}", "y".repeat(2000))), "413");
}

#[test]
fn a_server_that_is_down_is_reported_for_each_request() {
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (_guard, port) = guard(free, &[]);
    let answer = ask(port, POST, r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#);
    assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
    assert!(answer.contains("could not reach the server") && answer.contains(r#""id":1,"#));
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    let answer = ask(port, POST, notification);
    assert!(answer.starts_with("HTTP/1.1 502") && answer.contains(r#""id":null"#), "{answer}");
}

#[test]
fn the_rest_of_a_batch_goes_on_beside_a_refused_call() {
    for options in [&[][..], &["--sse"]] {
        let (_server, port) = bare(options);
        let (_guard, port) = guard(port, &[]);
        let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        let (good, bad) = (call(1, "count", &json!({})), call(2, "ranged", &json!({ "n": 11 })));
        let answer = ask(port, POST, &format!("[{good},{bad},{initialized}]"));
        assert!(answer.contains(r#""structuredContent":{"result":42}"#), "{answer}");
        assert!(answer.contains("expected a number ≤ 10"), "{answer}");
        // Nothing else wants an answer.
        let answer = ask(port, POST, &format!("[{bad},{initialized}]"));
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let body = answer.split("\r\n\r\n").nth(1).unwrap();
        let body: Value = serde_json::from_str(body).unwrap();
        assert_eq!(body[0]["id"], 2);
        assert_eq!(body.as_array().unwrap().len(), 1);
    }
}

/// The findings about the tools of a server on HTTP.
fn judged(url: &str, options: &[&str]) -> (Option<i32>, String, String) {
    let output = toolbond(&["lint", "--policy", "filter", "--format", "json", url])
        .args(options)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn judges_a_live_server_of_either_era() {
    for options in [&["--bad", "--paged"][..], &["--bad", "--sse"], &["--bad", "--natural"]] {
        let (_server, port) = bare(options);
        let (code, out, err) = judged(&format!("http://127.0.0.1:{port}/mcp"), &[]);
        assert_eq!((code, err.as_str()), (Some(1), ""), "{options:?}");
        let findings: Value = serde_json::from_str(&out).unwrap();
        let dropped: Vec<_> = findings["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|finding| finding["action"] == "tool-dropped")
            .map(|finding| finding["tool"].as_str().unwrap())
            .collect();
        assert_eq!(dropped, ["no_input"], "{options:?}");
        let ended = ask(port, "GET /ended HTTP/1.1", "");
        let natural = options.contains(&"--natural");
        assert!(ended.ends_with(if natural { "0" } else { "1" }), "{ended}");
    }
}

#[test]
fn a_live_server_that_refuses_is_told_in_one_line() {
    let (_server, port) = bare(&["--locked"]);
    let url = format!("http://127.0.0.1:{port}/mcp");
    let (code, _, err) = judged(&url, &[]);
    assert_eq!(code, Some(2));
    assert!(err.contains("401") && err.lines().count() == 1, "{err}");
    let only_errors = ["--select", "tool-list", "--header", "Authorization: Bearer key"];
    assert_eq!(judged(&url, &only_errors).0, Some(0));
    let free = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
    let (code, _, err) = judged(&format!("http://127.0.0.1:{free}/mcp"), &[]);
    assert_eq!(code, Some(2));
    assert!(err.contains("could not reach the server") && err.lines().count() == 1, "{err}");
}

#[test]
fn a_port_in_use_is_said_in_one_line() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let upstream = "http://127.0.0.1:9/mcp";
    let output =
        toolbond(&["guard", "--listen", &address, "--upstream", upstream]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with(&format!("error: cannot listen on {address}: ")), "{said}");
    assert_eq!(said.lines().count(), 1);
}
