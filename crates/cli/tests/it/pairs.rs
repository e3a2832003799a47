//! Clients and servers of the official SDKs and of `FastMCP`, with a guard between them and without:
//! `data/pairs.json` says what comes of each pair.

use std::process::Stdio;

use serde_json::{Map, Value, json};
use toolbond_harness::peers;

use crate::guard_http::{Process, guard, port_of};

/// An array, a number, null and an object that is one of two.
const CALLS: &str = r#"[["forecast",{}],["count",{}],["find_person",{"id":2}],["shape",{"id":1}]]"#;

/// What `client` reports of the server that `command` starts, or that listens at the URL `command`.
fn report(client: &str, command: &[String]) -> Value {
    let output = peers::command(client).arg(CALLS).arg("--").args(command).output().unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{client} {command:?}: {said}");
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
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

/// What the table says of a server.
fn expected(server: &str) -> Value {
    let table: Value = serde_json::from_str(include_str!("data/pairs.json")).unwrap();
    table[server].clone()
}

const CLIENTS: [(&str, &str); 3] = [
    ("TypeScript v1", "clients/client-v1.mjs"),
    ("TypeScript v2, 2026-07-28", "clients/client-v2.mjs"),
    ("Python 2.x, 2026-07-28", "clients/client.py"),
];

fn compare(server: &str, direct: &[String], guarded: &[String]) {
    let outcome: Map<_, _> = CLIENTS
        .into_iter()
        .map(|(name, client)| {
            let (direct, guarded) = (report(client, direct), report(client, guarded));
            let outcome = if direct == guarded {
                json!({ "either way": direct })
            } else {
                json!({ "without": direct, "with": guarded })
            };
            (name.to_owned(), outcome)
        })
        .collect();
    let outcome = Value::from(outcome);
    assert_eq!(outcome, expected(server), "\n{outcome:#}");
}

fn over_stdio(server: &str, name: &str) {
    let direct = peers::words(name);
    let mut guarded = [env!("CARGO_BIN_EXE_toolbond"), "guard", "--"].map(str::to_owned).to_vec();
    guarded.extend(direct.clone());
    compare(server, &direct, &guarded);
}

fn over_http(server: &str, name: &str) {
    let mut command = peers::command(name);
    command.arg("--http");
    if name == "rmcp/bare" {
        // It says where it listens, where the others print their port.
        command.arg("127.0.0.1:0").stderr(Stdio::piped());
    } else {
        command.stdout(Stdio::piped()).stderr(Stdio::null());
    }
    let mut process = Process(command.spawn().unwrap());
    let port = port_of(&mut process);
    let (_guard, guard) = guard(port, &[]);
    let url = |port: u16| [format!("http://127.0.0.1:{port}/mcp")];
    compare(server, &url(port), &url(guard));
}

macro_rules! pairs {
    ($($name:ident: $server:literal, $program:literal;)*) => {$(
        mod $name {
            #[test]
            fn over_stdio() {
                super::over_stdio($server, $program);
            }

            #[test]
            fn over_http() {
                super::over_http($server, $program);
            }
        }
    )*};
}

pairs! {
    rmcp: "rmcp", "rmcp/bare";
    typescript_v2: "TypeScript v2", "servers/v2.mjs";
    python: "Python 2.x", "servers/typed.py";
    python_low_level: "Python 2.x, low-level", "servers/lowlevel.py";
    fastmcp: "FastMCP", "servers/fast.py";
}
