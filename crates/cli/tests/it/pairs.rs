//! Clients and servers of the official SDKs and of `FastMCP`, with a guard between them and without:
//! `data/pairs.json` says what comes of each pair.
//!
//! The guard leaves results as they are here: what it learned of one client would change what the next one sees.

use serde_json::{Map, Value, json};
use toolbond_harness::guard::in_front_of;
use toolbond_harness::mcp::url;
use toolbond_harness::peers;
use toolbond_harness::process::{Process, program};

/// An array, a number, null and an object that is one of two.
const CALLS: &str = r#"[["forecast",{}],["count",{}],["find_person",{"id":2}],["shape",{"id":1}]]"#;

/// The servers, and their programs.
const SERVERS: [(&str, &str); 5] = [
    ("rmcp", "rmcp/bare"),
    ("TypeScript v2", "servers/v2.mjs"),
    ("Python 2.x", "servers/typed.py"),
    ("Python 2.x, low-level", "servers/lowlevel.py"),
    ("FastMCP", "servers/fast.py"),
];

const CLIENTS: [(&str, &str); 3] = [
    ("TypeScript v1", "clients/client-v1.mjs"),
    ("TypeScript v2, 2026-07-28", "clients/client-v2.mjs"),
    ("Python 2.x, 2026-07-28", "clients/client.py"),
];

/// What `client` reports of each of `targets`, commands or URLs.
fn reports(client: &str, targets: &[Vec<String>]) -> Vec<Value> {
    let output =
        peers::command(client).arg(CALLS).arg("--").args(targets.join(&"---".to_owned())).output();
    let output = output.unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{client} {targets:?}: {said}");
    let text = String::from_utf8(output.stdout).unwrap();
    let reports: Vec<_> = text.lines().map(outcome).collect();
    assert_eq!(reports.len(), targets.len(), "{client}: {text}");
    reports
}

/// What a report says of the list and of each call.
fn outcome(report: &str) -> Value {
    let report: Value = serde_json::from_str(report).unwrap();
    let mut outcome = Map::new();
    let tools = &report["tools"];
    let list = tools.as_array().map_or_else(|| failure(tools), |tools| tools.len().into());
    outcome.insert("list".to_owned(), list);
    let names = serde_json::from_str::<Vec<(String, Value)>>(CALLS).unwrap();
    for ((name, _), result) in names.into_iter().zip(report["calls"].as_array().unwrap()) {
        let said = match result.get("structuredContent") {
            _ if result.get("failed").is_some() => failure(result),
            Some(value) => json!({ "gives": value }),
            None => json!("gives nothing structured"),
        };
        outcome.insert(name, said);
    }
    outcome.into()
}

/// The first line of an error that tells; the TypeScript SDK tells it as a list of issues.
fn failure(report: &Value) -> Value {
    let text = report["failed"].as_str().unwrap();
    let told = text.split("\"message\": ").nth(1).unwrap_or(text).lines().next().unwrap();
    json!({ "fails": told.replace(['"', '\\'], "") })
}

/// Compares what a client reports of servers, without and with a guard, with the table.
fn compare((client, program): (&str, &str), servers: &[(&str, [Vec<String>; 2])]) {
    let table: Value = serde_json::from_str(include_str!("data/pairs.json")).unwrap();
    let targets: Vec<_> = servers.iter().flat_map(|(_, targets)| targets.clone()).collect();
    for ((server, _), pair) in servers.iter().zip(reports(program, &targets).chunks(2)) {
        let outcome = if pair[0] == pair[1] {
            json!({ "either way": pair[0] })
        } else {
            json!({ "without": pair[0], "with": pair[1] })
        };
        assert_eq!(outcome, table[server][client], "{client}, {server}:\n{outcome:#}");
    }
}

/// A server as a command, without and with a guard.
fn over_stdio((server, name): (&'static str, &str)) -> (&'static str, [Vec<String>; 2]) {
    let program = program();
    let guard = [program.to_str().unwrap(), "guard", "--results", "warn", "--results-file", "none"];
    let words = peers::words(name);
    let guarded = guard.into_iter().chain(["--"]).map(str::to_owned).chain(words.iter().cloned());
    (server, [words.clone(), guarded.collect()])
}

#[test]
fn each_server_with_one_client_over_stdio() {
    let servers = SERVERS.map(over_stdio);
    for (number, client) in CLIENTS.into_iter().enumerate() {
        let own = servers.iter().skip(number).step_by(CLIENTS.len());
        compare(client, &own.cloned().collect::<Vec<_>>());
    }
}

#[test]
#[ignore = "long matrix: cargo xtask test --all"]
fn each_server_with_every_client_over_stdio() {
    let servers = SERVERS.map(over_stdio);
    for client in CLIENTS {
        compare(client, &servers);
    }
}

#[test]
fn each_server_with_every_client_over_http() {
    let running = SERVERS.map(|(server, name)| {
        let mut command = peers::command(name);
        command.arg("--http").args((name == "rmcp/bare").then_some("127.0.0.1:0"));
        let (process, port) = Process::listening(command);
        let (guard, guarded) = in_front_of(port, &["--results", "warn"]);
        ((server, [port, guarded].map(|port| vec![url(port)])), [process, guard])
    });
    let servers = running.each_ref().map(|(server, _)| server.clone());
    for client in CLIENTS {
        compare(client, &servers);
    }
}
