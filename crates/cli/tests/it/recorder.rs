//! Servers whose tool writes down what it was called with, reached directly and through a guard, by a client that sends
//! bytes.

use std::fs;
use std::io::Write as _;
use std::process::{ChildStdin, Stdio};

use serde_json::{Value, json};
use toolbond_harness::files::Folder;
use toolbond_harness::guard::{ENFORCE, in_front_of};
use toolbond_harness::http::{Connection, send};
use toolbond_harness::mcp::{INITIALIZED, initialize, post, url};
use toolbond_harness::peers;
use toolbond_harness::process::{Log, Process, command, program, wait_for_port};

use toolbond_harness::envoy::Envoy;

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

/// Every way to a server on HTTP with a guard. Envoy is installed on Linux.
#[cfg(target_os = "linux")]
pub(crate) const OVER_HTTP: [Way; 2] = [Way::GuardedHttp, Way::Envoy];
#[cfg(not(target_os = "linux"))]
pub(crate) const OVER_HTTP: [Way; 1] = [Way::GuardedHttp];

/// A server that can be reached, and what is between.
pub(crate) struct Reached {
    /// The words of the command that starts it, or its URL.
    pub(crate) target: Vec<String>,
    /// Its port over HTTP.
    pub(crate) port: Option<u16>,
    processes: Vec<Process>,
    _envoy: Option<Envoy>,
}

impl Reached {
    /// A server on HTTP.
    pub(crate) fn at(port: u16, processes: Vec<Process>) -> Self {
        Self { target: vec![url(port)], port: Some(port), processes, _envoy: None }
    }
}

impl Way {
    /// Starts a server of `peers/servers` with `arguments` so that clients reach it this way; over standard input and
    /// output the client starts it.
    pub(crate) fn reach(self, name: &str, arguments: &[&str]) -> Reached {
        let mut server = peers::words(&format!("servers/{name}"));
        server.extend(arguments.iter().map(|&word| word.to_owned()));
        let program = program();
        let guard = [program.to_str().unwrap(), "guard", "--results-file", "none"];
        let guard = [&guard, &ENFORCE[..]].concat();
        let guard = |options: &[&str]| {
            let words = guard.iter().chain(options).map(|&word| word.to_owned());
            words.chain(server.iter().cloned()).collect::<Vec<_>>()
        };
        let listen = |words: &[String]| {
            let (process, port) = Process::listening(command(words));
            // Some say their port before they listen on it.
            wait_for_port(port);
            (process, port)
        };
        let http = || listen(&[&server[..], &["--http".to_owned()]].concat());
        let started = |target| Reached { target, port: None, processes: Vec::new(), _envoy: None };
        match self {
            Self::Stdio => started(server),
            Self::GuardedStdio => started(guard(&["--"])),
            Self::GuardedProcess => {
                let (guard, port) = listen(&guard(&["--listen", "127.0.0.1:0", "--"]));
                Reached::at(port, vec![guard])
            }
            Self::Http => {
                let (server, port) = http();
                Reached::at(port, vec![server])
            }
            Self::GuardedHttp => {
                let (server, port) = http();
                let (guard, port) = in_front_of(port, &ENFORCE);
                Reached::at(port, vec![server, guard])
            }
            Self::Envoy => {
                let (server, port) = http();
                let envoy = Envoy::enforcing(port);
                let port = envoy.port;
                Reached { _envoy: Some(envoy), ..Reached::at(port, vec![server]) }
            }
        }
    }
}

/// The arguments of each call that ran.
pub(crate) struct Record {
    folder: Folder,
    path: String,
}

impl Record {
    pub(crate) fn new() -> Self {
        let folder = Folder::new();
        Self { path: folder.join("record"), folder }
    }

    pub(crate) fn path(&self) -> &str {
        &self.path
    }

    /// The path of another file.
    pub(crate) fn beside(&self, name: &str) -> String {
        self.folder.join(name)
    }

    /// The arguments, in the order of the calls.
    pub(crate) fn arguments(&self) -> Vec<Value> {
        let text = fs::read_to_string(&self.path).unwrap_or_default();
        // What Python writes for a number that is none is no JSON.
        text.lines().map(|line| serde_json::from_str(line).unwrap_or(json!(line))).collect()
    }

    /// The arguments that the tool does not take.
    pub(crate) fn invalid(&self) -> Vec<Value> {
        let is_valid = |value: &Value| value["n"].as_i64().is_some_and(|n| n <= 10);
        self.arguments().into_iter().filter(|value| !is_valid(value)).collect()
    }
}

/// A conversation with a server whose tool writes down what it was called with.
pub(crate) struct Recorder {
    wire: Wire,
    pub(crate) record: Record,
    calls: usize,
    reached: Reached,
}

enum Wire {
    Stdio(Option<ChildStdin>, Log),
    /// The port, and the head of requests.
    Http(u16, String),
}

impl Recorder {
    /// Starts `program` of `peers/servers` and initializes a session, which `way` leads to.
    pub(crate) fn open(program: &str, options: &[&str], way: Way) -> Self {
        let record = Record::new();
        let reached = way.reach(program, &[&[record.path()], options].concat());
        Self::at(record, reached)
    }

    /// Initializes a session with a server that writes to `record`.
    pub(crate) fn at(record: Record, mut reached: Reached) -> Self {
        let wire = match reached.port {
            Some(port) => Wire::Http(port, post("/mcp", "")),
            None => {
                let mut command = command(&reached.target);
                let mut process = Process::start({
                    command.stdin(Stdio::piped()).stdout(Stdio::piped());
                    command
                });
                let wire = Wire::Stdio(process.child.stdin.take(), process.lines());
                reached.processes.push(process);
                wire
            }
        };
        let mut recorder = Self { wire, record, calls: 0, reached };
        recorder.initialize();
        recorder
    }

    fn initialize(&mut self) {
        let hello = initialize("2025-06-18", &json!({ "roots": {} }));
        let answer = self.send(hello.as_bytes());
        if let Wire::Http(_, head) = &mut self.wire {
            assert!(answer.contains("serverInfo"), "{answer}");
            head.push_str("\r\nmcp-protocol-version: 2025-06-18");
            if let Some(rest) = answer.split("mcp-session-id: ").nth(1) {
                head.push_str("\r\nmcp-session-id: ");
                head.push_str(rest.split("\r\n").next().unwrap());
            }
        } else {
            self.answer("\"serverInfo\"");
        }
        self.send(INITIALIZED.as_bytes());
    }

    /// Sends a line, or the body of a POST, of which this is the answer.
    pub(crate) fn send(&mut self, bytes: &[u8]) -> String {
        match &mut self.wire {
            Wire::Stdio(input, _) => {
                input.as_mut().unwrap().write_all(&[bytes, b"\n"].concat()).unwrap();
                String::new()
            }
            Wire::Http(port, head) => {
                String::from_utf8_lossy(&send(*port, head, bytes)).into_owned()
            }
        }
    }

    /// Sends messages of which some have no answer. An ordinary call after a few of them is answered after they were
    /// read: over HTTP it is made when responses to them have begun.
    pub(crate) fn attempt(&mut self, messages: &[&[u8]]) {
        for few in messages.chunks(16) {
            let mut sent: Vec<_> = few.iter().filter_map(|bytes| self.post(bytes)).collect();
            sent.iter_mut().for_each(Connection::wait);
            self.call();
        }
    }

    fn post(&mut self, bytes: &[u8]) -> Option<Connection> {
        match &self.wire {
            Wire::Stdio(..) => {
                self.send(bytes);
                None
            }
            Wire::Http(port, head) => Some(Connection::open(*port, head, bytes)),
        }
    }

    /// The port and the head of requests over HTTP.
    pub(crate) fn http(&self) -> (u16, &str) {
        match &self.wire {
            Wire::Http(port, head) => (*port, head),
            Wire::Stdio(..) => panic!("there is no HTTP on standard input and output"),
        }
    }

    /// Waits for a line with `text` in it.
    #[track_caller]
    pub(crate) fn answer(&mut self, text: &str) -> String {
        let Wire::Stdio(_, lines) = &self.wire else { panic!("answers over HTTP are given") };
        lines.wait_for(text)
    }

    /// Makes an ordinary call, and sees that it is answered.
    #[track_caller]
    pub(crate) fn call(&mut self) {
        self.calls += 1;
        let id = format!("ordinary-{}.", self.calls);
        let mut answer = self.send(call(&json!(id).to_string(), 1).as_bytes());
        if answer.is_empty() {
            answer = self.answer(&id);
        }
        let answer: String = answer.split_whitespace().collect();
        assert!(
            answer.contains(&id) && answer.contains(r#""structuredContent":{"n":1}"#),
            "{answer}"
        );
    }

    /// Makes ordinary calls, ends the server, and returns the record.
    pub(crate) fn close(mut self) -> Record {
        self.call();
        self.call();
        let arguments = self.record.arguments();
        let ordinary = arguments.iter().filter(|value| **value == json!({ "n": 1 })).count();
        assert!(ordinary >= self.calls, "{ordinary} of {} ordinary calls ran", self.calls);
        if let Wire::Stdio(input, _) = &mut self.wire {
            drop(input.take());
            self.reached.processes[0].wait();
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
