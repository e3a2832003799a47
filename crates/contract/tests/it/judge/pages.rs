//! The pages of the rules.

use libtest_mimic::{Failed, Trial};
use toolpact_contract::{JudgeOptions, Rule, judge_tools, rules};

pub(crate) fn trials() -> Vec<Trial> {
    rules()
        .map(|rule| Trial::test(format!("judge/pages/{}", rule.id), move || page(rule)))
        .collect()
}

/// A page has the four sections, and where its example is a tool or a list of tools, judging that
/// gives the rule, and judging what to use instead does not.
fn page(rule: &'static Rule) -> Result<(), Failed> {
    let page = rule.page();
    let sections: Vec<_> = page.lines().filter(|line| line.starts_with("## ")).collect();
    if sections != ["## What it does", "## Why is this bad", "## Example", "## Use instead"] {
        return Err(format!("sections {sections:?}").into());
    }
    if rule.summary().is_empty() || !rule.summary().ends_with('.') {
        return Err("no summary".into());
    }
    let mut examples = page.split("```json\n").skip(1).filter_map(|rest| rest.split("```").next());
    for finds in [true, false] {
        let Some(example) = examples.next() else { continue };
        let example =
            serde_json::from_str(example).map_err(|error| format!("{example}: {error}"))?;
        if rule.id.starts_with("result-") || rule.id.starts_with("arguments-") {
            continue;
        }
        let judged = judge_tools(as_tools(rule, example), &JudgeOptions::default());
        if judged.findings.iter().any(|finding| finding.rule == rule.id) != finds {
            return Err(
                format!("expected the finding: {finds}, found {:?}", judged.findings).into()
            );
        }
    }
    Ok(())
}

/// Examples of schemas as a tool: as output schema, which may be any, or as input schema where the
/// rule is about those.
fn as_tools(rule: &Rule, example: serde_json::Value) -> serde_json::Value {
    let is_tools = example.is_array() || example.get("tools").is_some();
    let is_tool = example.get("inputSchema").is_some() || example.get("name").is_some();
    if is_tools || is_tool {
        return example;
    }
    let input = if rule.id == "header-annotation" {
        example.clone()
    } else {
        serde_json::json!({ "type": "object" })
    };
    serde_json::json!({ "name": "t", "inputSchema": input, "outputSchema": example })
}
