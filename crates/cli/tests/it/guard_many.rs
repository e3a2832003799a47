//! More clients at a time than a guard serves: those that are served get their answers, the others
//! are told, and nothing is left.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::process::{Command, Stdio};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::guard_config::modern;
use crate::guard_faults::{descriptors, kilobytes, wait_for_descriptors};
use crate::guard_http::{POST, Process, ask, port_and_log};
use crate::upstream::Upstream;

/// Longer than anything takes on a busy machine.
const HANG: Duration = Duration::from_secs(120);

/// A guard that may open so many files, its port, and what it says until it ends.
fn guard(files: usize, arguments: &[&str]) -> (Process, u16, JoinHandle<String>) {
    let mut shell = Command::new("sh");
    shell.args(["-c", &format!("ulimit -n {files} && exec \"$0\" \"$@\"")]);
    shell.arg(env!("CARGO_BIN_EXE_toolbond")).args(["guard", "--listen", "127.0.0.1:0"]);
    shell.args(arguments).stderr(Stdio::piped());
    let mut process = Process(shell.spawn().unwrap());
    let (port, log) = port_and_log(&mut process);
    (process, port, log)
}

/// The connections that a guard serves which may open so many files.
fn served(files: usize) -> usize {
    ((files - 64) / 2).min(16_384)
}

/// A client that has asked.
struct Client(TcpStream);

impl Client {
    fn ask(port: u16, body: &str) -> Self {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(HANG)).unwrap();
        write(&mut stream, body);
        Self(stream)
    }

    /// The status and the message of the answer.
    fn answer(&mut self) -> (String, Value) {
        let mut bytes = Vec::new();
        let mut part = [0; 4096];
        loop {
            let count = self.0.read(&mut part).unwrap();
            bytes.extend_from_slice(&part[..count]);
            let text = String::from_utf8_lossy(&bytes);
            let (head, body) = text.split_once("\r\n\r\n").unwrap_or_default();
            if let Ok(message) = serde_json::from_str(body) {
                return (head.lines().next().unwrap().to_owned(), message);
            }
            assert!(count > 0, "no answer: {text}");
        }
    }
}

fn write(stream: &mut TcpStream, body: &str) {
    let (head, body) = modern("/mcp", body);
    // Without streams, which show that they are alive meanwhile.
    let head = head.replace(", text/event-stream", "\r\nhost: localhost");
    let length = body.len();
    stream
        .write_all(format!("{head}\r\ncontent-length: {length}\r\n\r\n{body}").as_bytes())
        .unwrap();
}

fn request(id: usize, method: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":{id},"method":"{method}"}}"#)
}

fn is_told(answer: &(String, Value), most: usize) -> bool {
    let (status, message) = answer;
    let text = message["error"]["message"].as_str().unwrap_or_default();
    status.contains("503") && text.starts_with(&format!("{most} connections are open"))
}

#[test]
fn a_client_too_many_is_told_and_the_next_is_served_when_another_has_left() {
    let upstream = Upstream::start();
    let url = format!("http://127.0.0.1:{}/mcp", upstream.port);
    let (guard, port, log) = guard(200, &["--upstream", &url]);
    let most = served(200);
    let mut kept = Client::ask(port, &request(1, "ping"));
    assert_eq!(kept.answer().1["result"], serde_json::json!({}));
    let hanging: Vec<_> = (1..most).map(|id| Client::ask(port, &request(id, "hang"))).collect();
    for _ in 0..3 {
        let mut refused = Client::ask(port, &request(1, "ping"));
        let answer = refused.answer();
        assert!(is_told(&answer, most), "{answer:?}");
    }
    write(&mut kept.0, &request(2, "ping"));
    assert_eq!(kept.answer().1["id"], 2, "who is served is served on");
    drop(hanging);
    for _ in 1..most {
        upstream.gone.recv_timeout(HANG).unwrap();
    }
    while !ask(port, POST, &request(3, "ping")).starts_with("HTTP/1.1 200") {}
    drop(guard);
    let log = log.join().unwrap();
    let said = format!("warning: {most} connections are open");
    assert_eq!(log.matches(&said).count(), 1, "{log}");
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
    let (guard, port, _) = guard(files, &["--", "node", "-e", HOLDER]);
    let mut kept = Client::ask(port, &request(0, "show"));
    assert_eq!(kept.answer().1["id"], 0);
    let idle = descriptors(&guard);
    let mut wave = |many: usize| {
        let mut beside = |method| {
            write(&mut kept.0, &request(0, method));
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
        let start = Instant::now();
        while descriptors(&guard) < idle + count.min(places) {
            assert!(start.elapsed() < HANG, "{} are open", descriptors(&guard));
        }
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
        wait_for_descriptors(&guard, idle + 2);
        kilobytes(&guard, "VmHWM")
    };
    // The most that was ever in use: what is in use now depends on when the allocator gives back.
    let peaks = [(); 4].map(|()| wave(MANY / 4));
    assert!(peaks[3] < peaks[0] + peaks[0] / 4, "peaks of four equal waves, in kB: {peaks:?}");
    wave(MANY);
}
