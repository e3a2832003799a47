//! Whatever is held of messages that never end is counted, and stays within the memory limit.

use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::thread;

use serde_json::{Value, json};
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
    used(status, "messages")
}

/// The bytes that the guard says it uses for this.
fn used(status: u16, of: &str) -> u64 {
    let metrics = ask(status, "GET /metrics HTTP/1.1", "");
    let start = format!("toolbond_memory_bytes{{of=\"{of}\"}} ");
    let value = metrics.lines().find_map(|line| line.strip_prefix(&start));
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
    // One message may go beyond their half.
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
fn unfinished_answers_and_events_are_counted() {
    let body = call(1, "endless", &json!({}));
    let earlier = (post("/mcp", "\r\nmcp-protocol-version: 2025-11-25"), body.clone());
    let bridged = modern("/mcp", &body);
    for (endless, (head, body)) in [
        (Endless::List, &earlier),
        (Endless::Event, &earlier),
        (Endless::Answer, &bridged),
        (Endless::Event, &bridged),
    ] {
        let (server, begun) = server(endless);
        let (guard, port) = guard(&server);
        let _callers = callers(port, head, body);
        is_counted(&guard, &begun);
    }
}

/// A server whose list has the tool that `tool` makes, and how often it was asked for that.
fn listing(
    tool: impl Fn(&Request, &AtomicUsize) -> Value + Send + Sync + 'static,
) -> (HttpServer, Arc<AtomicUsize>) {
    let asked = Arc::new(AtomicUsize::new(0));
    let server = HttpServer::start({
        let asked = Arc::clone(&asked);
        move |request: &Request, reply: &mut Reply<'_>| {
            if request.message()["method"] != "tools/list" {
                return reply.result(request, &json!({ "content": [] }));
            }
            asked.fetch_add(1, SeqCst);
            let tool = tool(request, &asked);
            reply.result(request, &json!({ "tools": [tool] }))
        }
    });
    (server, asked)
}

#[test]
fn lists_do_not_wait_for_the_calls_that_wait_for_them() {
    let (server, _) = listing(|_, asked| {
        wait_until("both calls are held", || asked.load(SeqCst) == 2);
        // More than the calls leave.
        json!({ "name": "a", "description": "x".repeat(2_000_000), "inputSchema": { "type": "object" } })
    });
    let (_guard, port) = guard(&server);
    let calls = ["a", "b"].map(|who| {
        let head = post("/mcp", "\r\nmcp-protocol-version: 2025-11-25");
        let body = call(1, "a", &json!({ "text": "x".repeat(700_000) }));
        thread::spawn(move || ask(port, &format!("{head}\r\nauthorization: {who}"), &body))
    });
    for call in calls {
        let answer = call.join().unwrap();
        assert!(answer.contains(r#""content":[]"#), "{answer}");
    }
}

#[test]
fn tool_lists_of_many_callers_make_room_for_each_other() {
    let (server, asked) = listing(|request, _| {
        let who = request.header("authorization").unwrap();
        let property = |n| (format!("{who}{n}"), json!({ "type": "string" }));
        let properties: serde_json::Map<_, _> = (0..200).map(property).collect();
        json!({ "name": "a", "inputSchema": { "type": "object", "properties": properties } })
    });
    let (guard, port) = guard(&server);
    let status = guard.port("status on");
    let call_as = |who: &str, value: Value| {
        let head = post("/mcp", "\r\nmcp-protocol-version: 2025-11-25");
        let body = call(1, "a", &json!({ format!("{who}0"): value }));
        ask(port, &format!("{head}\r\nauthorization: {who}"), &body)
    };
    let callers = ["a", "b", "c", "d", "e", "f", "g", "h"];
    for who in callers {
        let answer = call_as(who, json!("text"));
        assert!(answer.contains(r#""content":[]"#), "{answer}");
    }
    let tools = used(status, "tools");
    assert!((LIMIT / 4..=LIMIT / 2).contains(&tools), "{tools}");
    assert_eq!(asked.load(SeqCst), callers.len());
    // What was used last is still known; what was forgotten is requested again before a call passes.
    assert!(call_as("h", json!(1)).contains("isError"));
    assert_eq!(asked.load(SeqCst), callers.len());
    assert!(call_as("a", json!(1)).contains("isError"));
    assert_eq!(asked.load(SeqCst), callers.len() + 1);
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
