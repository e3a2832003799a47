//! One client, whatever it sends, does not read or asks for, does not keep the others from being answered.

use std::fs;
use std::process::Stdio;

use serde_json::{Value, json};
use toolbond_harness::guard::{ENFORCE, in_front_of, listening};
use toolbond_harness::http::{Connection, HttpServer, ask};
use toolbond_harness::mcp::{POST, ask_modern, call, modern, open, request};
use toolbond_harness::peers;
use toolbond_harness::process::Process;
use toolbond_harness::wait::wait_until;

use crate::recorder::Record;

fn count(id: u32) -> String {
    call(id, "count", &json!({}))
}

/// Fifteen mebibytes of small calls.
fn batch() -> String {
    let call = count(1) + ",";
    let calls = call.repeat((15 << 20) / call.len());
    format!("[{}]", calls.trim_end_matches(','))
}

/// Sends a request that is large, or has a large answer. It is refused, and a call of another client is answered.
#[track_caller]
fn is_refused_alone(port: u16, head: &str, body: &str, other: &str) {
    let head = format!("{head}\r\nconnection: close");
    let mut large = Connection::open(port, &head, body.as_bytes());
    let answer = ask(port, other, &count(1));
    assert!(answer.contains("structuredContent"), "{answer}");
    let mut answer = large.rest();
    answer.truncate(2000);
    let answer = String::from_utf8_lossy(&answer);
    let is_refused = answer.contains("\"error\":") && !answer.contains("structuredContent");
    assert!(is_refused, "{answer}");
}

/// A server on HTTP with tools that answer a call with many results.
fn upstream() -> HttpServer {
    HttpServer::start(move |request, reply| {
        let message = request.message();
        if message["method"] == "tools/list" {
            let schema = json!({ "type": "object" });
            let tools = ["count", "large", "events"].map(|name| {
                json!({ "name": name, "inputSchema": schema, "outputSchema": { "type": "integer" } })
            });
            return reply.result(request, &json!({ "tools": tools }));
        }
        let result =
            json!({ "content": [{ "type": "text", "text": "42" }], "structuredContent": 42 });
        let one = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result }).to_string();
        let many = || format!("[{}]", vec![&one[..]; (14 << 20) / one.len()].join(","));
        match message["params"]["name"].as_str() {
            Some("large") => reply.send("200 OK", "content-type: application/json", many()),
            Some("events") => {
                let event = format!("data: {}\n\n", many());
                reply.send("200 OK", "content-type: text/event-stream", event)
            }
            _ => reply.result(request, &result),
        }
    })
}

#[test]
fn a_large_batch_over_http_is_refused_and_holds_up_nobody() {
    let (_guard, port) = in_front_of(upstream().port, &ENFORCE);
    is_refused_alone(port, POST, &batch(), POST);
    for tool in ["large", "events"] {
        is_refused_alone(port, POST, &call(7, tool, &json!({})), POST);
    }
}

/// A guard in front of `slow.py`.
struct Slow {
    guard: Process,
    port: u16,
    record: Record,
    gate: String,
}

impl Slow {
    fn start() -> Self {
        let record = Record::new();
        let gate = record.beside("gate");
        let server = peers::words("servers/slow.py");
        let server = server.iter().map(String::as_str);
        let words = ENFORCE.into_iter().chain(["--"]).chain(server).chain([record.path(), &gate]);
        let (guard, port) = listening(&words.collect::<Vec<_>>());
        Self { guard, port, record, gate }
    }

    /// The ids of the messages that the process read with this method.
    fn read(&self, method: &str) -> Vec<Value> {
        let lines = self.record.arguments();
        let lines = lines.into_iter().filter(|line| line[0] == method);
        lines.map(|line| line[1].clone()).collect()
    }
}

#[test]
fn a_large_batch_of_a_client_or_a_process_is_refused_and_holds_up_nobody() {
    let slow = Slow::start();
    let (one, two) = (open(slow.port, "/mcp"), open(slow.port, "/mcp"));
    for body in [batch(), request(7, "large")] {
        is_refused_alone(slow.port, &one, &body, &two);
    }
}

#[test]
fn a_request_that_is_given_up_is_cancelled_though_the_process_did_not_read() {
    let slow = Slow::start();
    let (head, wait) = modern("/mcp", r#"{"jsonrpc":"2.0","id":1,"method":"wait"}"#);
    let _waiting = Connection::open(slow.port, &head, wait.as_bytes());
    wait_until("the process does not read", || !slow.read("wait").is_empty());
    let before = slow.guard.descriptors();
    // More than fits into its standard input.
    let pad = "x".repeat(8000);
    let request =
        format!(r#"{{"jsonrpc":"2.0","id":2,"method":"never","params":{{"pad":"{pad}"}}}}"#);
    let (head, request) = modern("/mcp", &request);
    let open = || Connection::open(slow.port, &head, request.as_bytes());
    let clients: Vec<_> = (0..200).map(|_| open()).collect();
    wait_until("the guard has all of them", || slow.guard.descriptors() >= before + clients.len());
    // It reads them in turn with those that come later.
    for _ in 0..20 {
        assert!(ask(slow.port, "GET /nothing HTTP/1.1", "").starts_with("HTTP/1.1 404"));
    }
    drop(clients);
    slow.guard.wait_for_descriptors(before);
    fs::write(&slow.gate, "").unwrap();
    let ping = ask_modern(slow.port, "/mcp", r#"{"jsonrpc":"2.0","id":3,"method":"show"}"#);
    assert!(ping.starts_with("HTTP/1.1 200"), "{ping}");
    let left = || {
        let cancelled = slow.read("notifications/cancelled");
        let read = slow.read("never");
        assert!(!read.is_empty(), "no request reached the process");
        read.into_iter().filter(|id| !cancelled.contains(id)).count()
    };
    wait_until("the requests are cancelled", || left() == 0);
}

#[test]
fn clients_that_do_not_read_hold_up_no_other_client_of_their_process() {
    let slow = Slow::start();
    // Together they would hold up the others for longer than a test waits.
    let mut clients = peers::command("clients/unread.py");
    clients.args([&slow.port.to_string(), "35"]);
    clients.stdin(Stdio::piped()).stdout(Stdio::null());
    let _clients = Process::start(clients);
    wait_until("the process floods", || !slow.read("flood").is_empty());
    // Without streams, which show that they are alive meanwhile.
    for id in 1000..1020 {
        let ping = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"show"}}"#);
        let (head, ping) = modern("/mcp", &ping);
        let answer = ask(slow.port, &head.replace(", text/event-stream", ""), &ping);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}
