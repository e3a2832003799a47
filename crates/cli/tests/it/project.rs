//! `toolbond project`, `toolbond lift` and `toolbond convert`.

use serde_json::Value;

use crate::command::{commands, toolbond, toolbond_with};

commands! {
    projects_a_tool: ["project", "--to", "2025-11-25", "count.tool.json"];
    leaves_a_tool_for_a_natural_revision: ["project", "--to", "2026-07-28", "count.tool.json"];
    projects_a_result: ["project", "--to", "2025-11-25", "--tool", "count.tool.json", "count.result.json"];
    projects_what_can_be_projected: ["project", "--to", "2025-11-25", "tools.json"];
    projects_neither_tools_nor_results: ["project", "--to", "2025-11-25", "good.json"];
    needs_a_result_for_a_tool: ["project", "--to", "2025-11-25", "--tool", "count.tool.json", "tools.json"];
    projects_a_tool_without_its_output_schema: ["project", "--to", "2025-11-25", "tree.tool.json"];
    projects_a_result_without_its_output_schema: ["project", "--to", "2025-11-25", "--tool", "tree.tool.json", "count.result.json"];
    warns_of_an_unknown_revision: ["project", "--to", "2026-7-28", "count.tool.json"];
    needs_a_revision: ["project", "count.tool.json"];
    explains_projecting: ["project", "--help"];
    explains_lifting: ["lift", "--help"];
    converts_a_schema: ["convert", "pair.schema.json"];
    leaves_a_schema_that_cannot_be_converted: ["convert", "mine.tool.json"];
    restores_only_tools: ["convert", "--back", "pair.schema.json"];
    explains_converting: ["convert", "--help"];
}

#[test]
fn lifts_what_was_projected() {
    let to = ["project", "--to", "2025-11-25", "count.tool.json"];
    let projected = toolbond(&to).output().unwrap();
    let projected = String::from_utf8(projected.stdout).unwrap();
    let lifted = toolbond_with(&["lift", "--from", "2025-11-25"], &projected);
    let lifted: Value = serde_json::from_slice(&lifted.stdout).unwrap();
    assert_eq!(lifted["outputSchema"], serde_json::json!({ "type": "integer" }));
    assert_eq!(lifted.get("_meta"), None);

    let arguments =
        ["project", "--to", "2025-11-25", "--tool", "count.tool.json", "count.result.json"];
    let projected = toolbond(&arguments).output().unwrap();
    let projected = String::from_utf8(projected.stdout).unwrap();
    let lifted = toolbond_with(&["lift", "--from", "2025-11-25"], &projected);
    let lifted: Value = serde_json::from_slice(&lifted.stdout).unwrap();
    assert_eq!(lifted["structuredContent"], 72);
}

#[test]
fn restores_what_was_converted() {
    let tool = r#"{"name":"t","inputSchema":{"$schema":"http://json-schema.org/draft-07/schema#","type":"object",
        "dependencies":{"a":["b"]}}}"#;
    let converted = String::from_utf8(toolbond_with(&["convert"], tool).stdout).unwrap();
    assert!(converted.contains("dependentRequired"), "{converted}");
    let restored = toolbond_with(&["convert", "--back"], &converted);
    let restored: Value = serde_json::from_slice(&restored.stdout).unwrap();
    assert_eq!(restored.to_string(), serde_json::from_str::<Value>(tool).unwrap().to_string());
}
