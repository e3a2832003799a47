//! A published server as a child process, off the network and in a folder of its own.

use std::fs;
use std::path::Path;
use std::process::Command;

use serde_json::{Value, json};
use toolbond_harness::guard::Talk;
use toolbond_harness::peers;
use toolbond_harness::process::program;

use super::case::{Case, folder};

pub(super) struct Server {
    pub(super) case: Case,
    talk: Talk,
    next_id: u32,
}

impl Server {
    /// Starts a server in a new folder below `place`, which is the same with a guard and without.
    pub(super) fn start(name: &str, is_guarded: bool, place: &Path) -> Self {
        let scratch = place.canonicalize().unwrap().join("scratch");
        let _ = fs::remove_dir_all(&scratch);
        fs::create_dir(&scratch).unwrap();
        let case = Case::with_folders(
            name,
            &[
                ("SCRATCH", scratch.to_str().unwrap()),
                ("NODE", peers::node_modules().to_str().unwrap()),
            ],
        );
        if let Some(prepare) = &case.prepare {
            let status = Command::new("sh").args(["-c", prepare]).current_dir(&scratch).status();
            assert!(status.unwrap().success());
        }
        let mut words = case.command.clone();
        if is_guarded {
            let guard = [program().to_str().unwrap(), "guard", "--results-file", "none", "--"]
                .map(str::to_owned);
            words.splice(0..0, guard);
        }
        let offline = folder().join("offline");
        let mut python = vec![offline.clone()];
        if let Some(line) = &case.python {
            python.extend(std::env::split_paths(&peers::python_path(line)));
        }
        let python = std::env::join_paths(python).unwrap();
        let mut command = Command::new(&words[0]);
        command
            .args(&words[1..])
            .current_dir(&scratch)
            .env_clear()
            .env("PATH", std::env::var_os("PATH").unwrap_or_default())
            .env("HOME", &scratch)
            .env("NODE_OPTIONS", format!("--require {}", offline.join("offline.cjs").display()))
            .env("PYTHONPATH", python)
            .env("PYTHONDONTWRITEBYTECODE", "1")
            .envs(&case.env);
        Self { case, talk: Talk::with(command), next_id: 0 }
    }

    pub(super) fn notify(&mut self, method: &str) {
        self.talk.send(&json!({ "jsonrpc": "2.0", "method": method }).to_string());
    }

    /// The line that answers a request. What the server asks in the meantime is refused.
    pub(super) fn request(&mut self, method: &str, params: &Value) -> String {
        let id = self.next_id;
        self.next_id += 1;
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        self.talk.send(&request.to_string());
        loop {
            let line = self.talk.line();
            assert!(!line.is_empty(), "the server ended at {request}");
            // Servers also write notifications, and some write lines that are no messages.
            let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
            match (message.get("id"), message.get("method")) {
                (Some(asked), Some(_)) => {
                    let error = json!({ "code": -32601, "message": "method not found" });
                    let answer = json!({ "jsonrpc": "2.0", "id": asked, "error": error });
                    self.talk.send(&answer.to_string());
                }
                (Some(answered), None) if *answered == id => return line,
                _ => {}
            }
        }
    }

    pub(super) fn call(&mut self, tool: &str, arguments: &Value) -> String {
        self.request("tools/call", &json!({ "name": tool, "arguments": arguments }))
    }
}
