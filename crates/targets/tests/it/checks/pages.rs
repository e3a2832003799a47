//! The pages of the rules of good practice.

use std::collections::BTreeSet;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_harness::trials::check_all;
use toolbond_targets::{LintOptions, compare_order, lint_tools, rules};

use super::read;

/// Rules about sizes: an example would be as large.
const WITHOUT_JSON: [&str; 2] = ["list-size", "tool-size"];

pub(crate) fn trials() -> Vec<Trial> {
    vec![Trial::test("checks/pages", || {
        let ids: BTreeSet<String> = read().iter().map(|case| case.rule().to_owned()).collect();
        check_all(ids.into_iter().map(|id| (id.clone(), id)), |id| page(id))
    })]
}

/// A page has four sections. Its example breaks the rule, and the JSON to use instead does not.
fn page(id: &str) -> Result<(), Failed> {
    let rule = rules().find(|rule| rule.id == id).ok_or("no such rule")?;
    let page = rule.page();
    let sections: Vec<_> = page.lines().filter(|line| line.starts_with("## ")).collect();
    if sections != ["## What it does", "## Why is this bad", "## Example", "## Use instead"] {
        return Err(format!("sections {sections:?}").into());
    }
    if !rule.summary().ends_with('.') {
        return Err(format!("summary {:?}", rule.summary()).into());
    }
    let (_, rest) = page.split_once("## Example\n").expect("a section of that name");
    let (example, instead) = rest.split_once("## Use instead\n").expect("a section of that name");
    for (section, finds) in [(example, true), (instead, false)] {
        match json(section)? {
            Some(example) if breaks(id, &example)? == finds => {}
            Some(example) => return Err(format!("expected the finding: {finds}: {example}").into()),
            None if WITHOUT_JSON.contains(&id) => {}
            None => return Err("no JSON".into()),
        }
    }
    Ok(())
}

/// The JSON in a section.
fn json(section: &str) -> Result<Option<Value>, Failed> {
    let Some((_, rest)) = section.split_once("```json\n") else { return Ok(None) };
    let text = rest.split("```").next().unwrap_or_default();
    serde_json::from_str(text).map(Some).map_err(|error| format!("{text}: {error}").into())
}

/// Whether the example breaks the rule: a list, a tool, an input schema, or two lists.
fn breaks(id: &str, example: &Value) -> Result<bool, Failed> {
    if let Value::Array(lists) = example {
        return Ok(compare_order(&lists[0], &lists[1]).is_some());
    }
    let is_document = ["tools", "name"].iter().any(|member| example.get(member).is_some());
    let document =
        if is_document { example.clone() } else { json!({ "name": "t", "inputSchema": example }) };
    let report = lint_tools(document, &LintOptions::default());
    let errors: Vec<_> = report.judged.errors().collect();
    if !errors.is_empty() {
        return Err(format!("not usable: {errors:?}").into());
    }
    Ok(report.findings.iter().any(|one| one.finding.rule == id))
}
