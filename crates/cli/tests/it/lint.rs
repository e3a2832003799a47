//! `toolbond lint`, `toolbond view`, `toolbond targets` and `toolbond explain`: output and exit code.

use std::fs;
use std::path::PathBuf;
#[cfg(unix)]
use std::process::Command;

use serde_json::Value;

use crate::command::{commands, toolbond, toolbond_with};

commands! {
    shows_what_happens_at_each_target: ["lint", "lint/shop.tools.json"];
    shows_all_on_request: ["lint", "--verbose", "--target", "gemini", "lint/shop.tools.json"];
    writes_one_line_per_finding: ["lint", "--format", "concise", "--target", "gemini", "lint/shop.tools.json"];
    writes_json: ["lint", "--format", "json", "--target", "gemini", "lint/shop.tools.json"];
    writes_sarif: ["lint", "--format", "sarif", "--target", "none", "--select", "tool-name-form", "lint/shop.tools.json"];
    writes_workflow_commands: ["lint", "--format", "github", "--target", "gemini", "lint/shop.tools.json"];
    writes_a_code_quality_report: ["lint", "--format", "gitlab", "--target", "gemini", "lint/shop.tools.json"];
    writes_junit: ["lint", "--format", "junit", "--target", "gemini", "lint/shop.tools.json"];
    writes_markdown: ["lint", "--format", "markdown", "lint/shop.tools.json"];

    lints_each_tool_alone: ["lint", "--target", "none", "tools.json"];
    says_that_all_is_fine: ["lint", "--target", "none", "lint/folder/fine.json"];
    drops_on_request: ["lint", "--target", "none", "--policy", "filter", "--format", "concise", "tools.json"];
    rejects_on_request: ["lint", "--target", "none", "--policy", "reject", "--format", "concise", "tools.json"];
    writes_what_is_kept: ["lint", "--target", "none", "--kept", "--format", "concise", "tools.json"];
    sums_several_lists: ["lint", "--target", "none", "fine.tools.json", "tools.json", "nowhere.json"];
    lints_a_folder: ["lint", "--target", "none", "lint/folder"];
    wants_lists_in_a_folder: ["lint", "config"];
    finds_no_list: ["lint", "good.json"];
    refuses_an_unknown_policy: ["lint", "--policy", "fix", "tools.json"];
    no_target_is_named_beside_none: ["lint", "--target", "all,none", "tools.json"];
    names_are_read_beside_all: ["lint", "--target", "all,gemni", "tools.json"];
    refuses_an_unknown_target: ["lint", "--target", "gemni", "tools.json"];
    refuses_an_unknown_format: ["lint", "--format", "xml", "tools.json"];
    refuses_an_unknown_severity: ["lint", "--fail-on", "fatal", "tools.json"];
    reports_selected_rules_and_errors: ["lint", "--target", "none", "--select", "nullable", "tools.json", "--format", "concise"];
    does_not_report_ignored_rules: ["lint", "--target", "none", "--ignore", "tool-name-form", "tools.json", "--format", "concise"];
    suggests_a_rule_to_ignore: ["lint", "--ignore", "tool-name-from", "tools.json"];
    refuses_to_ignore_an_error: ["lint", "--ignore", "external-ref", "tools.json"];
    fails_on_errors_only: ["lint", "--target", "none", "--fail-on", "error", "--format", "concise", "lint/shop.tools.json"];
    reads_options_from_a_file: ["lint", "--config", "lint/lint.toml", "--format", "concise", "lint/shop.tools.json"];
    the_command_line_comes_first: ["lint", "--config", "lint/lint.toml", "--fail-on", "warning", "--ignore", "nullable", "--format", "concise", "lint/shop.tools.json"];
    says_which_target_of_a_file_was_meant: ["lint", "--config", "lint/target.toml", "tools.json"];
    says_which_key_of_a_file_was_meant: ["lint", "--config", "lint/key.toml", "tools.json"];
    finds_no_file_of_options: ["lint", "--config", "nowhere.toml", "tools.json"];
    finds_no_baseline: ["lint", "--baseline", "nowhere.json", "tools.json"];
    wants_a_baseline_that_is_one: ["lint", "--baseline", "good.json", "tools.json"];
    wants_a_place_for_the_baseline: ["lint", "--write-baseline", "tools.json"];
    fixes_no_live_server: ["lint", "--fix", "http://127.0.0.1:9/mcp"];
    fixes_no_command: ["lint", "--fix", "--", "cat"];
    waits_a_second_at_least: ["lint", "--timeout", "0", "--", "cat"];
    explains_linting: ["lint", "--help"];

    views_need_a_target: ["view", "fine.tools.json"];
    views_need_a_known_target: ["view", "--for", "open-ai", "fine.tools.json"];
    views_need_tools: ["view", "--for", "gemini", "good.json"];
    shows_a_view: ["view", "--for", "gemini", "lint/shop.tools.json"];
    explains_viewing: ["view", "--help"];

    lists_the_targets: ["targets"];
    says_what_a_target_accepts: ["targets", "gemini"];
    knows_no_such_target: ["targets", "gemni"];

    lists_the_rules: ["explain"];
    explains_a_rule: ["explain", "exclusive-bound"];
    knows_no_such_rule: ["explain", "no-such-rule"];
    suggests_a_rule_to_explain: ["explain", "external-reff"];
}

/// A folder of its own.
pub(crate) struct Scratch(pub(crate) PathBuf);

impl Scratch {
    pub(crate) fn new(name: &str) -> Self {
        let place =
            std::env::temp_dir().join(format!("toolbond-lint-{}-{name}", std::process::id()));
        fs::create_dir_all(&place).unwrap();
        Self(place)
    }

    pub(crate) fn write(&self, name: &str, text: &str) -> String {
        let path = self.0.join(name);
        fs::write(&path, text).unwrap();
        path.to_str().unwrap().to_owned()
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

pub(crate) fn text(bytes: Vec<u8>) -> String {
    String::from_utf8(bytes).unwrap()
}

#[test]
fn lints_standard_input() {
    let response = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}]}}"#;
    let output = toolbond_with(&["lint", "--format", "json", "--policy", "filter"], response);
    assert_eq!(output.status.code(), Some(1));
    let line: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = line["findings"].as_array().unwrap();
    let missing = findings.iter().find(|finding| finding["rule"] == "input-missing").unwrap();
    assert_eq!(missing["action"], "tool-dropped");
}

#[test]
fn says_where_json_lines_are_read_from() {
    let output = toolbond_with(&["lint"], "{\"name\":\"a\"}\n\n{\"name\":\"b\"}\n");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        text(output.stderr).lines().next(),
        Some(
            "error: stdin:3:1: invalid JSON: trailing characters \
             (for one value per line, use a file whose name ends in .jsonl)"
        )
    );
}

/// Some servers of 2026-07-28 end when they get `initialize`.
#[test]
fn lints_a_server_that_does_not_know_initialize() {
    let server = toolbond_harness::process::example("toolbond-peers", "era_server");
    let server = ["lint", "--target", "none", "--", server.to_str().unwrap(), "modern"];
    let output = toolbond_with(&server, "");
    assert_eq!(output.status.code(), Some(0), "{}", text(output.stderr));
}

#[cfg(unix)]
#[test]
fn a_server_that_never_answers_is_told_in_one_line() {
    let output = toolbond(&["lint", "--timeout", "1", "--", "sleep", "600"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(output.stderr), "error: sleep: no tool list within 1 s\n");
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let output = toolbond(&["lint", "--timeout", "1", &url]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(text(output.stderr), format!("error: {url}: no tool list within 1 s\n"));
}

#[cfg(unix)]
/// A server whose list has another order the second time. The requests are 1, 2 and 3.
const SHUFFLING: &str = r#"
a='{"name":"a","description":"A.","inputSchema":{"type":"object","properties":{}}}'
b='{"name":"b","description":"B.","inputSchema":{"type":"object","properties":{}}}'
while read -r line; do case "$line" in
*'"id":1'*) echo '{"jsonrpc":"2.0","id":1,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"s","version":"1"}}}' ;;
*'"id":2'*) echo '{"jsonrpc":"2.0","id":2,"result":{"tools":['"$a,$b"']}}' ;;
*'"id":3'*) echo '{"jsonrpc":"2.0","id":3,"result":{"tools":['"$b,$a"']}}' ;;
esac; done"#;

#[cfg(unix)]
#[test]
fn a_list_that_changes_its_order_is_found() {
    let lint = |options: &[&str]| {
        let mut command = toolbond(&["lint", "--target", "none", "--format", "concise"]);
        let output = command.args(options).args(["--", "sh", "-c", SHUFFLING]).output().unwrap();
        (output.status.code(), text(output.stdout))
    };
    let (code, out) = lint(&[]);
    assert_eq!(code, Some(1));
    assert!(out.starts_with("sh: warning[list-order] #/tools/0: "), "{out}");
    assert_eq!(lint(&["--ignore", "list-order"]), (Some(0), String::new()));
}

/// As those of the guard, a server does not outlive the command; and a URL is not waited for.
#[cfg(unix)]
#[test]
fn a_signal_ends_the_wait_for_a_url() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let mut lint = toolbond(&["lint", &url]).spawn().unwrap();
    // It has connected, and so handles signals.
    let _connection = listener.accept().unwrap();
    let kill = format!("kill -INT {}", lint.id());
    assert!(Command::new("sh").args(["-c", &kill]).status().unwrap().success());
    assert_eq!(lint.wait().unwrap().code(), Some(130));
}

#[test]
fn folders_are_bounded() {
    let scratch = Scratch::new("bounds");
    let mut deep = scratch.0.join("deep");
    for _ in 0..17 {
        deep = deep.join("d");
    }
    fs::create_dir_all(&deep).unwrap();
    let output = toolbond(&["lint", scratch.0.join("deep").to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = text(output.stderr);
    assert!(said.ends_with("exceeds the limit of 16 nested folders\n"), "{said}");
    assert_eq!(said.lines().count(), 1);
    let many = scratch.0.join("many");
    fs::create_dir(&many).unwrap();
    for index in 0..=10_000 {
        fs::write(many.join(format!("{index}.json")), "").unwrap();
    }
    let output = toolbond(&["lint", many.to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = text(output.stderr);
    assert!(said.ends_with("exceeds the limit of 10000 files in a folder\n"), "{said}");
}

#[test]
fn options_are_read_from_the_working_directory() {
    let scratch = Scratch::new("options");
    scratch.write("toolbond.toml", "[lint]\ntargets = ['none']\nbaseline = 'known.json'\n");
    scratch.write(
        "tool.json",
        r#"{"name":"a b","description":"A.","inputSchema":{"type":"object","properties":{}}}"#,
    );
    let lint = |arguments: &[&str]| {
        let output = toolbond(arguments).current_dir(&scratch.0).output().unwrap();
        (output.status.code(), text(output.stdout), text(output.stderr))
    };
    let (code, _, err) = lint(&["lint", "tool.json"]);
    assert_eq!(code, Some(2));
    assert!(err.contains("known.json: no such baseline"), "{err}");
    let (code, _, err) = lint(&["lint", "tool.json", "--write-baseline", "--format", "concise"]);
    assert_eq!((code, err.as_str()), (Some(0), "note: known.json: wrote 1 known findings\n"));
    let (code, out, err) = lint(&["lint", "tool.json", "--format", "concise"]);
    assert_eq!((code, out.as_str(), err.as_str()), (Some(0), "", ""));

    // What is known stays known elsewhere in the list, and another finding is not.
    let two = r#"[{"name":"c d","description":"C.","inputSchema":{"type":"object","properties":{}}},
        {"name":"a b","description":"A.","inputSchema":{"type":"object","properties":{}}}]"#;
    scratch.write("tool.json", two);
    let (code, out, _) = lint(&["lint", "tool.json", "--format", "concise"]);
    assert_eq!(code, Some(1));
    assert!(out.lines().count() == 1 && out.contains("[tool-name-form] c d #/name"), "{out}");

    // An entry that no longer occurs fails.
    scratch.write(
        "tool.json",
        r#"{"name":"a_b","description":"A.","inputSchema":{"type":"object","properties":{}}}"#,
    );
    let (code, out, _) = lint(&["lint", "tool.json", "--format", "concise"]);
    assert_eq!(code, Some(1));
    assert!(out.starts_with("baseline: ") && out.contains("(tool-name-form a b #/name)"), "{out}");
    for format in ["full", "json", "sarif", "github", "gitlab", "junit", "markdown"] {
        let (code, out, err) = lint(&["lint", "tool.json", "--format", format]);
        assert_eq!(code, Some(1), "{format}");
        let said = if ["sarif", "gitlab"].contains(&format) { err } else { out };
        assert!(said.contains("tool-name-form"), "{format}: {said}");
    }
    // A list that cannot be read does not empty the baseline.
    let before = fs::read(scratch.0.join("known.json")).unwrap();
    assert_eq!(lint(&["lint", "nowhere.json", "--write-baseline"]).0, Some(2));
    assert_eq!(fs::read(scratch.0.join("known.json")).unwrap(), before);
    assert_eq!(lint(&["lint", "tool.json", "--write-baseline"]).0, Some(0));
    assert_eq!(lint(&["lint", "tool.json"]).0, Some(0));
}
