//! `toolbond check`.

use std::io::{Read as _, Write as _};
use std::process::Stdio;

use insta_cmd::assert_cmd_snapshot;
use serde_json::Value;

use crate::command::{commands, toolbond, toolbond_with};

commands! {
    says_valid: ["check", "--schema", "weather.schema.json", "good.json"];
    shows_where_a_value_is_wrong: ["check", "--schema", "weather.schema.json", "bad.json"];
    is_concise_on_request: ["check", "--schema", "weather.schema.json", "bad.json", "--format", "concise"];
    shows_where_an_embedded_schema_is: ["check", "--schema", "embedded.schema.json", "embedded.jsonl"];
    reads_yaml: ["check", "--schema", "weather.schema.yaml", "bad.yaml", "good.json"];
    reads_one_value_a_line: ["check", "--schema", "weather.schema.json", "calls.jsonl"];
    goes_on_after_a_torn_line: ["check", "--schema", "weather.schema.json", "torn.jsonl", "--format", "concise"];
    shows_a_part_of_a_long_line: ["check", "--schema", "weather.schema.json", "long.json"];
    shows_lines_with_carriage_returns: ["check", "--schema", "weather.schema.json", "crlf.json"];
    escapes_control_characters: ["check", "--schema", "weather.schema.json", "controls.json"];
    takes_formats_for_annotations: ["check", "--schema", "weather.schema.json", "day.json"];
    asserts_formats_on_request: ["check", "--schema", "weather.schema.json", "day.json", "--assert-formats"];

    admits_a_schema: ["check", "--schema", "weather.schema.json"];
    refuses_what_the_metaschema_does: ["check", "--schema", "draft4.schema.json", "good.json"];
    refuses_a_remote_reference: ["check", "--schema", "remote.schema.json", "--format", "concise"];
    refuses_in_json: ["check", "--schema", "remote.schema.json", "--format", "json"];
    refuses_an_array_as_a_schema: ["check", "--schema", "array.schema.json"];
    refuses_a_doubling_schema: ["check", "--schema", "doubling.schema.json", "good.json", "--format", "concise"];
    stops_when_fuel_runs_out: ["check", "--schema", "weather.schema.json", "good.json", "bad.json", "--fuel", "5"];
    sets_limits: ["check", "--schema", "weather.schema.json", "--limit", "depth=2", "--format", "concise"];

    refuses_an_unknown_limit: ["check", "--schema", "weather.schema.json", "--limit", "size=2"];
    refuses_a_limit_without_number: ["check", "--schema", "weather.schema.json", "--limit", "depth=many"];
    names_line_and_column_of_broken_json: ["check", "--schema", "weather.schema.json", "broken.json"];
    names_line_and_column_of_broken_yaml: ["check", "--schema", "weather.schema.json", "broken.yaml", "two.yaml", "twice.yaml", "bomb.yaml"];
    complains_about_a_missing_schema: ["check", "--schema", "nowhere.json", "good.json"];
    complains_about_each_unreadable_file: ["check", "--schema", "weather.schema.json", "nowhere.json", "good.json", ".", "bytes.json", "empty.json", "too-deep.json"];
    reads_standard_input_once: ["check", "--schema", "-", "-"];
    needs_a_schema: ["check", "good.json"];
    explains_itself: ["check", "--help"];
    lists_the_verbs: ["--help"];
}

/// One test, one text on standard input to be checked with the weather schema.
macro_rules! inputs {
    ($($name:ident: $text:expr;)*) => {$(
        #[test]
        fn $name() {
            let arguments = ["check", "--schema", "weather.schema.json", "-"];
            assert_cmd_snapshot!(stringify!($name), toolbond(&arguments).pass_stdin($text));
        }
    )*};
}

inputs! {
    reads_json_from_standard_input: r#"{"city": "Oslo", "hours": 30}"#;
    reads_yaml_from_standard_input: "city: Oslo\nhours: 30\n";
    complains_about_broken_standard_input: "{\"city\": \"Oslo\",\n \"hours\" 3}";
    takes_no_bare_word_for_yaml: "tru";
    complains_about_empty_standard_input: "";
}

#[test]
fn refuses_scalars_as_schemas() {
    for (schema, found) in [("null", "null"), ("7", "number"), ("\"s\"", "string"), ("[]", "array")]
    {
        let output = toolbond_with(&["check", "--schema", "-", "--format", "concise"], schema);
        assert_eq!(output.status.code(), Some(1), "{schema}");
        let text = String::from_utf8(output.stdout).unwrap();
        assert!(text.contains("expected a schema") && text.contains(found), "{schema}: {text}");
    }
}

#[test]
fn refuses_more_input_than_it_reads() {
    let mut child = toolbond(&["check", "--schema", "weather.schema.json", "-"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    let chunk = vec![b' '; 1 << 20];
    // The command stops reading at its limit: the rest of what is written goes nowhere.
    while stdin.write_all(&chunk).is_ok() {}
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let text = String::from_utf8(output.stderr).unwrap();
    assert_eq!(text, "error: stdin: exceeds the limit of 16777216 bytes\n");
}

#[test]
fn takes_a_closed_pipe_for_success() {
    let many = "{\"city\": 1}\n".repeat(20_000);
    let folder = std::env::temp_dir().join(format!("toolbond-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let file = folder.join("many.jsonl");
    std::fs::write(&file, many).unwrap();
    let mut child = toolbond(&["check", "--schema", "weather.schema.json", file.to_str().unwrap()])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stdout = child.stdout.take().unwrap();
    stdout.read_exact(&mut [0; 64]).unwrap();
    drop(stdout);
    let output = child.wait_with_output().unwrap();
    std::fs::remove_dir_all(&folder).unwrap();
    assert_eq!(String::from_utf8(output.stderr).unwrap(), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn writes_one_json_object_a_line() {
    let files = ["calls.jsonl", "bad.json"];
    let arguments = ["check", "--schema", "weather.schema.json", "--format", "json"];
    let output = toolbond(&arguments).args(files).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let text = String::from_utf8(output.stdout).unwrap();
    let mut lines: Vec<Value> =
        text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    for line in &mut lines {
        assert!(line["fuel"].is_u64(), "{line}");
        // How much it takes is for the engine to say.
        line["fuel"] = "…".into();
    }
    insta::assert_snapshot!(serde_json::to_string_pretty(&lines).unwrap());
}
