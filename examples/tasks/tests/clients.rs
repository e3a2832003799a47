//! Clients of other SDKs use the server, each of one era, on both transports.

use serde_json::{Value, json};
use toolbond_harness::{
    peers,
    process::{Process, command},
};

/// What each client does; see `peers/eras/steps.mjs`. The user who is asked says that her name is Ada.
fn lines(finished: &Value) -> Value {
    json!([
        ["call", "add", { "title": "bake", "due": "2026-12-24", "repeat": { "every_days": "7" } }, "\"every_days\":7"],
        ["call", "add", { "title": "sweep", "priority": "high" }, "\"id\":2"],
        ["fails", "add", { "title": "sweep", "priority": "urgent" }, "priority: expected \"low\", \"normal\" or \"high\""],
        ["call", "reschedule", { "id": 1, "due": null }, "\"due\":null,\"repeat\":{\"every_days\":7"],
        ["call", "assign", { "id": 1 }, "\"assignee\":\"Ada\""],
        ["fails", "assign", { "id": 9 }, "no task 9"],
        ["call", "open", { "priority": "high" }, "sweep"],
        ["read", "tasks://open", "\"title\":\"sweep\""],
        ["prompt", "plan", {}, "Open: bake, sweep."],
        finished,
    ])
}

/// What `client` does where the call of `finish` has a user, on standard input and output or with a bearer token.
fn ends_waiting(user: &str) -> Value {
    let done = format!("\"done_by\":\"{user}\"");
    json!(["during", "wait", { "id": 2 }, "waiting for sweep", ["finish", { "id": 2 }], done])
}

fn visit(client: &str, era: &str, token: Option<&str>) {
    let server = env!("CARGO_BIN_EXE_tasks");
    let (_server, port) = Process::listening(command(&[server, "--http", "127.0.0.1:0"]));
    let refused = json!(["fails", "finish", { "id": 2 }, "expected a bearer token"]);
    let on_http = token.map_or(refused, |_| ends_waiting("ada"));
    let visits = json!([
        ["stdio", [server], lines(&ends_waiting("me"))],
        ["http", [format!("http://127.0.0.1:{port}/mcp")], lines(&on_http)],
    ]);
    let mut client = command(&peers::words(client));
    client.args([era, &visits.to_string()]);
    client.envs(token.map(|token| ("TOKEN", token)));
    let output = client.output().unwrap();
    let steps: Vec<Value> = output
        .stdout
        .split(|byte| *byte == b'\n')
        .filter(|line| !line.is_empty())
        .map(|line| serde_json::from_slice(line).unwrap())
        .collect();
    let failed: Vec<_> = steps.iter().filter(|step| !step["error"].is_null()).collect();
    assert!(failed.is_empty(), "{failed:#?}");
    assert_eq!(steps.len(), 20, "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn typescript_v1() {
    visit("eras/client-v1.mjs", "legacy", Some("secret of ada"));
}

#[test]
fn typescript_v2() {
    for era in ["legacy", "modern"] {
        visit("eras/client-v2.mjs", era, Some("secret of ada"));
    }
}

#[test]
fn python_v1() {
    visit("eras/client_v1.py", "legacy", None);
}

#[test]
fn python_v2() {
    for era in ["legacy", "modern"] {
        visit("eras/client_v2.py", era, None);
    }
}
