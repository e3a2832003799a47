//! A server in a process of its own, over standard input and output and over HTTP: bad input and the end.
#![cfg(unix)]
#![expect(clippy::unwrap_used, reason = "a client for tests only")]

use std::{
    process::{ExitStatus, Stdio},
    time::Duration,
};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{Request, client::conn::http1};
use hyper_util::rt::TokioIo;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader, Lines},
    net::TcpStream,
    process::{Child, ChildStderr, ChildStdin, ChildStdout, Command},
};
use toolbond_harness::process::example;

/// Far longer than anything here takes.
const PATIENCE: Duration = Duration::from_secs(60);

async fn soon<T>(work: impl Future<Output = T>) -> T {
    tokio::time::timeout(PATIENCE, work).await.expect("an answer in a minute")
}

/// The program `peers/rmcp/examples/faulty.rs`.
struct Process {
    child: Child,
    input: Option<ChildStdin>,
    output: Lines<BufReader<ChildStdout>>,
    log: Lines<BufReader<ChildStderr>>,
    /// Where it listens; nothing over standard input and output.
    address: Option<String>,
}

impl Process {
    fn new(arguments: &[&str]) -> Self {
        Self::logging("", arguments)
    }

    /// With `level` in the environment.
    fn logging(level: &str, arguments: &[&str]) -> Self {
        let program = example("toolbond-peers", "faulty");
        let mut child = Command::new(&program)
            .args(arguments)
            .env("RUST_LOG", level)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .kill_on_drop(true)
            .spawn()
            .unwrap_or_else(|error| panic!("{}: {error}", program.display()));
        Self {
            input: child.stdin.take(),
            output: BufReader::new(child.stdout.take().unwrap()).lines(),
            log: BufReader::new(child.stderr.take().unwrap()).lines(),
            child,
            address: None,
        }
    }

    async fn over_http() -> Self {
        let mut process = Self::new(&["--http", "localhost:0"]);
        let line = soon(process.log.next_line()).await.unwrap().unwrap();
        let (_, address) = line.split_once("http://").unwrap();
        process.address = Some(address.strip_suffix("/mcp").unwrap().to_owned());
        process
    }

    /// Sends a request of 2026-07-28 and does not wait for the answer.
    async fn send(&mut self, method: &str, mut params: Value) -> Answer {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {}
        });
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let Some(address) = &self.address else {
            let line = format!("{body}\n");
            self.input.as_mut().unwrap().write_all(line.as_bytes()).await.unwrap();
            return Answer::Line;
        };
        let stream = TcpStream::connect(address).await.unwrap();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let mut request = Request::post("/mcp")
            .header("host", address)
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream")
            .header("mcp-protocol-version", "2026-07-28")
            .header("mcp-method", method);
        if let Some(name) = params["name"].as_str() {
            request = request.header("mcp-name", name);
        }
        let request = request.body(Full::new(Bytes::from(body.to_string()))).unwrap();
        let (answer, body) = tokio::sync::oneshot::channel();
        tokio::spawn(async move {
            let response = sender.send_request(request).await.unwrap();
            let text = response.into_body().collect().await.unwrap().to_bytes();
            answer.send(serde_json::from_slice(&text).unwrap()).unwrap();
        });
        Answer::Body(body)
    }

    async fn read(&mut self, answer: Answer) -> Value {
        match answer {
            Answer::Line => {
                let line = soon(self.output.next_line()).await.unwrap();
                serde_json::from_str(&line.expect("an answer")).unwrap()
            }
            Answer::Body(body) => soon(body).await.expect("an answer"),
        }
    }

    async fn request(&mut self, method: &str, params: Value) -> Value {
        let answer = self.send(method, params).await;
        self.read(answer).await
    }

    async fn call(&mut self, name: &str, arguments: Value) -> Value {
        self.request("tools/call", json!({ "name": name, "arguments": arguments })).await
    }

    async fn signal(&self, name: &str) {
        let id = self.child.id().unwrap().to_string();
        assert!(Command::new("kill").args(["-s", name, &id]).status().await.unwrap().success());
    }

    async fn end(&mut self) -> ExitStatus {
        soon(self.child.wait()).await.unwrap()
    }
}

/// Where the answer to a request will be.
enum Answer {
    /// The next line of standard output.
    Line,
    /// The body of a response.
    Body(tokio::sync::oneshot::Receiver<Value>),
}

async fn both() -> [Process; 2] {
    [Process::new(&[]), Process::over_http().await]
}

#[tokio::test]
async fn bad_input_is_answered_and_the_server_lives() {
    for mut server in both().await {
        let unknown = server.call("nosuch", json!({})).await;
        assert_eq!(unknown["error"], json!({ "code": -32602, "message": "tool not found" }));
        let list = server.call("twice", json!([1])).await;
        assert_eq!(
            list["error"]["message"],
            "tools/call: #/arguments: expected an object, found an array"
        );
        let prompts = server.request("prompts/list", json!({})).await;
        assert_eq!(prompts["error"]["code"], -32601);
        let missing = server.request("tools/call", json!({ "name": "twice" })).await;
        let refused = [
            (missing, "missing required property `number` (integer from 0 to 10)"),
            (
                server.call("twice", json!({ "number": 11 })).await,
                "expected a number ≤ 10, found 11",
            ),
            (server.call("lying", json!({})).await, "the result of tool `lying` was withheld"),
            (server.call("panicking", json!({})).await, "tool `panicking` failed: internal error"),
            (server.call("failing", json!({})).await, "internal error"),
        ];
        for (answer, text) in refused {
            assert_eq!(answer["result"]["isError"], true, "{answer}");
            assert!(
                answer["result"]["content"][0]["text"].as_str().unwrap().contains(text),
                "{answer}"
            );
            assert!(!answer.to_string().contains("secret"), "{answer}");
        }
        let good = server.call("twice", json!({ "number": 4 })).await;
        assert_eq!(good["result"]["structuredContent"], 8);
    }
}

#[tokio::test]
async fn a_signal_ends_the_server_after_the_calls_under_way() {
    for signal in ["TERM", "INT"] {
        for mut server in both().await {
            // Answered: so it is up, and listens to signals.
            server.call("twice", json!({ "number": 1 })).await;
            let params = json!({ "name": "slow", "arguments": { "milliseconds": 700 } });
            let slow = server.send("tools/call", params).await;
            while !soon(server.log.next_line()).await.unwrap().unwrap().contains("taking my time") {
            }
            server.signal(signal).await;
            let slow = server.read(slow).await;
            assert_eq!(slow["result"]["structuredContent"], 700, "{slow}");
            assert!(server.end().await.success());
        }
    }
}

#[tokio::test]
async fn the_command_line_is_explained() {
    let mut helped = Process::new(&["--help"]);
    let mut text = String::new();
    while let Some(line) = soon(helped.output.next_line()).await.unwrap() {
        text.push_str(&line);
    }
    assert!(text.contains("--http ADDR"), "{text}");
    assert!(helped.end().await.success());

    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let taken = listener.local_addr().unwrap();
    for (arguments, message) in [
        (
            ["--http", "here"],
            "Error: expected an address such as 127.0.0.1:8080, found `here`".to_owned(),
        ),
        (
            ["--http", &taken.to_string()],
            format!("Error: cannot listen on {taken}: Address already in use"),
        ),
    ] {
        let mut refused = Process::new(&arguments);
        let line = soon(refused.log.next_line()).await.unwrap().unwrap();
        assert!(line.starts_with(&message), "{line}");
        assert!(!refused.end().await.success());
    }
}

#[tokio::test]
async fn a_client_that_closes_standard_input_gets_its_answers() {
    let mut server = Process::new(&[]);
    let params = json!({ "name": "slow", "arguments": { "milliseconds": 300 } });
    let slow = server.send("tools/call", params).await;
    server.input = None;
    assert_eq!(server.read(slow).await["result"]["structuredContent"], 300);
    assert!(server.end().await.success());
    // One that says nothing is no mistake either.
    let mut silent = Process::new(&[]);
    silent.input = None;
    assert!(silent.end().await.success());
}

#[tokio::test]
async fn the_environment_says_what_is_logged() {
    for (level, is_said, is_not) in [
        ("", "toolbond: tool `panicking` panicked", "DEBUG"),
        ("rmcp=debug", "DEBUG", "ERROR toolbond:"),
        ("toolbond=loud", "WARN toolbond: ignoring RUST_LOG: ", "DEBUG"),
    ] {
        let mut server = Process::logging(level, &[]);
        server.call("panicking", json!({})).await;
        server.input = None;
        let mut log = String::new();
        while let Some(line) = soon(server.log.next_line()).await.unwrap() {
            log.push_str(&line);
        }
        assert!(log.contains(is_said) && !log.contains(is_not), "{level}: {log}");
    }
}
