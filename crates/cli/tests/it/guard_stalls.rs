//! One client, whatever it sends, does not read or asks for, does not keep the others from being answered.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::SeqCst};
use std::sync::{Arc, OnceLock};
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use toolbond_harness::peers;

use crate::guard_config::{ask_modern, modern, open, settles};
use crate::guard_http::{Process, ask, guard};
use crate::recorder::{ENFORCE, HANG, Record, command, guard_words, listening};

/// The calls of another client that are answered meanwhile.
const MEANWHILE: usize = 200;

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
        settles("the first call is answered", || answered.load(SeqCst) > 0);
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

/// What came of a large message.
enum Large {
    /// It was answered with this, as far as it was read.
    Answered(String),
    /// So many calls of the other client were answered while it was under way.
    Meanwhile(usize),
}

impl Large {
    /// Sends a request, and waits until it is answered, enough calls of the other client are, or `over` tells how many
    /// were when it was too late.
    fn send(
        port: u16,
        head: &str,
        body: &str,
        other: &Other,
        over: impl Fn() -> Option<usize>,
    ) -> Self {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(2 * HANG)).unwrap();
        let length = body.len();
        let head = format!(
            "{head}\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n\r\n"
        );
        // A guard that refuses it need not read all of it.
        let _ = stream.write_all(&[head.as_bytes(), body.as_bytes()].concat());
        let sent = other.answered();
        let reader = thread::spawn(move || {
            let mut answer = Vec::new();
            let _ = stream.read_to_end(&mut answer);
            answer.truncate(2000);
            String::from_utf8_lossy(&answer).into_owned()
        });
        loop {
            let (end, meanwhile) = (over(), other.answered() - sent);
            if let Some(end) = end {
                return Self::Meanwhile(end.saturating_sub(sent));
            }
            if meanwhile >= MEANWHILE {
                return Self::Meanwhile(meanwhile);
            }
            if reader.is_finished() {
                return Self::Answered(reader.join().unwrap());
            }
            thread::sleep(Duration::from_millis(1));
        }
    }

    /// It was refused, or the other client did not wait for it.
    fn stalls_nobody(&self) {
        match self {
            Self::Answered(answer) => assert!(is_refused(answer), "answered first: {answer}"),
            Self::Meanwhile(calls) => assert!(*calls >= MEANWHILE, "{calls} calls meanwhile"),
        }
    }
}

fn is_refused(answer: &str) -> bool {
    answer.starts_with("HTTP/1.1 4")
        || answer.starts_with("HTTP/1.1 5")
        || answer.contains("\"error\":")
}

/// A server on HTTP, and how many calls of the other client were answered when a batch arrived.
struct Upstream {
    port: u16,
    arrived: Arc<AtomicUsize>,
    answered: Arc<OnceLock<Arc<AtomicUsize>>>,
}

impl Upstream {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let upstream = Self { port, arrived: Arc::default(), answered: Arc::default() };
        let (arrived, answered) = (Arc::clone(&upstream.arrived), Arc::clone(&upstream.answered));
        thread::spawn(move || {
            for stream in listener.incoming() {
                let stamps = (Arc::clone(&arrived), Arc::clone(&answered));
                // A client that breaks off is no failure of the test.
                thread::spawn(move || drop(serve(stream.unwrap(), &stamps)));
            }
        });
        upstream
    }
}

type Stamps = (Arc<AtomicUsize>, Arc<OnceLock<Arc<AtomicUsize>>>);

fn serve(mut stream: TcpStream, (arrived, answered): &Stamps) -> std::io::Result<()> {
    let now = || answered.get().map_or(0, |answered| answered.load(SeqCst));
    let mut reader = BufReader::new(stream.try_clone()?);
    loop {
        let mut length = 0;
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            if line == "\r\n" {
                break;
            }
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let mut kind = "application/json";
        let text = if body.starts_with(b"[") {
            arrived.store(now(), SeqCst);
            "[]".to_owned()
        } else {
            let message: Value = serde_json::from_slice(&body).unwrap_or_default();
            let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": {
                "content": [{ "type": "text", "text": "42" }], "structuredContent": 42 } });
            match message["method"].as_str() {
                Some("tools/list") => json!({ "jsonrpc": "2.0", "id": message["id"], "result": { "tools": [
                    { "name": "count", "inputSchema": { "type": "object" }, "outputSchema": { "type": "integer" } },
                    { "name": "large", "inputSchema": { "type": "object" }, "outputSchema": { "type": "integer" } },
                    { "name": "events", "inputSchema": { "type": "object" }, "outputSchema": { "type": "integer" } },
                ] } }).to_string(),
                _ => match message["params"]["name"].as_str() {
                    Some(name @ ("large" | "events")) => {
                        let one = answer.to_string();
                        let many = vec![&one[..]; (14 << 20) / one.len()].join(",");
                        if name == "events" {
                            kind = "text/event-stream";
                            format!("data: [{many}]\n\n")
                        } else {
                            format!("[{many}]")
                        }
                    }
                    _ => answer.to_string(),
                },
            }
        };
        write!(
            stream,
            "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\ncontent-length: {}\r\n\r\n",
            text.len()
        )?;
        stream.write_all(text.as_bytes())?;
    }
}

const HEAD: &str = "POST /mcp HTTP/1.1\r\nmcp-protocol-version: 2025-11-25\r\naccept: application/json, text/event-stream";

#[test]
fn a_large_batch_of_calls_over_http_stalls_nobody() {
    let upstream = Upstream::start();
    let (_guard, port) = guard(upstream.port, &ENFORCE);
    let other = Other::start(port, HEAD.to_owned());
    upstream.answered.set(Arc::clone(&other.answered)).unwrap();
    let arrived = || Some(upstream.arrived.load(SeqCst)).filter(|arrived| *arrived > 0);
    Large::send(port, HEAD, &batch(), &other, arrived).stalls_nobody();
}

#[test]
fn a_large_batch_of_answers_over_http_stalls_nobody() {
    let upstream = Upstream::start();
    let (_guard, port) = guard(upstream.port, &ENFORCE);
    let other = Other::start(port, HEAD.to_owned());
    upstream.answered.set(Arc::clone(&other.answered)).unwrap();
    for tool in ["large", "events"] {
        let call = count(7).replace("\"count\"", &format!("\"{tool}\""));
        Large::send(port, HEAD, &call, &other, || None).stalls_nobody();
    }
}

/// A guard in front of `slow.py`.
struct Slow {
    _guard: Process,
    port: u16,
    record: Record,
    gate: Record,
}

impl Slow {
    fn start() -> Self {
        let (record, gate) = (Record::new(), Record::new());
        let server = peers::words("servers/slow.py");
        let guard = guard_words(&["--listen", "127.0.0.1:0"]);
        let files = [record.path(), gate.path()].map(str::to_owned);
        let words = [&guard[..], &["--".to_owned()], &server, &files].concat();
        let (guard, port) = listening(command(&words), true);
        Self { _guard: guard, port, record, gate }
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
    Large::send(slow.port, &one, &batch(), &other, || None).stalls_nobody();
}

#[test]
fn a_large_batch_of_answers_of_a_process_stalls_nobody() {
    let slow = Slow::start();
    let (one, two) = (open(slow.port, "/mcp"), open(slow.port, "/mcp"));
    let other = Other::start(slow.port, two);
    let call = r#"{"jsonrpc":"2.0","id":7,"method":"large"}"#;
    Large::send(slow.port, &one, call, &other, || None).stalls_nobody();
}

/// Sends a request and does not read the answer.
fn posts(port: u16, head: &str, body: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let length = body.len();
    write!(stream, "{head}\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{body}").unwrap();
    stream
}

#[test]
fn a_request_that_is_given_up_is_cancelled_though_the_process_did_not_read() {
    let slow = Slow::start();
    let (head, wait) = modern("/mcp", r#"{"jsonrpc":"2.0","id":1,"method":"wait"}"#);
    let _waiting = posts(slow.port, &head, &wait);
    settles("the process does not read", || !slow.read("wait").is_empty());
    // More than fits into its standard input.
    let pad = "x".repeat(8000);
    let request =
        format!(r#"{{"jsonrpc":"2.0","id":2,"method":"never","params":{{"pad":"{pad}"}}}}"#);
    let (head, request) = modern("/mcp", &request);
    let clients: Vec<_> = (0..200).map(|_| posts(slow.port, &head, &request)).collect();
    // Until the guard has taken some of them.
    thread::sleep(Duration::from_millis(500));
    drop(clients);
    thread::sleep(Duration::from_millis(500));
    fs::write(&slow.gate.0, "").unwrap();
    let ping = ask_modern(slow.port, "/mcp", r#"{"jsonrpc":"2.0","id":3,"method":"show"}"#);
    assert!(ping.starts_with("HTTP/1.1 200"), "{ping}");
    let left = || {
        let cancelled = slow.read("notifications/cancelled");
        let read = slow.read("never");
        assert!(!read.is_empty(), "no request reached the process");
        read.into_iter().filter(|id| !cancelled.contains(id)).count()
    };
    settles(&format!("{} requests are cancelled", left()), || left() == 0);
}

#[test]
fn clients_that_do_not_read_hold_up_no_other_client_of_their_process() {
    let slow = Slow::start();
    // Together they would hold up the others for longer than a test waits.
    let (program, port) = (peers::words("clients/unread.py"), slow.port.to_string());
    let mut clients = command(&[&program[..], &[port, "35".to_owned()]].concat());
    let _clients = Process(clients.stdin(Stdio::piped()).stdout(Stdio::null()).spawn().unwrap());
    settles("the process floods", || !slow.read("flood").is_empty());
    // Without streams, which show that they are alive meanwhile.
    for id in 1000..1020 {
        let ping = format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"show"}}"#);
        let (head, ping) = modern("/mcp", &ping);
        let answer = ask(slow.port, &head.replace(", text/event-stream", ""), &ping);
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    }
}
