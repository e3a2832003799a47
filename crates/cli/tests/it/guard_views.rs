//! `toolbond guard --for`: tools in the form of a target, and their calls, with published clients and servers.

use std::process::Command;

use serde_json::{Value, json};
use toolbond_harness::files::Folder;
use toolbond_harness::guard::{Configured, in_front_of};
use toolbond_harness::mcp::url;
use toolbond_harness::peers;
use toolbond_harness::process::{Process, program as toolbond_program, toolbond};

use crate::guard_peers::Client::{PythonV2, TypescriptV2};
use crate::guard_peers::{visit, visit_with};

/// The official server with all features, of the TypeScript SDK v1.
const EVERYTHING: &str = "@modelcontextprotocol/server-everything/dist/index.js";

/// The program `views.mjs`.
fn program() -> String {
    peers::words("servers/views.mjs").remove(1)
}

fn text(report: &Value, call: usize) -> &str {
    let call = &report["calls"][call];
    call["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{call}"))
}

/// The keys of all objects in `value`.
fn keys(value: &Value, found: &mut Vec<String>) {
    match value {
        Value::Object(members) => {
            found.extend(members.keys().cloned());
            members.values().for_each(|value| keys(value, found));
        }
        Value::Array(items) => items.iter().for_each(|item| keys(item, found)),
        _ => {}
    }
}

#[test]
fn a_published_server_works_as_a_view() {
    let right = json!([
        ["echo", { "message": "hi" }], ["get-sum", { "a": 1, "b": 2 }], ["get-tiny-image", {}],
        ["get-annotated-message", { "messageType": "error" }],
    ]);
    let server = ["node", &peers::package(EVERYTHING)];
    let direct = visit(None, &right, &server);
    let count = direct["tools"].as_array().unwrap().len();
    for target in ["gemini", "openai-strict", "anthropic-strict", "claude-code"] {
        let guarded = visit(Some(&["--for", target]), &right, &server);
        assert_eq!(guarded["tools"].as_array().unwrap().len(), count, "{target}");
        assert_eq!(guarded["calls"], direct["calls"], "{target}");
    }
    // Gemini knows neither of these. Under strict mode all properties are required, and `null` stands for none.
    let gemini = visit(Some(&["--for", "gemini"]), &json!([["echo", { "message": 5 }]]), &server);
    for tool in gemini["tools"].as_array().unwrap() {
        let mut found = Vec::new();
        keys(&tool["inputSchema"], &mut found);
        assert!(
            !found.iter().any(|key| key == "additionalProperties" || key == "$schema"),
            "{tool}"
        );
    }
    assert_eq!(gemini["calls"][0]["isError"], true);
    assert!(text(&gemini, 0).contains("expected string, found number"), "{gemini}");
    let calls = json!([
        ["get-annotated-message", { "messageType": "error", "includeImage": null }],
        ["get-annotated-message", { "messageType": "error", "includeImage": null, "more": 1 }],
    ]);
    let strict = visit(Some(&["--for", "openai-strict"]), &calls, &server);
    assert_eq!(strict["calls"][0], direct["calls"][3]);
    for tool in strict["tools"].as_array().unwrap() {
        let schema = &tool["inputSchema"];
        let properties = schema["properties"].as_object().map_or(0, serde_json::Map::len);
        assert_eq!(schema["required"].as_array().map_or(0, Vec::len), properties, "{tool}");
    }
}

/// Checks what a client of revision 2026-07-28 reports of `views.mjs` as a view for Gemini.
fn is_view(visit: impl Fn(&Value) -> Value) {
    let list = visit(&json!([]));
    let name = list["tools"][0]["name"].as_str().unwrap_or_else(|| panic!("{list}"));
    assert_ne!(name, "files/store");
    let schema = &list["tools"][0]["inputSchema"];
    assert_eq!(schema["properties"]["labels"]["type"], "array", "{schema}");
    let report = visit(&json!([
        [name, { "region": "eu", "labels": [{ "key": "team", "value": "blue" }] }],
        [name, { "region": "eu", "regions": ["eu"] }],
        [name, { "region": "eu", "labels": [{ "key": "team", "value": 7 }] }],
        [name, { "region": "eu", "size": "3", "more": true }],
    ]));
    let given = |call: usize| serde_json::from_str::<Value>(text(&report, call)).unwrap();
    assert_eq!(given(0), json!({ "region": "eu", "labels": { "team": "blue" } }));
    for (call, reason) in [(1, "regions"), (2, "labels.team: expected string, found number")] {
        assert_eq!(report["calls"][call]["isError"], true, "{report}");
        assert!(text(&report, call).contains(reason), "{report}");
    }
    assert_eq!(given(3), json!({ "region": "eu", "size": 3 }));
}

#[test]
fn typescript_calls_a_view_on_standard_input_and_output() {
    let program = program();
    let toolbond = toolbond_program();
    let guard = [
        toolbond.to_str().unwrap(),
        "guard",
        "--results-file",
        "none",
        "--for",
        "gemini",
        "--",
        "node",
    ];
    let visit =
        |calls: &Value| visit_with(TypescriptV2, calls, &[&guard[..], &[&program]].concat());
    is_view(visit);
    // Clients may remember the name that the tool has without a view.
    let given = json!({ "region": "eu", "labels": { "team": "red" } });
    let report = visit(&json!([["files/store", given]]));
    assert_eq!(serde_json::from_str::<Value>(text(&report, 0)).unwrap(), given);
}

#[test]
fn clients_call_a_view_of_a_server_on_http() {
    let mut node = Command::new("node");
    node.args([&program(), "--http"]);
    let (_server, port) = Process::listening(node);
    let (_guard, port) = in_front_of(port, &["--for", "gemini"]);
    let url = url(port);
    is_view(|calls| visit_with(TypescriptV2, calls, &[&url]));
    is_view(|calls| visit_with(PythonV2, calls, &[&url]));
}

#[test]
fn the_file_chooses_by_the_name_of_the_client() {
    let path = program();
    let guard = Configured::start(&format!(
        "[contract.for-clients]\npeers = 'gemini'\n[servers.views]\ncommand = 'node'\nargs = ['{path}']\n"
    ));
    let url = format!("http://127.0.0.1:{}/views/mcp", guard.port("/views/mcp"));
    // Clients of both eras; the Python client has another name.
    is_view(|calls| visit_with(TypescriptV2, calls, &[&url]));
    is_view(|calls| visit(None, calls, &[&url]));
    let full = visit_with(PythonV2, &json!([]), &[&url]);
    assert_eq!(full["tools"][0]["name"], "files/store", "{full}");
}

#[test]
fn an_unknown_target_is_an_error() {
    let output = toolbond(&["guard", "--for", "gemni", "--", "true"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains("no target `gemni`; did you mean `gemini`?"), "{said}");
    let folder = Folder::new();
    let file = folder
        .write("toolbond.toml", "[contract]\nfor = 'nobody'\n[servers.a]\ncommand = 'true'\n");
    let output = toolbond(&["guard", "--check-config", "--config", &file]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.contains(":2:7: no target `nobody`"), "{said}");
}
