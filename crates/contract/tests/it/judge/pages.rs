//! The pages of the rules.

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_contract::{
    ArgumentTerms, Contract, Finding, JudgeOptions, Mode, Repairs, ResultTerms, Rule, Severity,
    convert_tool, judge_tools, rules,
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
    assert!(rule.summary().ends_with('.'), "no summary");
    let examples = page.split("```json\n").skip(1);
    let examples = examples.map(|rest| rest.split("```").next().unwrap_or_default());
    let examples: Vec<Value> = examples.map(serde_json::from_str).collect::<Result<_, _>>()?;
    if sections == ["## What it does", "## Example", "## Becomes"] {
        assert!(matches!(&examples[..], [one, other] if one != other), "{examples:?}");
        return Ok(());
    }
    let expected = ["## What it does", "## Why is this bad", "## Example", "## Use instead"];
    assert_eq!(sections, expected);
    assert!((1..=2).contains(&examples.len()), "{examples:?}");
    for (example, finds) in examples.iter().zip([true, false]) {
        let findings = judge(rule, example)?;
        let is_found = findings.iter().any(|finding| finding.rule == rule.id);
        assert_eq!(is_found, finds, "{findings:?}");
    }
    Ok(())
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
        Some(result) => {
            let mode = if rule.severity == Severity::Info { Mode::Repair } else { Mode::Enforce };
            contract.judge_result(result, ResultTerms::from(mode).deletes(true)).findings
        }
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
