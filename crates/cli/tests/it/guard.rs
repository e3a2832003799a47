//! `toolbond guard` and `toolbond lint -- COMMAND`: usage, and small conversations.

use crate::command::{commands, toolbond_with};

commands! {
    explains_guarding: ["guard", "--help"];
    wants_a_command: ["guard"];
    wants_a_command_after_dashes: ["guard", "--"];
    refuses_an_unknown_flag: ["guard", "--no-such-flag", "--", "cat"];
    refuses_an_unknown_tools_policy: ["guard", "--tools", "fix", "--", "cat"];
    refuses_an_unknown_mode: ["guard", "--results", "block", "--", "cat"];
    cannot_start_what_is_not_there: ["guard", "--", "no-such-program-anywhere"];
    refuses_an_upstream_that_is_no_url: ["guard", "--listen", "127.0.0.1:0", "--upstream", "nowhere"];
    refuses_an_upstream_of_another_scheme: ["guard", "--listen", "127.0.0.1:0", "--upstream", "ftp://a.example/mcp"];
    refuses_an_upstream_with_a_port_beyond_65535: ["guard", "--listen", "127.0.0.1:0", "--upstream", "http://127.0.0.1:99999/mcp"];
    cannot_listen_for_what_is_not_there: ["guard", "--listen", "127.0.0.1:0", "--", "no-such-program-anywhere"];
    refuses_certificates_that_are_none: ["guard", "--listen", "127.0.0.1:0", "--upstream", "https://a.example/mcp", "--ca-file", "good.json"];
    refuses_to_listen_nowhere: ["guard", "--listen", "nowhere", "--upstream", "http://127.0.0.1:9/mcp"];
    wants_something_to_listen_for: ["guard", "--listen", "127.0.0.1:0"];
    checks_a_configuration: ["guard", "--check-config", "--config", "config/fine.toml"];
    says_where_a_configuration_is_no_toml: ["guard", "--config", "config/broken.toml"];
    says_which_key_was_meant: ["guard", "--check-config", "--config", "config/key.toml"];
    says_which_value_was_meant: ["guard", "--check-config", "--config", "config/value.toml"];
    says_which_limit_was_meant: ["guard", "--check-config", "--config", "config/limit.toml"];
    says_which_type_was_expected: ["guard", "--check-config", "--config", "config/type.toml"];
    wants_a_command_or_a_url: ["guard", "--check-config", "--config", "config/both.toml"];
    wants_names_that_fit_into_a_path: ["guard", "--check-config", "--config", "config/name.toml"];
    wants_a_url_that_is_one: ["guard", "--check-config", "--config", "config/url.toml"];
    wants_a_port_that_is_one: ["guard", "--check-config", "--config", "config/port.toml"];
    wants_a_command_that_is_there: ["guard", "--check-config", "--config", "config/command.toml"];
    starts_no_command_that_is_not_there: ["guard", "--config", "config/command.toml"];
    wants_a_folder_that_is_there: ["guard", "--check-config", "--config", "config/cwd.toml"];
    wants_certificates_that_are_there: ["guard", "--check-config", "--config", "config/ca.toml"];
    wants_a_session_at_least: ["guard", "--check-config", "--config", "config/sessions.toml"];
    wants_servers: ["guard", "--check-config", "--config", "config/none.toml"];
    finds_no_configuration: ["guard", "--config", "config/nowhere.toml"];
    takes_no_terms_beside_a_configuration: ["guard", "--config", "config/fine.toml", "--results", "off"];
    cannot_lint_what_is_not_there: ["lint", "--", "no-such-program-anywhere"];
    refuses_to_lint_a_broken_url: ["lint", "http://"];
    refuses_a_header_without_a_colon: ["lint", "http://127.0.0.1:9/mcp", "--header", "a"];
}

const ANSWER: &str =
    r#"{"jsonrpc":"2.0","id":1,"result":{"tools":[{"name":"a","inputSchema":null}]}}"#;

/// A server that answers every line with the same one.
fn parrot() -> String {
    format!("while read -r line; do printf '%s\\n' '{ANSWER}'; done")
}

#[test]
fn findings_are_lines_of_json_on_request() {
    let request = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n";
    let parrot = parrot();
    let arguments = ["guard", "--tools", "filter", "--log", "json", "--", "sh", "-c", &parrot];
    let output = toolbond_with(&arguments, request);
    assert_eq!(output.status.code(), Some(0));
    assert_eq!(
        String::from_utf8(output.stdout).unwrap(),
        "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{\"tools\":[]}}\n"
    );
    let findings: Vec<serde_json::Value> = String::from_utf8(output.stderr)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let dropped = findings.iter().find(|finding| finding["rule"] == "input-root").unwrap();
    assert_eq!(dropped["action"], "tool-dropped");
}

#[test]
fn everything_off_changes_nothing() {
    let request = "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"tools/list\"}\n";
    let parrot = parrot();
    let mut arguments =
        vec!["guard", "--tools", "off", "--arguments", "off", "--results", "off", "--no-project"];
    arguments.extend(["--", "sh", "-c", &parrot]);
    let output = toolbond_with(&arguments, request);
    assert_eq!(String::from_utf8(output.stdout).unwrap(), format!("{ANSWER}\n"));
    assert!(output.stderr.is_empty());
}

#[test]
fn a_live_server_that_is_none_is_told_in_one_line() {
    let output = toolbond_with(&["lint", "--", "sh", "-c", "exit 0"], "");
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert_eq!(said.lines().count(), 1, "{said}");
}
