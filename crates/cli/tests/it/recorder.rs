//! Servers whose tool writes down what it was called with, reached directly and through a guard, by a client that sends
//! bytes.

use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, channel};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolbond_harness::{peers, process};

use crate::guard_http::{Process, port_of};
use toolbond_harness::envoy::Envoy;

/// Longer than anything takes on a busy machine.
pub(crate) const HANG: Duration = Duration::from_secs(60);

/// A guard that holds arguments and results to their schemas.
pub(crate) const ENFORCE: [&str; 4] = ["--arguments", "enforce", "--results", "enforce"];

/// How a client reaches a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// Standard input and output, without a guard.
    Stdio,
    /// HTTP, without a guard.
    Http,
    /// `toolbond guard -- SERVER`
    GuardedStdio,
    /// `toolbond guard --listen ADDR --upstream URL`
    GuardedHttp,
    /// `toolbond guard --listen ADDR -- SERVER`
    GuardedProcess,
    /// Envoy and two replicas of `toolbond ext-proc`
    Envoy,
}

/// Every way with a guard.
pub(crate) const GUARDED: [Way; 3] = [Way::GuardedStdio, Way::GuardedHttp, Way::GuardedProcess];

/// Every way to a server on HTTP with a guard. Envoy is installed on Linux.
#[cfg(target_os = "linux")]
pub(crate) const OVER_HTTP: [Way; 2] = [Way::GuardedHttp, Way::Envoy];
#[cfg(not(target_os = "linux"))]
pub(crate) const OVER_HTTP: [Way; 1] = [Way::GuardedHttp];

/// A command that says nothing on standard error.
pub(crate) fn command(words: &[String]) -> Command {
    let mut command = process::command(words);
    command.stderr(Stdio::null());
    command
}

/// The words of a guard with `options`.
pub(crate) fn guard_words(options: &[&str]) -> Vec<String> {
    let words = [env!("CARGO_BIN_EXE_toolbond"), "guard"];
    words.iter().chain(options).chain(&ENFORCE).map(|&word| word.to_owned()).collect()
}

/// Starts a server or a guard that listens, and gives it with its port.
pub(crate) fn listening(mut command: Command, is_guard: bool) -> (Process, u16) {
    if is_guard {
        command.stderr(Stdio::piped());
    } else {
        command.stdout(Stdio::piped());
    }
    let mut process = Process(command.stdin(Stdio::null()).spawn().unwrap());
    let port = port_of(&mut process);
    // Some say their port before they listen on it.
    wait_for(port);
    (process, port)
}

/// Waits until somebody listens on a port.
pub(crate) fn wait_for(port: u16) {
    let start = Instant::now();
    while TcpStream::connect(("127.0.0.1", port)).is_err() {
        assert!(start.elapsed() < HANG, "nobody listens on port {port}");
        thread::sleep(Duration::from_millis(10));
    }
}

/// The arguments of each call that ran.
pub(crate) struct Record(pub(crate) PathBuf);

impl Record {
    pub(crate) fn new() -> Self {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let count = COUNT.fetch_add(1, Ordering::Relaxed);
        let name = format!("record-{}-{count}", std::process::id());
        Self(Path::new(env!("CARGO_TARGET_TMPDIR")).join(name))
    }

    pub(crate) fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }

    /// The arguments, in the order of the calls.
    pub(crate) fn arguments(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.0).unwrap_or_default();
        // What Python writes for a number that is none is no JSON.
        text.lines().map(|line| serde_json::from_str(line).unwrap_or(json!(line))).collect()
    }

    /// The arguments that the tool does not take.
    pub(crate) fn invalid(&self) -> Vec<Value> {
        let is_valid = |value: &Value| value["n"].as_i64().is_some_and(|n| n <= 10);
        self.arguments().into_iter().filter(|value| !is_valid(value)).collect()
    }
}

impl Drop for Record {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// A conversation with a server whose tool writes down what it was called with.
pub(crate) struct Recorder {
    wire: Wire,
    pub(crate) record: Record,
    calls: usize,
    processes: Vec<Process>,
    /// What is between the client and the server.
    _envoy: Option<Envoy>,
}

enum Wire {
    Stdio(Option<ChildStdin>, Receiver<Vec<u8>>),
    /// The port, and the head of requests.
    Http(u16, String),
}

impl Recorder {
    /// Initializes a session at a port that leads to a server which was started with `record`.
    pub(crate) fn at(port: u16, record: Record, processes: Vec<Process>) -> Self {
        let wire = Wire::Http(port, String::new());
        let mut recorder = Self { wire, record, calls: 0, processes, _envoy: None };
        recorder.initialize();
        recorder
    }

    /// Starts `program` of `peers/servers` and initializes a session, which `way` leads to.
    pub(crate) fn open(program: &str, options: &[&str], way: Way) -> Self {
        let record = Record::new();
        let mut server = peers::words(&format!("servers/{program}"));
        server.push(record.path().to_owned());
        server.extend(options.iter().map(|&option| option.to_owned()));
        let mut processes = Vec::new();
        let mut listen = |words: Vec<String>, is_guard| {
            let (process, port) = listening(command(&words), is_guard);
            processes.push(process);
            port
        };
        let http = [&server[..], &["--http".to_owned()]].concat();
        let guarded =
            |options: &[&str]| [&guard_words(options)[..], &["--".into()], &server].concat();
        let address = ["--listen", "127.0.0.1:0"];
        let mut envoy = None;
        let wire = match way {
            Way::Stdio => Self::pipe(&server, &mut processes),
            Way::GuardedStdio => Self::pipe(&guarded(&[]), &mut processes),
            Way::Http => Wire::Http(listen(http, false), String::new()),
            Way::GuardedProcess => Wire::Http(listen(guarded(&address), true), String::new()),
            Way::GuardedHttp => {
                let url = format!("http://127.0.0.1:{}/mcp", listen(http, false));
                let guard = guard_words(&["--listen", "127.0.0.1:0", "--upstream", &url]);
                Wire::Http(listen(guard, true), String::new())
            }
            Way::Envoy => {
                let port = listen(http, false);
                let envoy = envoy.insert(Envoy::enforcing(port));
                Wire::Http(envoy.port, String::new())
            }
        };
        let mut recorder = Self { wire, record, calls: 0, processes, _envoy: envoy };
        recorder.initialize();
        recorder
    }

    fn pipe(words: &[String], processes: &mut Vec<Process>) -> Wire {
        let mut command = command(words);
        let mut process =
            Process(command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap());
        let input = process.0.stdin.take();
        let mut output = BufReader::new(process.0.stdout.take().unwrap());
        processes.push(process);
        let (sender, lines) = channel();
        thread::spawn(move || {
            let mut line = Vec::new();
            while output.read_until(b'\n', &mut line).is_ok_and(|count| count > 0) {
                if sender.send(std::mem::take(&mut line)).is_err() {
                    return;
                }
            }
        });
        Wire::Stdio(input, lines)
    }

    fn initialize(&mut self) {
        let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
            "protocolVersion": "2025-06-18", "capabilities": { "roots": {} },
            "clientInfo": { "name": "raw", "version": "1" } } });
        if let Wire::Http(port, head) = &mut self.wire {
            head.push_str("POST /mcp HTTP/1.1\r\naccept: application/json, text/event-stream");
            let answer = post(*port, head, hello.to_string().as_bytes());
            let answer = String::from_utf8_lossy(&answer).into_owned();
            assert!(answer.contains("serverInfo"), "{answer}");
            head.push_str("\r\nmcp-protocol-version: 2025-06-18");
            if let Some(rest) = answer.split("mcp-session-id: ").nth(1) {
                head.push_str("\r\nmcp-session-id: ");
                head.push_str(rest.split("\r\n").next().unwrap());
            }
        } else {
            self.send(hello.to_string().as_bytes());
            self.answer("\"serverInfo\"");
        }
        self.send(br#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#);
    }

    /// Sends a line, or the body of a POST, of which this is the answer.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> String {
        match &mut self.wire {
            Wire::Stdio(input, _) => {
                let input = input.as_mut().unwrap();
                input.write_all(&[bytes, b"\n"].concat()).unwrap();
                String::new()
            }
            Wire::Http(port, head) => {
                String::from_utf8_lossy(&post(*port, head, bytes)).into_owned()
            }
        }
    }

    /// Sends a line, or the body of a POST, which may have no answer.
    pub(crate) fn attempt(&mut self, bytes: &[u8]) {
        match &self.wire {
            Wire::Stdio(..) => drop(self.send(bytes)),
            Wire::Http(port, head) => {
                let head = format!("{head}\r\ncontent-type: application/json");
                send_within(Duration::from_millis(300), *port, &head, bytes);
            }
        }
    }

    /// The port and the head of requests over HTTP.
    pub(crate) fn http(&self) -> (u16, &str) {
        match &self.wire {
            Wire::Http(port, head) => (*port, head),
            Wire::Stdio(..) => panic!("there is no HTTP on standard input and output"),
        }
    }

    /// Waits for the next line with `text` in it.
    pub(crate) fn answer(&mut self, text: &str) -> String {
        let Wire::Stdio(_, lines) = &self.wire else { panic!("answers over HTTP are given") };
        loop {
            let line = lines.recv_timeout(HANG).unwrap_or_else(|error| panic!("{text}: {error}"));
            let line = String::from_utf8_lossy(&line).into_owned();
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Makes an ordinary call, and sees that it is answered.
    pub(crate) fn call(&mut self) {
        self.calls += 1;
        let id = format!("ordinary-{}", self.calls);
        let call = call(&json!(id).to_string(), 1);
        let mut answer = self.send(call.as_bytes());
        if answer.is_empty() {
            answer = self.answer(&id);
        }
        let answer: String = answer.split_whitespace().collect();
        assert!(
            answer.contains(&id) && answer.contains(r#""structuredContent":{"n":1}"#),
            "{answer}"
        );
    }

    /// Makes an ordinary call, ends the server, and gives the record.
    pub(crate) fn close(mut self) -> Record {
        self.call();
        self.call();
        let ordinary =
            self.record.arguments().iter().filter(|value| **value == json!({ "n": 1 })).count();
        assert!(ordinary >= self.calls, "{ordinary} of {} ordinary calls ran", self.calls);
        if let Wire::Stdio(input, _) = &mut self.wire {
            drop(input.take());
            let start = Instant::now();
            while self.processes[0].0.try_wait().unwrap().is_none() && start.elapsed() < HANG {
                thread::sleep(Duration::from_millis(10));
            }
        }
        self.record
    }
}

/// A call of the tool with the argument `n`.
pub(crate) fn call(id: &str, n: i64) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"ranged","arguments":{{"n":{n}}}}}}}"#
    )
}

/// Sends a request with a body of JSON, and gives all of the answer.
pub(crate) fn post(port: u16, head: &str, body: &[u8]) -> Vec<u8> {
    let kind =
        if head.contains("\r\ncontent-type:") { "" } else { "\r\ncontent-type: application/json" };
    send(port, &format!("{head}{kind}"), body)
}

/// Sends a request, and gives all of the answer.
pub(crate) fn send(port: u16, head: &str, body: &[u8]) -> Vec<u8> {
    send_within(HANG, port, head, body)
}

/// Sends a request, and gives what comes of the answer while it is waited for.
fn send_within(wait: Duration, port: u16, head: &str, body: &[u8]) -> Vec<u8> {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(wait)).unwrap();
    let own = format!("\r\nhost: 127.0.0.1:{port}");
    let host = if head.contains("\r\nhost:") { "" } else { &own };
    let rest = format!("{host}\r\ncontent-length: {}\r\nconnection: close\r\n\r\n", body.len());
    stream.write_all(&[head.as_bytes(), rest.as_bytes(), body].concat()).unwrap();
    let (mut answer, mut piece) = (Vec::new(), [0; 4096]);
    // An answer that breaks off is given as far as it came. Some keep a connection open that was to be closed.
    while let Ok(count) = stream.read(&mut piece)
        && count > 0
    {
        answer.extend_from_slice(&piece[..count]);
        if answer.ends_with(b"\r\n0\r\n\r\n") {
            break;
        }
    }
    answer
}
