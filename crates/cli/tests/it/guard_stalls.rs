//! One client, whatever it sends, does not read or asks for, does not keep the others from being answered.

use std::fs;
use std::process::Stdio;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::thread;

use serde_json::{Value, json};
use toolbond_harness::guard::{ENFORCE, in_front_of, listening};
use toolbond_harness::http::{Connection, HttpServer, ask};
use toolbond_harness::mcp::{POST, ask_modern, modern, open};
use toolbond_harness::peers;
use toolbond_harness::process::Process;
use toolbond_harness::wait::wait_until;

use crate::recorder::Record;

/// The calls of another client that are answered while the guard works on a large message. A guard that works on it alone
/// answers the one that was under way.
const MEANWHILE: usize = 10;

fn count(id: usize) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"count","arguments":{{}}}}}}"#
    )
}

/// Fifteen mebibytes of small calls.
fn batch() -> String {
    let mut text = String::from("[");
    let mut id = 1;
    while text.len() < 15 << 20 {
        text.push_str(&count(id));
        text.push(',');
        id += 1;
    }
    text.pop();
    text + "]"
}

/// Another client, which makes one call after the other.
struct Other {
    answered: Arc<AtomicUsize>,
    stop: Arc<AtomicBool>,
    thread: Option<thread::JoinHandle<()>>,
}

impl Other {
    fn start(port: u16, head: String) -> Self {
        let (answered, stop) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        let (count_up, ends) = (Arc::clone(&answered), Arc::clone(&stop));
        let thread = thread::spawn(move || {
            while !ends.load(SeqCst) {
                let answer = ask(port, &head, &count(1));
                assert!(answer.contains("structuredContent"), "{answer}");
                count_up.fetch_add(1, SeqCst);
            }
        });
        wait_until("the first call is answered", || answered.load(SeqCst) > 0);
        Self { answered, stop, thread: Some(thread) }
    }

    fn answered(&self) -> usize {
        self.answered.load(SeqCst)
    }
}

impl Drop for Other {
    fn drop(&mut self) {
        self.stop.store(true, SeqCst);
        let ended = self.thread.take().unwrap().join();
        assert!(ended.is_ok() || thread::panicking(), "a call of the other client failed");
    }
}

/// Sends a large request and waits until `calls` of the other client are answered while it is under way; `is_over` tells
/// that the guard has done its work on it. A message that is refused is as good.
fn stalls_nobody(port: u16, head: &str, body: &str, other: &Other, is_over: impl Fn() -> bool) {
    // A guard that refuses it need not read all of it.
    let mut large =
        Connection::open(port, &format!("{head}\r\nconnection: close"), body.as_bytes());
    let sent = other.answered();
    let answer = thread::spawn(move || {
        let mut answer = large.rest();
        answer.truncate(2000);
        String::from_utf8_lossy(&answer).into_owned()
    });
    wait_until("the other client is answered", || {
        let is_over = is_over() || answer.is_finished();
        other.answered() - sent >= MEANWHILE || is_over
    });
    let meanwhile = other.answered() - sent;
    if meanwhile < MEANWHILE {
        let answer = answer.join().unwrap();
        assert!(is_refused(&answer), "{meanwhile} calls, then it was answered: {answer}");
    }
}

fn is_refused(answer: &str) -> bool {
    answer.starts_with("HTTP/1.1 4")
        || answer.starts_with("HTTP/1.1 5")
        || answer.contains("\"error\":")
}

/// A server on HTTP, and whether a batch has arrived there.
fn upstream() -> (u16, Arc<AtomicBool>) {
    let arrived = Arc::new(AtomicBool::new(false));
    let has_come = Arc::clone(&arrived);
    let server = HttpServer::start(move |request, reply| {
        if request.body.starts_with(b"[") {
            has_come.store(true, SeqCst);
            return reply.json(&json!([]));
        }
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
    });
    (server.port, arrived)
}

#[test]
fn a_large_batch_of_calls_over_http_stalls_nobody() {
    let (upstream, arrived) = upstream();
    let (_guard, port) = in_front_of(upstream, &ENFORCE);
    let other = Other::start(port, POST.to_owned());
    stalls_nobody(port, POST, &batch(), &other, || arrived.load(SeqCst));
}

#[test]
fn a_large_batch_of_answers_over_http_stalls_nobody() {
    let (upstream, _) = upstream();
    let (_guard, port) = in_front_of(upstream, &ENFORCE);
    let other = Other::start(port, POST.to_owned());
    for tool in ["large", "events"] {
        let call = count(7).replace("\"count\"", &format!("\"{tool}\""));
        stalls_nobody(port, POST, &call, &other, || false);
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
fn a_large_batch_of_calls_to_a_process_stalls_nobody() {
    let slow = Slow::start();
    let (one, two) = (open(slow.port, "/mcp"), open(slow.port, "/mcp"));
    let other = Other::start(slow.port, two);
    stalls_nobody(slow.port, &one, &batch(), &other, || false);
}

#[test]
fn a_large_batch_of_answers_of_a_process_stalls_nobody() {
    let slow = Slow::start();
    let (one, two) = (open(slow.port, "/mcp"), open(slow.port, "/mcp"));
    let other = Other::start(slow.port, two);
    let call = r#"{"jsonrpc":"2.0","id":7,"method":"large"}"#;
    stalls_nobody(slow.port, &one, call, &other, || false);
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
