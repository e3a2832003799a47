//! Published clients and servers with a guard between them.

use serde_json::{Value, json};
use toolbond_harness::peers;
use toolbond_harness::process::{Process, program, toolbond};

/// The bare server, which has no SDK, on HTTP: the process and its port.
pub(crate) fn bare(options: &[&str]) -> (Process, u16) {
    let mut node = peers::command("servers/bare.mjs");
    node.arg("--http").args(options);
    Process::listening(node)
}

/// The program of the bare server.
pub(crate) fn bare_program() -> String {
    peers::words("servers/bare.mjs").remove(1)
}

/// The table of the bare server in a configuration, and more in it.
pub(crate) fn bare_table(more: &str) -> String {
    format!("[servers.bare]\ncommand = 'node'\nargs = ['{}', '--bad']\n{more}\n", bare_program())
}

/// What the bare server knows as a ping from 2026-07-28 on.
pub(crate) const BARE_PING: &str = r#"{"jsonrpc":"2.0","id":99,"method":"bare/ping"}"#;

/// A call that the bare server answers after the next ping. It tells its progress at once.
pub(crate) fn waits(id: u32) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": "wait", "_meta": { "progressToken": id } } })
    .to_string()
}

/// A client of an official SDK.
#[derive(Clone, Copy)]
pub(crate) enum Client {
    TypescriptV1,
    /// Of revision 2026-07-28.
    TypescriptV2,
    /// Of revision 2026-07-28.
    PythonV2,
}

/// What a client reports of the server that `command` starts, or at this URL.
pub(crate) fn visit_with(client: Client, calls: &Value, command: &[&str]) -> Value {
    let program = match client {
        Client::TypescriptV1 => "clients/client-v1.mjs",
        Client::TypescriptV2 => "clients/client-v2.mjs",
        Client::PythonV2 => "clients/client.py",
    };
    let mut client = peers::command(program);
    client.arg(calls.to_string()).arg("--").args(command).current_dir(peers::path("servers"));
    let output = client.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

/// What a TypeScript v1 client reports of the server that `command` starts, through a guard with these options.
pub(crate) fn visit(guard: Option<&[&str]>, calls: &Value, command: &[&str]) -> Value {
    let program = program();
    let guard = guard.map(|options| {
        [&[program.to_str().unwrap(), "guard", "--results-file", "none"], options, &["--"]].concat()
    });
    visit_with(Client::TypescriptV1, calls, &[&guard.unwrap_or_default(), command].concat())
}

fn names(report: &Value) -> Vec<&str> {
    report["tools"].as_array().unwrap().iter().map(|tool| tool["name"].as_str().unwrap()).collect()
}

fn structured(report: &Value) -> Vec<Value> {
    let calls = report["calls"].as_array().unwrap().iter();
    calls.map(|result| result["structuredContent"].clone()).collect()
}

#[test]
fn typescript_v1_reads_arrays_numbers_null_and_unions_only_through_the_guard() {
    let calls = json!([
        ["forecast", {}], ["count", {}], ["find_person", { "id": 2 }], ["shape", {}], ["undeclared", {}],
    ]);
    let server = ["node", "bare.mjs"];
    let direct = visit(None, &calls, &server);
    assert!(direct["tools"]["failed"].is_string());
    for call in [0, 1, 2, 4] {
        assert!(direct["calls"][call]["failed"].is_string(), "{call}");
    }
    let guarded = visit(Some(&[]), &calls, &server);
    assert_eq!(names(&guarded).len(), 7);
    assert_eq!(
        structured(&guarded),
        [
            json!({ "result": [{ "day": "monday" }, { "day": "tuesday" }] }),
            json!({ "result": 42 }),
            json!({ "result": null }),
            json!({ "radius": 2 }),
            json!({ "result": [1, 2, 3] }),
        ]
    );
}

#[test]
fn typescript_v1_keeps_the_good_tools_beside_bad_ones() {
    let calls = json!([["count", {}], ["remote", {}], ["no_input", {}]]);
    let guarded = visit(Some(&["--tools", "filter"]), &calls, &["node", "bare.mjs", "--bad"]);
    let names = names(&guarded);
    assert_eq!(names.len(), 8);
    assert!(!names.contains(&"no_input") && names.contains(&"remote"));
    assert_eq!(guarded["calls"][0]["structuredContent"], json!({ "result": 42 }));
    assert_eq!(guarded["calls"][1]["structuredContent"], json!({ "any": "thing" }));
    assert!(guarded["calls"][2]["failed"].as_str().unwrap().contains("is not offered"));
}

#[test]
fn typescript_v1_gets_wrong_arguments_and_results_refused() {
    let calls = json!([["ranged", { "n": 500, "code": "NOPE" }], ["lying", {}]]);
    let guarded = visit(Some(&["--results", "enforce"]), &calls, &["node", "bare.mjs"]);
    let text = |call: usize| guarded["calls"][call]["content"][0]["text"].as_str().unwrap();
    assert_eq!(guarded["calls"][0]["isError"], true);
    assert!(text(0).contains("n: expected a number ≤ 10, found 500"));
    assert_eq!(guarded["calls"][1]["isError"], true);
    assert!(text(1).contains("was withheld") && !text(1).contains("not a number"));
}

#[test]
fn a_live_server_is_judged() {
    let lint =
        ["lint", "--policy", "filter", "--format", "json", "--", "node", "bare.mjs", "--bad"];
    let output = toolbond(&lint).current_dir(peers::path("servers")).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["kept"].as_array().unwrap().len(), 8);
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["rule"] == "input-root"), "{report}");
}
