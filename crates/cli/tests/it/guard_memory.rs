//! Whatever is held of messages that never end is counted, and stays within the memory limit.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};

use serde_json::json;
use toolbond_harness::guard::{ENFORCE, Talk, in_front_of};
use toolbond_harness::http::{Connection, HttpServer, Reply, Request, ask};
use toolbond_harness::mcp::{call, initialize, modern, post};
use toolbond_harness::process::Process;
use toolbond_harness::wait::wait_until;

/// The limit, of which messages get a half, and what is sent of each message.
const LIMIT: u64 = 8 << 20;
const PART: usize = 3 << 20;

/// The clients that ask at the same time: their messages are three times the limit.
const CLIENTS: usize = 8;

const OPTIONS: [&str; 4] = ["--max-memory", "8388608", "--status", "127.0.0.1:0"];

/// The bytes of messages that the guard says it holds.
pub(crate) fn held(status: u16) -> u64 {
    let metrics = ask(status, "GET /metrics HTTP/1.1", "");
    let value = metrics
        .lines()
        .find_map(|line| line.strip_prefix("toolbond_memory_bytes{of=\"messages\"} "));
    value.unwrap_or_else(|| panic!("{metrics}")).trim().parse().unwrap()
}

/// What the server leaves unfinished.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Endless {
    List,
    Answer,
    Event,
}

/// A server of 2025-11-25 that sends parts of messages and then nothing, and how often it has done so.
fn server(endless: Endless) -> (HttpServer, Arc<AtomicUsize>) {
    let begun = Arc::new(AtomicUsize::new(0));
    let count = Arc::clone(&begun);
    let half = move |reply: &mut Reply<'_>, head: &str, start: &str| {
        let body = format!("{start}{}", "x".repeat(PART));
        reply.raw(format!("HTTP/1.1 200 OK\r\n{head}\r\n\r\n").as_bytes())?;
        count.fetch_add(1, SeqCst);
        reply.raw(body.as_bytes())?;
        reply.hang();
        Ok(())
    };
    let json_head = "content-type: application/json\r\ncontent-length: 4000000";
    let event_head = "content-type: text/event-stream";
    let server = HttpServer::start(move |request: &Request, reply: &mut Reply<'_>| {
        let message = request.message();
        match message["method"].as_str() {
            Some("initialize") => {
                let server = json!({ "name": "endless", "version": "1" });
                let result = json!({
                    "protocolVersion": "2025-11-25", "capabilities": { "tools": {} }, "serverInfo": server,
                });
                reply.result(request, &result)
            }
            Some("tools/list") if endless == Endless::List => {
                half(reply, json_head, "{\"result\":\"")
            }
            Some("tools/list") => {
                let tool = json!({ "name": "endless", "inputSchema": { "type": "object" } });
                reply.result(request, &json!({ "tools": [tool] }))
            }
            Some("tools/call") if endless == Endless::Event => {
                half(reply, event_head, "data: {\"a\":\"")
            }
            Some("tools/call") => half(reply, json_head, "{\"result\":\""),
            Some(method) if method.starts_with("notifications/") => {
                reply.send("202 Accepted", "", "")
            }
            _ => {
                let error = json!({ "code": -32601, "message": "method not found" });
                let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
                reply.send("400 Bad Request", "content-type: application/json", answer.to_string())
            }
        }
    });
    (server, begun)
}

/// A guard in front of `server`, and its port.
fn guard(server: &HttpServer) -> (Process, u16) {
    let (guard, _) = in_front_of(server.port, &[&ENFORCE[..], &OPTIONS].concat());
    let port = guard.port("listening on");
    (guard, port)
}

/// Waits until the server has sent all parts, and checks that what the guard holds of them is counted and bounded.
fn is_counted(guard: &Process, begun: &AtomicUsize) {
    let status = guard.port("status on");
    // A part of what is sent waits in the buffers of the system, with the sender.
    wait_until("the guard holds as much as it may", || held(status) > LIMIT / 4);
    wait_until("the server has begun all answers", || begun.load(SeqCst) == CLIENTS);
    // One message may take more than its half, while it is alone.
    let held = held(status);
    assert!(held <= LIMIT, "{held} bytes");
}

/// Clients with credentials of their own, each of which calls a tool of the server.
fn callers(port: u16, head: &str, body: &str) -> Vec<Connection> {
    (0..CLIENTS)
        .map(|n| {
            let head = format!("{head}\r\nauthorization: {n}");
            Connection::open(port, &head, body.as_bytes())
        })
        .collect()
}

#[test]
fn unfinished_answers_to_the_guards_own_lists_are_counted() {
    let (server, begun) = server(Endless::List);
    let (guard, port) = guard(&server);
    let head = post("/mcp", "\r\nmcp-protocol-version: 2025-11-25");
    let _callers = callers(port, &head, &call(1, "endless", &json!({})));
    is_counted(&guard, &begun);
}

#[test]
fn unfinished_events_are_counted() {
    let (server, begun) = server(Endless::Event);
    let (guard, port) = guard(&server);
    let head = post("/mcp", "\r\nmcp-protocol-version: 2025-11-25");
    let _callers = callers(port, &head, &call(1, "endless", &json!({})));
    is_counted(&guard, &begun);
}

#[test]
fn unfinished_answers_to_bridged_calls_are_counted() {
    for endless in [Endless::Answer, Endless::Event] {
        let (server, begun) = server(endless);
        let (guard, port) = guard(&server);
        let (head, body) = modern("/mcp", &call(1, "endless", &json!({})));
        let _callers = callers(port, &head, &body);
        is_counted(&guard, &begun);
    }
}

#[test]
fn unfinished_lines_are_counted() {
    let part = PART / 3;
    let script = format!("head -c {part} /dev/zero | tr '\\0' a; exec sleep 1000");
    let mut talk = Talk::start(&[&ENFORCE[..], &OPTIONS].concat(), &["sh", "-c", &script]);
    let status = talk.guard.port("status on");
    wait_until("the line is counted", || held(status) >= part as u64);
    // So is what the client has not finished.
    let line = initialize("2025-11-25", &json!({ "a": "x".repeat(100_000) }));
    let before = held(status);
    let input = talk.input.as_mut().unwrap();
    input.write_all(&line.as_bytes()[..100_000]).unwrap();
    input.flush().unwrap();
    wait_until("the line of the client is counted", || held(status) >= before + 65_536);
    assert!(held(status) <= LIMIT / 2 + 131_072);
}
