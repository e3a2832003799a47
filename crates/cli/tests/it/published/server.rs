//! A published server as a child process, off the network and in a folder of its own.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{ChildStdin, ChildStdout, Command, Stdio};

use serde_json::{Value, json};
use toolbond_harness::peers;

use super::case::{Case, folder};
use crate::guard_http::Process;

/// A folder that a server may write to.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let place = Path::new(env!("CARGO_TARGET_TMPDIR")).join(format!("published-{name}"));
        let _ = fs::remove_dir_all(&place);
        fs::create_dir_all(&place).unwrap();
        Self(place.canonicalize().unwrap())
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(super) struct Server {
    pub(super) case: Case,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
    next_id: u32,
    _process: Process,
    _scratch: Scratch,
}

impl Server {
    pub(super) fn start(name: &str, is_guarded: bool) -> Self {
        let scratch = Scratch::new(name);
        let case = Case::with_folders(
            name,
            &[
                ("SCRATCH", scratch.0.to_str().unwrap()),
                ("NODE", peers::node_modules().to_str().unwrap()),
            ],
        );
        if let Some(prepare) = &case.prepare {
            let mut shell = Command::new("sh");
            assert!(
                shell.args(["-c", prepare]).current_dir(&scratch.0).status().unwrap().success()
            );
        }
        let mut command = case.command.clone();
        if is_guarded {
            let guard = [env!("CARGO_BIN_EXE_toolbond"), "guard", "--"];
            command.splice(0..0, guard.map(str::to_owned));
        }
        let offline = folder().join("offline");
        let mut python = vec![offline.clone()];
        if let Some(line) = &case.python {
            python.extend(std::env::split_paths(&peers::python_path(line)));
        }
        let python = std::env::join_paths(python).unwrap();
        let mut process = Command::new(&command[0]);
        process
            .args(&command[1..])
            .current_dir(&scratch.0)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &scratch.0)
            .env("NODE_OPTIONS", format!("--require {}", offline.join("offline.cjs").display()))
            .env("PYTHONPATH", python)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .envs(&case.env)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null());
        let mut process = Process(process.spawn().unwrap());
        let input = process.0.stdin.take().unwrap();
        let output = BufReader::new(process.0.stdout.take().unwrap());
        Self { case, input, output, next_id: 0, _process: process, _scratch: scratch }
    }

    pub(super) fn notify(&mut self, method: &str) {
        writeln!(self.input, "{}", json!({ "jsonrpc": "2.0", "method": method })).unwrap();
    }

    /// The line that answers a request.
    pub(super) fn request(&mut self, method: &str, params: &Value) -> String {
        let id = self.next_id;
        self.next_id += 1;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(self.input, "{request}").unwrap();
        loop {
            let mut line = String::new();
            assert!(self.output.read_line(&mut line).unwrap() > 0, "the server ended at {request}");
            // Servers also write notifications, and some write lines that are no messages.
            if serde_json::from_str::<Value>(&line)
                .is_ok_and(|answer| answer["id"] == id && answer.get("method").is_none())
            {
                return line;
            }
        }
    }

    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> String {
        self.request("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }
}
