//! A server in a process of its own, over standard input and output and over HTTP: bad input and the end.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a client for tests only")]

use std::io::Write as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use toolbond_harness::http::{self, Connection};
use toolbond_harness::mcp;
use toolbond_harness::process::{Log, Process, example, run};

/// The program `peers/rmcp/examples/faulty.rs`.
fn faulty(arguments: &[&str]) -> Command {
    let mut command = Command::new(example("toolbond-peers", "faulty"));
    command.args(arguments).env_remove("RUST_LOG");
    command
}

struct Server {
    process: Process,
    /// What it writes to standard output, and how many requests it got over standard input.
    output: Log,
    requests: usize,
    /// Its port, if it is asked over HTTP.
    port: Option<u16>,
}

/// Where the answer to a request will be.
enum Answer {
    /// In the line of standard output after so many others.
    Line(usize),
    Body(Connection),
}

impl Server {
    fn piped() -> Self {
        let mut command = faulty(&[]);
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut process = Process::start(command);
        Self { output: process.lines(), process, requests: 0, port: None }
    }

    fn both() -> [Self; 2] {
        let (process, port) = Process::listening(faulty(&["--http", "localhost:0"]));
        let output = Log::default();
        [Self::piped(), Self { process, output, requests: 0, port: Some(port) }]
    }

    /// Sends a request of 2026-07-28 and does not wait for the answer.
    fn send(&mut self, message: &str) -> Answer {
        let (head, body) = mcp::modern("/mcp", message);
        if let Some(port) = self.port {
            let head = format!("{head}\r\nconnection: close");
            return Answer::Body(Connection::open(port, &head, body.as_bytes()));
        }
        writeln!(self.process.child.stdin.as_ref().unwrap(), "{body}").unwrap();
        self.requests += 1;
        Answer::Line(self.requests - 1)
    }

    fn read(&self, answer: Answer) -> Value {
        match answer {
            Answer::Line(before) => {
                serde_json::from_str(&self.output.wait_after(before, "")).unwrap()
            }
            Answer::Body(mut body) => http::body(&String::from_utf8(body.rest()).unwrap()),
        }
    }

    fn ask(&mut self, message: &str) -> Value {
        let answer = self.send(message);
        self.read(answer)
    }

    fn call(&mut self, name: &str, arguments: &Value) -> Value {
        self.ask(&mcp::call(1, name, arguments))
    }

    /// Calls the tool that answers after a signal, and waits until it runs.
    fn call_slow(&mut self) -> Answer {
        let slow = self.send(&mcp::call(1, "slow", &json!({})));
        self.process.log().wait_for("taking my time");
        slow
    }

    /// Sends the signal, and expects the answer of the slow call and the end of the process.
    fn end(&mut self, signal: &str, slow: Answer) {
        self.process.signal(signal);
        let slow = self.read(slow);
        assert_eq!(slow["result"]["structuredContent"], true, "{signal}: {slow}");
        assert!(self.process.wait().success());
    }
}

#[test]
fn bad_input_is_answered_and_the_server_lives() {
    for mut server in Server::both() {
        let unknown = server.call("nosuch", &json!({}));
        assert_eq!(unknown["error"], json!({ "code": -32602, "message": "tool not found" }));
        let list = server.call("twice", &json!([1]));
        let problem = "tools/call: #/arguments: expected an object, found an array";
        assert_eq!(list["error"]["message"], problem);
        assert_eq!(server.ask(&mcp::request(1, "prompts/list"))["error"]["code"], -32601);
        for (name, arguments, text) in [
            ("twice", Value::Null, "missing required property `number` (integer from 0 to 10)"),
            ("twice", json!({ "number": 11 }), "expected a number ≤ 10, found 11"),
            ("lying", json!({}), "the result of tool `lying` was withheld"),
            ("panicking", json!({}), "tool `panicking` failed: internal error"),
            ("failing", json!({}), "internal error"),
        ] {
            let answer = server.call(name, &arguments);
            assert_eq!(answer["result"]["isError"], true, "{answer}");
            let found = answer["result"]["content"][0]["text"].as_str().unwrap();
            assert!(found.contains(text) && !answer.to_string().contains("secret"), "{answer}");
        }
        let good = server.call("twice", &json!({ "number": 4 }));
        assert_eq!(good["result"]["structuredContent"], 8);
    }
}

#[test]
fn a_signal_ends_the_server_after_the_calls_under_way() {
    for signal in ["-TERM", "-INT"] {
        for mut server in Server::both() {
            let slow = server.call_slow();
            server.end(signal, slow);
        }
    }
}

#[test]
fn a_client_that_closes_standard_input_gets_its_answers() {
    let mut server = Server::piped();
    let slow = server.call_slow();
    drop(server.process.child.stdin.take());
    server.end("-TERM", slow);
    // One that says nothing is no mistake either.
    assert!(run(faulty(&[]), "").status.success());
}

#[test]
fn the_command_line_is_explained() {
    let helped = run(faulty(&["--help"]), "");
    assert!(String::from_utf8(helped.stdout).unwrap().contains("--http ADDR"));
    assert!(helped.status.success());
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap().to_string();
    for (address, message) in [
        ("here", "Error: expected an address such as 127.0.0.1:8080, found `here`".to_owned()),
        (&taken, format!("Error: cannot listen on {taken}: Address already in use")),
    ] {
        let refused = run(faulty(&["--http", address]), "");
        let log = String::from_utf8(refused.stderr).unwrap();
        assert!(log.starts_with(&message) && !refused.status.success(), "{log}");
    }
}

#[test]
fn the_environment_says_what_is_logged() {
    let (_, call) = mcp::modern("/mcp", &mcp::call(1, "panicking", &json!({})));
    for (level, is_said, is_not) in [
        ("", "toolbond: tool `panicking` panicked", "DEBUG"),
        ("rmcp=debug", "DEBUG", "ERROR toolbond:"),
        ("toolbond=loud", "WARN toolbond: ignoring RUST_LOG: ", "DEBUG"),
    ] {
        let mut server = faulty(&[]);
        server.env("RUST_LOG", level);
        let log = String::from_utf8(run(server, &format!("{call}\n")).stderr).unwrap();
        assert!(log.contains(is_said) && !log.contains(is_not), "{level}: {log}");
    }
}
