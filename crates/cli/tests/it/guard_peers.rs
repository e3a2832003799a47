//! Published clients and servers with a guard between them.

use std::process::Command;

use serde_json::{Value, json};
use toolbond_harness::peers;

/// What a TypeScript v1 client reports of the server that `command` starts in `peers/servers`.
pub(crate) fn visit(guard: Option<&[&str]>, calls: &Value, command: &[&str]) -> Value {
    let mut client = peers::command("clients/client-v1.mjs");
    client.arg(calls.to_string()).arg("--");
    if let Some(options) = guard {
        client.arg(env!("CARGO_BIN_EXE_toolbond")).arg("guard").args(options).arg("--");
    }
    client.args(command).current_dir(peers::path("servers"));
    let output = client.output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
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
    let mut lint = Command::new(env!("CARGO_BIN_EXE_toolbond"));
    lint.args([
        "lint", "--policy", "filter", "--format", "json", "--", "node", "bare.mjs", "--bad",
    ]);
    let output = lint.current_dir(peers::path("servers")).output().unwrap();
    assert_eq!(output.status.code(), Some(1), "{}", String::from_utf8_lossy(&output.stderr));
    let report: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(report["kept"].as_array().unwrap().len(), 8);
    let findings = report["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["rule"] == "input-root"), "{report}");
}
