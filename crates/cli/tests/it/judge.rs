//! `toolpact judge` and `toolpact explain`.

use serde_json::Value;

use crate::command::{commands, toolpact_with};

commands! {
    judges_each_tool_alone: ["judge", "tools.json"];
    says_that_all_is_kept: ["judge", "fine.tools.json"];
    repairs_on_request: ["judge", "--policy", "repair", "tools.json"];
    rejects_on_request: ["judge", "--policy", "reject", "tools.json", "--format", "concise"];
    writes_what_is_kept: ["judge", "--policy", "repair", "--kept", "--format", "concise", "tools.json"];
    judges_in_json: ["judge", "--format", "json", "tools.json", "fine.tools.json"];
    sums_several_lists: ["judge", "fine.tools.json", "tools.json", "nowhere.json"];
    finds_no_list: ["judge", "good.json"];
    refuses_an_unknown_policy: ["judge", "--policy", "fix", "tools.json"];
    reports_selected_rules_and_errors: ["judge", "--select", "nullable", "tools.json", "--format", "concise"];
    does_not_report_ignored_rules: ["judge", "--ignore", "tool-name-form", "tools.json", "--format", "concise"];
    suggests_a_rule_to_ignore: ["judge", "--ignore", "tool-name-from", "tools.json"];
    refuses_to_ignore_an_error: ["judge", "--ignore", "external-ref", "tools.json"];
    explains_judging: ["judge", "--help"];

    lists_the_rules: ["explain"];
    explains_a_rule: ["explain", "exclusive-bound"];
    knows_no_such_rule: ["explain", "no-such-rule"];
}

#[test]
fn judges_standard_input() {
    let response = r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a"}]}}"#;
    let output = toolpact_with(&["judge", "--format", "json"], response);
    assert_eq!(output.status.code(), Some(1));
    let line: Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = line["findings"].as_array().unwrap();
    let missing = findings.iter().find(|finding| finding["rule"] == "input-missing").unwrap();
    assert_eq!(missing["action"], "tool-dropped");
}

#[test]
fn says_where_json_lines_are_read_from() {
    let output = toolpact_with(&["judge"], "{\"name\":\"a\"}\n\n{\"name\":\"b\"}\n");
    assert_eq!(output.status.code(), Some(2));
    assert_eq!(
        String::from_utf8(output.stderr).unwrap().lines().next(),
        Some(
            "error: stdin:3:1: invalid JSON: trailing characters \
             (for one value per line, use a file whose name ends in .jsonl)"
        )
    );
}

/// Some servers of 2026-07-28 end when they get `initialize`.
#[test]
fn judges_a_server_that_does_not_know_initialize() {
    let server = toolpact_testkit::conformance::example("era_server").unwrap();
    let output = toolpact_with(&["judge", "--", server.to_str().unwrap(), "modern"], "");
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}
