//! The pages of the rules.

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_contract::{
    ArgumentTerms, Contract, Finding, JudgeOptions, Mode, Repairs, Rule, Severity, convert_tool,
    judge_tools, rules,
};
use toolbond_harness::trials::check_all;

pub(crate) fn trials() -> Vec<Trial> {
    vec![Trial::test("judge/pages", || {
        check_all(rules().map(|rule| (rule.id.to_owned(), rule)), |rule| page(rule))
    })]
}

/// A page has four sections. Its example breaks the rule, and the JSON to use instead does not.
///
/// The page of a repair of arguments has three: its examples have no schema, so only their form is checked here.
fn page(rule: &'static Rule) -> Result<(), Failed> {
    let page = rule.page();
    let sections: Vec<_> = page.lines().filter(|line| line.starts_with("## ")).collect();
    if rule.summary().is_empty() || !rule.summary().ends_with('.') {
        return Err("no summary".into());
    }
    if sections == ["## What it does", "## Example", "## Becomes"] {
        let (_, rest) = page.split_once("## Example\n").expect("a section of that name");
        let (example, becomes) = rest.split_once("## Becomes\n").expect("a section of that name");
        let (example, becomes) = (json(example)?, json(becomes)?);
        let is_change = example.is_some() && becomes.is_some() && example != becomes;
        return if is_change { Ok(()) } else { Err("the example does not change".into()) };
    }
    if sections != ["## What it does", "## Why is this bad", "## Example", "## Use instead"] {
        return Err(format!("sections {sections:?}").into());
    }
    let (_, rest) = page.split_once("## Example\n").expect("a section of that name");
    let (example, instead) = rest.split_once("## Use instead\n").expect("a section of that name");
    let Some(example) = json(example)? else { return Err("no example in JSON".into()) };
    for (example, finds) in [(Some(example), true), (json(instead)?, false)] {
        let Some(example) = example else { continue };
        let findings = judge(rule, &example)?;
        if findings.iter().any(|finding| finding.rule == rule.id) != finds {
            return Err(format!("expected the finding: {finds}, found {findings:?}").into());
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

/// What judging or converting the example finds: a call where it has `arguments` or a `result`, else a tool list.
fn judge(rule: &Rule, example: &Value) -> Result<Vec<Finding>, Failed> {
    if rule.id == "older-dialect" {
        return Ok(convert_tool(&as_tools(rule, example.clone())).findings);
    }
    let (arguments, result) = (example.get("arguments"), example.get("result"));
    if arguments.is_none() && result.is_none() {
        return Ok(judge_tools(as_tools(rule, example.clone()), &JudgeOptions::default()).findings);
    }
    let mut tool = json!({ "name": "t", "inputSchema": { "type": "object" } });
    for member in ["inputSchema", "outputSchema"] {
        if let Some(schema) = example.get(member) {
            tool[member] = schema.clone();
        }
    }
    let contract = Contract::received(tool).map_err(|error| error.to_string())?;
    Ok(match result {
        Some(result) => contract.judge_result(result, Mode::Enforce).findings,
        None => {
            let also = |repairs: Repairs, id| repairs.also(id).unwrap_or(repairs);
            // An optional repair is judged alone with the default ones.
            let repairs = Repairs::optional().filter(|id| *id == rule.id);
            let repairs = repairs.fold(Repairs::default(), also);
            let is_repair = rule.severity == Severity::Info;
            let mode = if is_repair { Mode::Repair } else { Mode::Enforce };
            contract.judge_arguments(arguments, ArgumentTerms::from(mode).repairs(repairs)).findings
        }
    })
}

/// Examples of schemas as a tool: as output schema, which may be any, or as input schema where the
/// rule is about those.
fn as_tools(rule: &Rule, example: Value) -> Value {
    let is_tools = example.is_array() || example.get("tools").is_some();
    let is_tool = example.get("inputSchema").is_some() || example.get("name").is_some();
    if is_tools || is_tool {
        return example;
    }
    let input =
        if rule.id == "header-annotation" { example.clone() } else { json!({ "type": "object" }) };
    json!({ "name": "t", "inputSchema": input, "outputSchema": example })
}
