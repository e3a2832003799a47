//! Schemas that are meant to do harm are checked within bounds.

use libtest_mimic::{Completion, Failed, Trial};
use serde_json::{Value, json};
use toolpact_targets::{LintOptions, lint_tools, rules};
use toolpact_testkit::hostile;

/// The most findings of one rule in one tool, and the bytes of pointers after which there are no more.
const REPORTED: usize = 64;
const POINTERS: usize = 1 << 16;

pub(crate) fn trials() -> Vec<Trial> {
    let hostile = hostile::cases().into_iter().map(|case| {
        Trial::ignorable_test(format!("checks/hostile/{}", case.name), move || {
            if is_too_deep(&case.schema()) {
                return Ok(Completion::ignored_with("the JSON reader refuses it"));
            }
            let mut tool = json!({ "name": "t" });
            tool["inputSchema"] = case.schema();
            tool["outputSchema"] = case.schema();
            bounded(&tool)?;
            tool["inputSchema"] = json!({ "type": "object", "properties": {} });
            tool["inputSchema"]["properties"]["p"] = case.schema();
            tool["inputSchema"]["properties"]["q"]["default"] = case.instance();
            bounded(&tool).map(|()| Completion::Completed)
        })
    });
    let many = Trial::test("checks/hostile/many_long_names", || {
        let long = "n".repeat(20_000);
        let properties: serde_json::Map<_, _> =
            (0..2000).map(|index| (format!("p{index}"), json!({ "type": "array" }))).collect();
        let schema = json!({
            "type": "object",
            "properties": { long: { "properties": properties, "required": ["a", "b"] } }
        });
        bounded(&json!({ "name": "t", "inputSchema": schema }))
    });
    hostile.chain([many]).collect()
}

/// Whether `value` has more nested levels than `serde_json` reads.
fn is_too_deep(value: &Value) -> bool {
    let mut pending = vec![(value, 0)];
    while let Some((value, depth)) = pending.pop() {
        match value {
            Value::Array(items) => pending.extend(items.iter().map(|item| (item, depth + 1))),
            Value::Object(members) => pending.extend(members.values().map(|one| (one, depth + 1))),
            _ => {}
        }
        if depth > 127 {
            return true;
        }
    }
    false
}

fn bounded(tool: &Value) -> Result<(), Failed> {
    let report = lint_tools(tool.clone(), &LintOptions::default());
    for rule in rules() {
        let all: Vec<_> =
            report.findings.iter().filter(|one| one.finding.rule == rule.id).collect();
        let longest =
            all.iter().map(|one| one.finding.pointer.as_str().len()).max().unwrap_or_default();
        let bytes: usize = all.iter().map(|one| one.finding.pointer.as_str().len()).sum();
        if all.len() > REPORTED || bytes > POINTERS + 2 * longest {
            return Err(format!("{}: {} findings, {bytes} bytes", rule.id, all.len()).into());
        }
    }
    Ok(())
}
