//! The guard in every way it can stand: in front of a server on HTTP, in front of a process for clients on HTTP, and on
//! standard input and output.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};

use crate::files::Folder;
use crate::mcp::{INITIALIZED, initialize, url};
use crate::process::{Process, toolbond};

/// A guard that holds arguments and results to their schemas.
pub const ENFORCE: [&str; 4] = ["--arguments", "enforce", "--results", "enforce"];

/// Starts `toolbond guard --listen` with `arguments`: the guard and its port.
pub fn listening(arguments: &[&str]) -> (Process, u16) {
    let mut command = toolbond(&["guard", "--listen", "127.0.0.1:0"]);
    command.args(arguments);
    Process::listening(command)
}

/// A guard in front of the server on `port`: the guard and its own port.
pub fn in_front_of(port: u16, options: &[&str]) -> (Process, u16) {
    in_front_of_url(&url(port), options)
}

/// A guard in front of the server at `upstream`.
pub fn in_front_of_url(upstream: &str, options: &[&str]) -> (Process, u16) {
    listening(&[&["--upstream", upstream], options].concat())
}

/// A guard with a configuration file, which goes with it.
#[derive(Debug)]
pub struct Configured {
    /// The guard.
    pub process: Process,
    folder: Folder,
}

impl Configured {
    /// Starts a guard that listens, with this text in its file.
    pub fn start(text: &str) -> Self {
        Self::with(text, &[])
    }

    /// The same with more options.
    pub fn with(text: &str, options: &[&str]) -> Self {
        let folder = Folder::new();
        let file = folder.write("toolbond.toml", text);
        let mut command = toolbond(&["guard", "--listen", "127.0.0.1:0", "--config", &file]);
        command.args(options).stdin(Stdio::null()).stdout(Stdio::null());
        Self { process: Process::start(command), folder }
    }

    /// The path of another file beside it.
    pub fn path(&self, name: &str) -> String {
        self.folder.join(name)
    }

    /// Writes another text into the file.
    pub fn write(&self, text: &str) {
        self.folder.write("toolbond.toml", text);
    }

    /// The port in the line of its log with `text`, such as the path of a server.
    #[track_caller]
    pub fn port(&self, text: &str) -> u16 {
        self.process.port(text)
    }
}

/// A conversation with a guard on standard input and output.
#[derive(Debug)]
pub struct Talk {
    /// The guard.
    pub guard: Process,
    /// What it reads; nothing when the conversation has ended.
    pub input: Option<ChildStdin>,
    output: BufReader<ChildStdout>,
}

impl Talk {
    /// Starts `toolbond guard OPTIONS -- SERVER`.
    pub fn start(options: &[&str], server: &[&str]) -> Self {
        let mut command = toolbond(&["guard"]);
        command.args(options).arg("--").args(server);
        Self::with(command)
    }

    /// Starts `toolbond guard --upstream URL OPTIONS` for the server at `url`.
    pub fn upstream(url: &str, options: &[&str]) -> Self {
        let mut command = toolbond(&["guard", "--upstream", url]);
        command.args(options);
        Self::with(command)
    }

    /// Starts a command that talks on standard input and output.
    pub fn with(mut command: Command) -> Self {
        command.stdin(Stdio::piped()).stdout(Stdio::piped());
        let mut guard = Process::start(command);
        let input = guard.child.stdin.take();
        let output = BufReader::new(guard.child.stdout.take().unwrap());
        Self { guard, input, output }
    }

    /// Makes the handshake of 2025-11-25.
    pub fn greet(&mut self, capabilities: &Value) -> Value {
        let answer = self.ask(&initialize("2025-11-25", capabilities));
        self.send(INITIALIZED);
        answer
    }

    /// Sends a line.
    pub fn send(&mut self, line: &str) {
        writeln!(self.input.as_mut().unwrap(), "{line}").unwrap();
    }

    /// Sends a line, and returns the next message.
    #[track_caller]
    pub fn ask(&mut self, line: &str) -> Value {
        self.send(line);
        self.answer()
    }

    /// Sends a request, and returns the next message, which has to be its answer.
    #[track_caller]
    pub fn request(&mut self, method: &str, params: &Value) -> Value {
        let answer = self.ask(
            &json!({ "jsonrpc": "2.0", "id": method, "method": method, "params": params })
                .to_string(),
        );
        assert_eq!(answer["id"], method, "{answer}");
        answer
    }

    /// Calls a tool.
    #[track_caller]
    pub fn call(&mut self, name: &str, arguments: &Value) -> Value {
        self.request("tools/call", &json!({ "name": name, "arguments": arguments }))
    }

    /// The next message.
    #[track_caller]
    pub fn answer(&mut self) -> Value {
        let line = self.line();
        serde_json::from_str(&line).unwrap_or_else(|error| panic!("{error}: `{line}`"))
    }

    /// The next line; empty at the end.
    pub fn line(&mut self) -> String {
        let mut line = String::new();
        self.output.read_line(&mut line).unwrap();
        line
    }

    /// Ends the conversation, waits for the end of the guard, and returns its log.
    pub fn end(mut self) -> String {
        drop(self.input.take());
        self.guard.wait();
        self.guard.log().all()
    }
}
