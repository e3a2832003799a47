//! Published servers through the guard: every answer byte for byte as without.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::guard_http::Process;
use crate::guard_peers::peers;

/// A folder that a server may write to.
struct Scratch(PathBuf);

impl Scratch {
    fn new(name: &str) -> Self {
        let place = std::env::temp_dir().join(format!("toolpact-{}-{name}", std::process::id()));
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

fn words(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().map(|word| word.as_str().unwrap())
}

/// Starts the server of `case`, asks for its tools and makes the calls: the text of each answer.
fn answers(name: &str, case: &Value, guarded: bool) -> Vec<String> {
    let scratch = Scratch::new(name);
    let case = scratch.put_into(case);
    if let Some(prepare) = case["prepare"].as_str() {
        let mut shell = Command::new("sh");
        assert!(shell.args(["-c", prepare]).current_dir(&scratch.0).status().unwrap().success());
    }
    let mut command = words(&case["command"]).collect::<Vec<_>>();
    if guarded {
        command
            .splice(0..0, [env!("CARGO_BIN_EXE_toolpact"), "guard", "--results", "enforce", "--"]);
    }
    let peers = peers();
    let python = case.get("python").cloned().unwrap_or_else(|| json!(["peers"]));
    let python = words(&python).map(|folder| peers.join("../../python").join(folder));
    let mut server = Command::new(command[0]);
    server
        .args(&command[1..])
        .current_dir(&peers)
        .env("PYTHONPATH", std::env::join_paths(python).unwrap())
        .env("PYTHONDONTWRITEBYTECODE", "1")
        .env("MEMORY_FILE_PATH", scratch.0.join("memory.jsonl"))
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null());
    let mut server = Process(server.spawn().unwrap());
    let mut input = server.0.stdin.take().unwrap();
    let mut output = BufReader::new(server.0.stdout.take().unwrap());

    let hello = json!({ "protocolVersion": "2025-06-18", "capabilities": {},
        "clientInfo": { "name": "published", "version": "1" } });
    let mut requests = vec![("initialize", hello), ("tools/list", json!({}))];
    requests.extend(
        case["calls"]
            .as_array()
            .unwrap()
            .iter()
            .map(|call| ("tools/call", json!({ "name": call[0], "arguments": call[1] }))),
    );
    let mut answers = Vec::new();
    for (id, (method, params)) in requests.into_iter().enumerate() {
        let request = json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params });
        writeln!(input, "{request}").unwrap();
        loop {
            let mut line = String::new();
            assert!(output.read_line(&mut line).unwrap() > 0, "{name} ended at {request}");
            // What it tells meanwhile depends on the moment.
            if serde_json::from_str::<Value>(&line).is_ok_and(|answer| answer["id"] == id) {
                answers.push(line);
                break;
            }
        }
        if method == "initialize" {
            writeln!(input, r#"{{"jsonrpc":"2.0","method":"notifications/initialized"}}"#).unwrap();
        }
    }
    answers
}

fn works_as_without(name: &str) {
    let cases: Value = serde_json::from_str(include_str!("data/published.json")).unwrap();
    let direct = answers(name, &cases[name], false);
    let tools: Value = serde_json::from_str(&direct[1]).unwrap();
    assert!(!tools["result"]["tools"].as_array().unwrap().is_empty(), "{tools}");
    assert_eq!(direct, answers(name, &cases[name], true));
}

macro_rules! published {
    ($($name:ident)*) => {$(
        #[test]
        fn $name() {
            works_as_without(stringify!($name));
        }
    )*};
}

published! {
    server_everything
    server_filesystem
    server_memory
    server_sequential_thinking
    knowledge_graph
    time_mcp
    mcp_server_git
    mcp_server_time
    mcp_server_sqlite
    mcp_server_calculator
}

/// What the command line client of MCP Inspector prints.
fn inspect(arguments: &[&str], server: &[&str]) -> String {
    let launcher = "node_modules/@modelcontextprotocol/inspector/clients/launcher/build/index.js";
    let scratch = Scratch::new("inspector");
    let config = scratch.0.join("mcp.json");
    let server = json!({ "command": server[0], "args": server[1..] });
    fs::write(&config, json!({ "mcpServers": { "one": server } }).to_string()).unwrap();
    let mut inspector = Command::new("node");
    inspector.args([launcher, "--cli", "--config"]).arg(config).args(["--server", "one"]);
    let output = inspector.args(arguments).current_dir(peers()).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn mcp_inspector_works_through_the_guard() {
    let everything = ["node", "node_modules/@modelcontextprotocol/server-everything/dist/index.js"];
    let guarded = [&[env!("CARGO_BIN_EXE_toolpact"), "guard", "--"], &everything[..]].concat();
    let sum = ["--method", "tools/call", "--tool-name", "get-sum", "--tool-arg", "a=1", "b=2"];
    for arguments in [&["--method", "tools/list"][..], &sum, &["--method", "resources/list"]] {
        let direct = inspect(arguments, &everything);
        assert!(direct.starts_with('{'), "{direct}");
        assert_eq!(direct, inspect(arguments, &guarded));
    }
}
