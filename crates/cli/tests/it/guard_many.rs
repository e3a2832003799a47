//! More clients at a time than a guard serves: those that are served get their answers, the others
//! are told, and nothing is left.

use std::io::Read as _;
use std::process::Command;

use serde_json::{Value, json};
use toolbond_harness::http::{Connection, ask};
use toolbond_harness::mcp::{POST, modern, request, url};
use toolbond_harness::peers;
use toolbond_harness::process::{Process, program};
use toolbond_harness::upstream::Upstream;
use toolbond_harness::wait::wait_until;

/// A guard that may open so many files, and its port.
fn guard(files: usize, arguments: &[&str]) -> (Process, u16) {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -n {files} && exec \"$0\" \"$@\"")]);
    shell
        .arg(program())
        .args(["guard", "--results-file", "none", "--listen", "127.0.0.1:0"])
        .args(arguments);
    Process::listening(shell)
}

/// The connections that a guard serves which may open so many files.
fn served(files: usize) -> usize {
    ((files - 64) / 2).min(16_384)
}

/// A client that has asked.
struct Client(Connection);

/// The head and the body of a request without streams, which show that they are alive meanwhile.
fn plain(body: &str) -> (String, String) {
    let (head, body) = modern("/mcp", body);
    (head.replace(", text/event-stream", ""), body)
}

impl Client {
    fn ask(port: u16, body: &str) -> Self {
        let (head, body) = plain(body);
        Self(Connection::open(port, &head, body.as_bytes()))
    }

    fn ask_again(&mut self, body: &str) {
        let (head, body) = plain(body);
        let length = body.len();
        let text = format!("{head}\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{body}");
        self.0.write(text.as_bytes()).unwrap();
    }

    /// The status and the message of the answer.
    fn answer(&mut self) -> (String, Value) {
        let status = self.0.line();
        let length = self.0.wait_for("content-length:");
        let length = length["content-length:".len()..].trim().parse().unwrap();
        while !self.0.line().trim_end().is_empty() {}
        let mut body = vec![0; length];
        self.0.reader.read_exact(&mut body).unwrap();
        (status, serde_json::from_slice(&body).unwrap())
    }
}

fn is_told(answer: &(String, Value), most: usize) -> bool {
    let (status, message) = answer;
    let text = message["error"]["message"].as_str().unwrap_or_default();
    status.contains("503") && text.starts_with(&format!("{most} connections are open"))
}

#[test]
fn a_client_too_many_is_told_and_the_next_is_served_when_another_has_left() {
    let upstream = Upstream::start();
    let (guard, port) = guard(200, &["--upstream", &url(upstream.port)]);
    let most = served(200);
    let mut kept = Client::ask(port, &request(1, "ping"));
    assert_eq!(kept.answer().1["result"], json!({}));
    let hanging: Vec<_> = (1..most).map(|id| Client::ask(port, &request(id, "hang"))).collect();
    for _ in 0..3 {
        let mut refused = Client::ask(port, &request(1, "ping"));
        let answer = refused.answer();
        assert!(is_told(&answer, most), "{answer:?}");
    }
    kept.ask_again(&request(2, "ping"));
    assert_eq!(kept.answer().1["id"], 2, "who is served is served on");
    drop(hanging);
    upstream.wait_until_gone(most - 1);
    wait_until("another one is served", || {
        ask(port, POST, &request(3, "ping")).starts_with("HTTP/1.1 200")
    });
    let log = guard.log().clone();
    drop(guard);
    log.all();
    assert_eq!(log.count(&format!("warning: {most} connections are open")), 1);
}

/// Answers what it was asked to hold when it is asked to release it, and from then on at once, until
/// it is asked to keep.
const HOLDER: &str = r#"
const held = [];
let holds = true;
const say = (id) => process.stdout.write(JSON.stringify({ jsonrpc: "2.0", id, result: {} }) + "\n");
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  if (method === "hold" && holds) return held.push(id);
  if (method === "keep") holds = true;
  if (method === "release") {
    holds = false;
    held.splice(0).forEach(say);
  }
  if (id !== undefined) say(id);
});
"#;

#[test]
fn ten_thousand_open_requests_are_answered_or_refused_and_leave_nothing() {
    const MANY: usize = 10_000;
    let limit = Command::new("sh").args(["-c", "ulimit -n"]).output().unwrap();
    let limit = String::from_utf8(limit.stdout).unwrap();
    let files: usize = limit.trim().parse().unwrap_or(1 << 20);
    // One of those that are served is kept for what is said beside.
    let places = served(files) - 1;
    let (guard, port) = guard(files, &["--", &peers::node(), "-e", HOLDER]);
    let mut kept = Client::ask(port, &request(0, "show"));
    assert_eq!(kept.answer().1["id"], 0);
    let idle = guard.descriptors();
    let mut wave = |many: usize| {
        let mut beside = |method| {
            kept.ask_again(&request(0, method));
            assert_eq!(kept.answer().1["id"], 0);
        };
        beside("keep");
        let count = many.min(places + 16);
        let mut clients = Vec::new();
        for id in 1..=count {
            clients.push(Client::ask(port, &request(id, "hold")));
            // A connection that is not used for long is closed.
            if id.is_multiple_of(500) {
                beside("show");
            }
        }
        let open = idle + count.min(places);
        wait_until("all are open", || guard.descriptors() >= open);
        beside("release");
        let mut refused = 0;
        for (place, client) in clients.iter_mut().enumerate() {
            let answer = client.answer();
            if is_told(&answer, places + 1) {
                refused += 1;
            } else {
                assert!(answer.0.contains("200"), "{answer:?}");
                assert_eq!(answer.1["id"], place + 1);
            }
        }
        assert_eq!(refused, count.saturating_sub(places));
        drop(clients);
        guard.wait_for_descriptors(idle + 2);
    };
    wave(MANY / 4);
    wave(MANY);
}
