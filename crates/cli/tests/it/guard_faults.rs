//! Servers and clients that break off, hang, flood and talk nonsense: nothing hangs, nothing is left,
//! and the others go on.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::process::Stdio;
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolbond_harness::peers;

use crate::command::toolbond;
use crate::guard_http::{POST, Process, ask, bare, call, guard};
use crate::upstream::{HUGE, Upstream};

/// Longer than anything takes on a busy machine.
const HANG: Duration = Duration::from_secs(60);

fn asking(method: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": 1, "method": method }).to_string()
}

/// A number of `/proc/PROCESS/status`, in kB.
pub(crate) fn kilobytes(process: &Process, what: &str) -> u64 {
    let status = fs::read_to_string(format!("/proc/{}/status", process.0.id())).unwrap();
    let line = status.lines().find(|line| line.starts_with(what)).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

/// The files and connections that a process has open.
pub(crate) fn descriptors(process: &Process) -> usize {
    fs::read_dir(format!("/proc/{}/fd", process.0.id())).unwrap().count()
}

/// Waits until a process has no more than `most` open.
pub(crate) fn wait_for_descriptors(process: &Process, most: usize) {
    let start = Instant::now();
    while descriptors(process) > most {
        assert!(start.elapsed() < HANG, "{} of {most} are open", descriptors(process));
        sleep(Duration::from_millis(20));
    }
}

#[test]
fn a_server_that_breaks_off_is_said_to_and_the_next_request_is_answered() {
    let upstream = Upstream::start();
    let (_guard, port) = guard(upstream.port, &[]);
    for method in ["close", "half", "garbage"] {
        let answer = ask(port, POST, &asking(method));
        // An answer that ends early is an error for its request alone.
        let status = if method == "half" { "HTTP/1.1 200" } else { "HTTP/1.1 502" };
        assert!(answer.starts_with(status), "{method}: {answer}");
        assert!(answer.contains("\"code\":-32603"), "{method}: {answer}");
        assert!(ask(port, POST, &asking("ping")).starts_with("HTTP/1.1 200"));
    }
    // What is no message is not for the guard to mend.
    assert!(ask(port, POST, &asking("no json")).ends_with("{broken"));
    // What came before it broke off has arrived, and the end of the answer has not.
    let broken = ask(port, POST, &asking("half stream"));
    assert!(broken.contains("notifications/a") && !broken.ends_with("0\r\n\r\n"), "{broken}");
}

#[test]
fn answers_beyond_the_limit_are_refused_in_bounded_memory() {
    let upstream = Upstream::start();
    let (guard, port) = guard(upstream.port, &["--max-message", "4000000"]);
    let answer = ask(port, POST, &asking("huge"));
    assert!(answer.contains("\"code\":-32603") && answer.contains("--max-message"), "{answer}");
    let stream = ask(port, POST, &asking("huge event"));
    assert!(stream.starts_with("HTTP/1.1 200") && !stream.ends_with("0\r\n\r\n"));
    assert!(stream.len() < 1000, "{} bytes", stream.len());
    let most = kilobytes(&guard, "VmHWM");
    assert!(most < 100_000, "{most} kB");
    assert!(ask(port, POST, &asking("ping")).starts_with("HTTP/1.1 200"));
}

#[test]
fn a_slow_server_holds_up_nobody_else_and_a_client_that_leaves_takes_its_request_along() {
    let upstream = Upstream::start();
    let (guard, port) = guard(upstream.port, &[]);
    assert!(ask(port, POST, &asking("ping")).starts_with("HTTP/1.1 200"));
    let idle = descriptors(&guard);
    for (head, method) in [(POST, "hang"), (POST, "stream"), ("GET /mcp HTTP/1.1", "")] {
        let clients: Vec<_> = (0..20)
            .map(|_| {
                let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
                let body = if method.is_empty() { String::new() } else { asking(method) };
                let length = body.len();
                write!(
                    client,
                    "{head}\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{body}"
                )
                .unwrap();
                if method != "hang" {
                    assert!(client.read(&mut [0; 16]).unwrap() > 0);
                }
                client
            })
            .collect();
        assert!(ask(port, POST, &asking("ping")).starts_with("HTTP/1.1 200"));
        drop(clients);
        for _ in 0..20 {
            upstream.gone.recv_timeout(HANG).unwrap_or_else(|_| panic!("{head} {method} is left"));
        }
    }
    wait_for_descriptors(&guard, idle + 2);
}

#[test]
fn a_thousand_sessions_leave_nothing() {
    let (_server, upstream) = bare(&[]);
    let (guard, port) = guard(upstream, &[]);
    let session = |n: usize| {
        let head = format!("{POST}\r\nmcp-session-id: {n}");
        ask(
            port,
            &head,
            &json!({ "jsonrpc": "2.0", "id": 1, "method": "initialize",
            "params": { "protocolVersion": "2025-11-25" } })
            .to_string(),
        );
        let answer = ask(port, &head, &call(2, "count", &json!({})));
        assert!(answer.contains(r#""structuredContent":{"result":42}"#), "{answer}");
        let answer = ask(port, &head, &call(3, "ranged", &json!({ "n": 11 })));
        assert!(answer.contains("\"isError\":true"), "{answer}");
        // Gone in the middle of the stream.
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        write!(stream, "GET /mcp HTTP/1.1\r\nhost: localhost\r\nmcp-session-id: {n}\r\n\r\n")
            .unwrap();
        assert!(stream.read(&mut [0; 16]).unwrap() > 0);
        drop(stream);
        if n.is_multiple_of(2) {
            ask(port, &format!("DELETE /mcp HTTP/1.1\r\nmcp-session-id: {n}"), "");
        }
    };
    (0..100).for_each(session);
    let (open, before) = (descriptors(&guard), kilobytes(&guard, "VmHWM"));
    (100..1000).for_each(session);
    let after = kilobytes(&guard, "VmHWM");
    assert!(after < before + 40_000, "{before} kB after 100 sessions, {after} kB after 1000");
    wait_for_descriptors(&guard, open + 2);
}

/// A guard on standard input and output.
pub(crate) struct Talk {
    pub(crate) guard: Process,
    pub(crate) input: std::process::ChildStdin,
    output: BufReader<std::process::ChildStdout>,
}

impl Talk {
    pub(crate) fn start(options: &[&str], server: &[&str]) -> Self {
        let mut command = toolbond(&["guard"]);
        command.args(options).arg("--").args(server).current_dir(peers::path("servers"));
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::null());
        let mut guard = Process(command.spawn().unwrap());
        let input = guard.0.stdin.take().unwrap();
        let output = BufReader::new(guard.0.stdout.take().unwrap());
        Self { guard, input, output }
    }

    pub(crate) fn ask(&mut self, request: &str) -> Value {
        writeln!(self.input, "{request}").unwrap();
        self.answer()
    }

    pub(crate) fn answer(&mut self) -> Value {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: `{line}`"))
    }
}

#[test]
fn a_line_of_a_hundred_megabytes_is_passed_over_in_bounded_memory() {
    let flood = format!(
        "read -r line; printf '{{\"jsonrpc\":\"2.0\",\"result\":{{\"x\":\"'; head -c {HUGE} /dev/zero | tr '\\0' x; \
         printf '\"}},\"id\":1}}\\n'; while read -r line; do printf '%s\\n' '{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{{}}}}'; done"
    );
    let mut talk = Talk::start(&[], &["sh", "-c", &flood]);
    let answer = talk.ask(&asking("ping"));
    assert_eq!(answer["id"], 1);
    assert!(answer["error"]["message"].as_str().unwrap().contains("--max-message"), "{answer}");
    assert_eq!(talk.ask(&asking("ping").replace(":1,", ":2,"))["result"], json!({}));
    // And the other way.
    write!(talk.input, "{{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"x\":\"").unwrap();
    let piece = vec![b'y'; 100_000];
    for _ in 0..HUGE / piece.len() {
        talk.input.write_all(&piece).unwrap();
    }
    let answer = talk.ask("\",\"id\":3}");
    assert_eq!(answer["id"], 3);
    assert_eq!(answer["error"]["code"], -32600);
    // The pages of the program itself do not count.
    let most = kilobytes(&talk.guard, "VmHWM") - kilobytes(&talk.guard, "RssFile");
    assert!(most < 80_000, "{most} kB");
}

#[test]
fn thousands_of_calls_leave_memory_as_it_is() {
    let mut talk = Talk::start(&[], &["node", "bare.mjs"]);
    let mut cycle = || {
        for (name, arguments, marker) in [
            ("count", json!({}), "/result/structuredContent/result"),
            ("find_person", json!({ "id": 1 }), "/result/structuredContent/result/name"),
            ("ranged", json!({ "n": 11, "code": "NO" }), "/result/isError"),
            ("no_such_tool", json!({}), "/error/code"),
        ] {
            let answer = talk.ask(&call(1, name, &arguments));
            assert!(answer.pointer(marker).is_some(), "{name}: {answer}");
        }
    };
    (0..200).for_each(|_| cycle());
    let before = kilobytes(&talk.guard, "VmHWM");
    let mut cycle = || {
        for (name, arguments) in [("count", json!({})), ("ranged", json!({ "n": 11 }))] {
            talk.ask(&call(1, name, &arguments));
        }
        writeln!(talk.input, "no message").unwrap();
        talk.answer();
    };
    (0..1000).for_each(|_| cycle());
    let after = kilobytes(&talk.guard, "VmHWM");
    assert!(after < before + 8_000, "{before} kB before, {after} kB after 1000 cycles");
}
