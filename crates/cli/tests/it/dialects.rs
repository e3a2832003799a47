//! Published servers whose output schemas are draft-07: clients that read only 2020-12 fail on every call of theirs, and
//! work through the guard, as all others do. `data/dialects.json` has the read-only tools.

use serde_json::{Value, json};
use toolbond_harness::files::Folder;
use toolbond_harness::mcp::url;
use toolbond_harness::peers;
use toolbond_harness::process::{Process, command, program, toolbond};

/// A server of `data/dialects.json`, with a folder of its own.
struct Server {
    scratch: Folder,
    command: Vec<String>,
    calls: Value,
    /// Tools that are not called, with the reason.
    omitted: Value,
}

impl Server {
    fn new(name: &str) -> Self {
        let scratch = Folder::new();
        scratch.write("a.txt", "one\ntwo\n");
        scratch.write("packed.xml", "<files><file path=\"a.txt\">one</file></files>");
        let workspace = r#"{"version":1,"projects":{"a":{"projectType":"application","root":""}}}"#;
        scratch.write("angular.json", workspace);
        let place = scratch.path().canonicalize().unwrap();
        let text = include_str!("data/dialects.json")
            .replace("NODE", peers::node_modules().to_str().unwrap())
            .replace("SCRATCH", place.to_str().unwrap());
        let mut case = serde_json::from_str::<Value>(&text).unwrap()[name].take();
        let command = serde_json::from_value(case["command"].take()).unwrap();
        Self { scratch, command, calls: case["calls"].take(), omitted: case["omitted"].take() }
    }

    fn guarded(&self) -> Vec<String> {
        let guard = [program().to_str().unwrap(), "guard", "--results-file", "none", "--"]
            .map(str::to_owned);
        [&guard[..], &self.command].concat()
    }

    /// The server behind a guard on HTTP: the guard and its URL.
    fn listen(&self) -> (Process, Vec<String>) {
        let mut guard = toolbond(&["guard", "--listen", "127.0.0.1:0", "--"]);
        guard.args(&self.command).current_dir(self.scratch.path());
        let (guard, port) = Process::listening(guard);
        (guard, vec![url(port)])
    }

    /// What `client` reports of the server at each of `targets`.
    fn visit(&self, client: &[String], targets: &[Vec<String>], calls: &Value) -> Vec<Value> {
        let visits: Value = targets.iter().map(|target| json!([target, calls])).collect();
        let mut command = command(client);
        command.arg(visits.to_string()).current_dir(self.scratch.path());
        let output = command.output().unwrap();
        let said = String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{client:?}: {said}");
        let lines = output.stdout.split(|byte| *byte == b'\n').filter(|line| !line.is_empty());
        let reports: Vec<_> = lines.map(|line| serde_json::from_slice(line).unwrap()).collect();
        assert_eq!(reports.len(), targets.len());
        reports
    }

    /// No read-only tool with an older output schema is left out without a reason.
    fn check_called(&self, older: &Value) {
        let calls = self.calls.as_array().unwrap();
        for name in older.as_array().unwrap() {
            let has_reason = self.omitted.get(name.as_str().unwrap()).is_some();
            assert!(has_reason || calls.iter().any(|call| call[0] == *name), "{name}");
        }
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

/// The words of a client of `peers/clients`.
fn client(program: &str, mode: &str) -> Vec<String> {
    [peers::words(&format!("clients/{program}")), vec![mode.to_owned()]].concat()
}

/// The packages of clients that read only 2020-12.
const STRICT: [&str; 2] = ["client-2.0.0-beta.1", "client-2.0.0-beta.5"];

/// Clients that read only 2020-12: each call fails directly, and works through the guard.
fn works_only_through_the_guard(name: &str, packages: &[&str]) {
    let server = Server::new(name);
    let (_guard, url) = server.listen();
    for package in packages {
        let client = client("typescript.mjs", package);
        let targets = [server.command.clone(), server.guarded(), url.clone()];
        let reports = server.visit(&client, &targets, &server.calls);
        for result in reports[0]["calls"].as_array().unwrap() {
            let failure = result["failed"].as_str().unwrap_or_default();
            assert!(failure.contains("unsupported dialect"), "{package}: {result}");
        }
        for report in &reports[1..] {
            assert_eq!(report["tools"], reports[0]["tools"]);
            succeeds(&client, &server.calls, report);
        }
        server.check_called(&reports[0]["older"]);
    }
}

/// Clients that read draft-07: the program, and its mode.
const OTHERS: [(&str, &str); 4] = [
    ("typescript.mjs", "v1"),
    ("typescript.mjs", "legacy"),
    ("python_v1.py", "legacy"),
    ("python_v2.py", "legacy"),
];

/// Clients that read draft-07 work with the same servers through the guard.
fn works_for_others(name: &str, others: &[(&str, &str)]) {
    let server = Server::new(name);
    // What is filled in from an earlier result, only the program of the others does.
    let is_plain = |call: &&Value| !call.to_string().contains("FROM ");
    let calls: Value = server.calls.as_array().unwrap().iter().filter(is_plain).cloned().collect();
    let (_guard, url) = server.listen();
    for (program, mode) in others {
        let client = client(program, mode);
        for report in &server.visit(&client, &[server.guarded(), url.clone()], &calls) {
            succeeds(&client, &calls, report);
        }
    }
}

/// Each server with one client of both kinds, and all of them with every client.
macro_rules! servers {
    ($($name:ident: $strict:literal, $other:literal;)*) => {$(
        mod $name {
            use super::{OTHERS, STRICT};

            #[test]
            fn works_only_through_the_guard() {
                super::works_only_through_the_guard(stringify!($name), &STRICT[$strict..=$strict]);
            }

            #[test]
            fn works_for_another_client() {
                super::works_for_others(stringify!($name), &OTHERS[$other..=$other]);
            }

            #[test]
            #[ignore = "long matrix: cargo xtask test --all"]
            fn works_for_every_client() {
                super::works_only_through_the_guard(stringify!($name), &STRICT);
                super::works_for_others(stringify!($name), &OTHERS);
            }
        }
    )*};
}

servers! {
    server_filesystem: 0, 0;
    server_memory: 1, 2;
    server_sequential_thinking: 0, 3;
    repomix: 1, 1;
    angular_cli: 0, 0;
}
