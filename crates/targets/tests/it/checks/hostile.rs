//! Schemas that are meant to do harm are checked within bounds.

use libtest_mimic::{Failed, Trial};
use serde_json::json;
use toolpact_targets::{LintOptions, lint_tools, rules};
use toolpact_testkit::hostile;

/// The most findings of one rule in one tool, and the bytes of pointers after which there are no more.
const REPORTED: usize = 64;
const POINTERS: usize = 1 << 16;

pub(crate) fn trials() -> Vec<Trial> {
    let hostile = hostile::cases().into_iter().map(|case| {
        Trial::test(format!("checks/hostile/{}", case.name), move || {
            let mut tool = json!({ "name": "t" });
            tool["inputSchema"] = case.schema();
            tool["outputSchema"] = case.schema();
            bounded(&tool)?;
            tool["inputSchema"] = json!({ "type": "object", "properties": {} });
            tool["inputSchema"]["properties"]["p"] = case.schema();
            tool["inputSchema"]["properties"]["q"]["default"] = case.instance();
            bounded(&tool)
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

fn bounded(tool: &serde_json::Value) -> Result<(), Failed> {
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
