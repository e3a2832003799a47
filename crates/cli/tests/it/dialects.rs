//! Published servers whose output schemas are draft-07: clients that read only 2020-12 fail on every call of theirs, and
//! work through the guard, as all others do. `data/dialects.json` has the read-only tools.

use std::fs;
use std::path::PathBuf;
use std::process::Stdio;

use serde_json::{Value, json};
use toolbond_harness::peers;
use toolbond_harness::process::command;

use crate::command::toolbond;
use crate::guard_http::{Process, port_of};
use crate::guard_peers::visit;

/// A folder that a server may read.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let place = std::env::temp_dir().join(format!("toolbond-{}-{name}", std::process::id()));
        fs::create_dir_all(&place).unwrap();
        Self(place.canonicalize().unwrap())
    }

    /// `value` with the name of the folder in it.
    fn put_into(&self, value: &Value) -> Value {
        let text = value.to_string().replace("SCRATCH", self.0.to_str().unwrap());
        serde_json::from_str(&text).unwrap()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// A server of `data/dialects.json`, with a folder of its own.
struct Server {
    scratch: Scratch,
    command: Vec<String>,
    calls: Value,
}

impl Server {
    fn new(name: &str) -> Self {
        let scratch = Scratch::new(&format!("dialects-{name}"));
        fs::write(scratch.0.join("a.txt"), "one\ntwo\n").unwrap();
        let packed = "<files><file path=\"a.txt\">one</file></files>";
        fs::write(scratch.0.join("packed.xml"), packed).unwrap();
        let workspace = r#"{"version":1,"projects":{"a":{"projectType":"application","root":""}}}"#;
        fs::write(scratch.0.join("angular.json"), workspace).unwrap();
        let packages = peers::node_modules();
        let text = include_str!("data/dialects.json");
        let text = text.replace("NODE", packages.to_str().unwrap());
        let case = scratch.put_into(&serde_json::from_str::<Value>(&text).unwrap()[name]);
        let command = serde_json::from_value(case["command"].clone()).unwrap();
        Self { scratch, command, calls: case["calls"].clone() }
    }

    fn guarded(&self) -> Vec<String> {
        let guard = [env!("CARGO_BIN_EXE_toolbond"), "guard", "--"].map(str::to_owned);
        [&guard[..], &self.command].concat()
    }

    /// The server behind a guard on HTTP: the guard and its URL.
    fn listen(&self) -> (Process, String) {
        let mut guard = toolbond(&["guard", "--listen", "127.0.0.1:0", "--"]);
        guard.args(&self.command).current_dir(&self.scratch.0).stderr(Stdio::piped());
        let mut guard = Process(guard.spawn().unwrap());
        let port = port_of(&mut guard);
        (guard, format!("http://127.0.0.1:{port}/mcp"))
    }

    /// What `client` reports of the server at each of `targets`.
    fn visit(&self, client: &[String], targets: &[Vec<String>], calls: &Value) -> Vec<Value> {
        let visits: Value = targets.iter().map(|target| json!([target, calls])).collect();
        let mut command = command(client);
        command.arg(visits.to_string()).current_dir(&self.scratch.0);
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{client:?}: {said}");
        let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        lines.map(|line| serde_json::from_slice(line).unwrap()).collect()
    }
}

/// Every call gives structured content.
fn succeeds(client: &[String], calls: &Value, report: &Value) {
    let results = report["calls"].as_array().unwrap();
    assert_eq!(results.len(), calls.as_array().unwrap().len());
    for (call, result) in calls.as_array().unwrap().iter().zip(results) {
        assert!(result["value"].is_object(), "{client:?} {call}: {result}");
    }
}

/// Clients that read only 2020-12: each call fails directly, and works through the guard.
fn works_only_through_the_guard(name: &str) {
    let server = Server::new(name);
    let (_guard, url) = server.listen();
    for package in ["client-2.0.0-beta.1", "client-2.0.0-beta.5"] {
        let client = [&peers::words("clients/typescript.mjs")[..], &[package.to_owned()]].concat();
        let targets = [server.command.clone(), server.guarded(), vec![url.clone()]];
        let reports = server.visit(&client, &targets, &server.calls);
        assert_eq!(reports.len(), targets.len());
        for result in reports[0]["calls"].as_array().unwrap() {
            let failure = result["failed"].as_str().unwrap_or_default();
            assert!(failure.contains("unsupported dialect"), "{package}: {result}");
        }
        for report in &reports[1..] {
            assert_eq!(report["tools"], reports[0]["tools"]);
            succeeds(&client, &server.calls, report);
        }
    }
}

/// Clients that read draft-07 work with the same servers through the guard.
fn works_for_all_others(name: &str) {
    let server = Server::new(name);
    // What is filled in from an earlier result, only the program of the others does.
    let is_plain = |call: &&Value| !call.to_string().contains("FROM ");
    let calls: Value = server.calls.as_array().unwrap().iter().filter(is_plain).cloned().collect();
    let (_guard, url) = server.listen();
    for (program, mode) in [
        ("typescript.mjs", "v1"),
        ("typescript.mjs", "legacy"),
        ("python_v1.py", "legacy"),
        ("python_v2.py", "legacy"),
    ] {
        let program = peers::words(&format!("clients/{program}"));
        let client = [&program[..], &[mode.to_owned()]].concat();
        let targets = [server.guarded(), vec![url.clone()]];
        let reports = server.visit(&client, &targets, &calls);
        assert_eq!(reports.len(), targets.len());
        for report in &reports {
            succeeds(&client, &calls, report);
        }
    }
}

macro_rules! servers {
    ($($name:ident)*) => {$(
        mod $name {
            #[test]
            fn works_only_through_the_guard() {
                super::works_only_through_the_guard(stringify!($name));
            }

            #[test]
            fn works_for_all_others() {
                super::works_for_all_others(stringify!($name));
            }
        }
    )*};
}

servers! {
    server_filesystem
    server_memory
    server_sequential_thinking
    repomix
    angular_cli
}

/// No read-only tool with an older output schema is left out without a reason.
#[test]
fn every_read_only_tool_is_called() {
    let cases: Value = serde_json::from_str(include_str!("data/dialects.json")).unwrap();
    for (name, case) in cases.as_object().unwrap() {
        let server = Server::new(name);
        let command: Vec<_> = server.command.iter().map(String::as_str).collect();
        let report = visit(None, &json!([]), &command);
        for tool in report["tools"].as_array().unwrap() {
            let is_read_only = tool["annotations"]["readOnlyHint"] == true;
            let is_older = tool["outputSchema"]["$schema"].as_str().is_some();
            let is_called =
                case["calls"].as_array().unwrap().iter().any(|call| call[0] == tool["name"]);
            let has_reason = case["omitted"].get(tool["name"].as_str().unwrap()).is_some();
            assert!(
                !(is_read_only && is_older) || is_called || has_reason,
                "{name}: {}",
                tool["name"]
            );
        }
    }
}
