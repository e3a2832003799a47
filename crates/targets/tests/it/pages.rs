//! The pages of the rules of targets and of good practice: the example breaks the rule, and what to use instead does not.

use std::collections::BTreeSet;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_contract::{Rule, Severity};
use toolbond_harness::trials::check_all;
use toolbond_targets::{
    LintOptions, compare_order, default_targets, fix_tools, lint_tools, rules, targets,
};

use crate::checks::read;

/// Rules about sizes, whose examples would be as large.
const WITHOUT_EXAMPLE: [&str; 4] = ["description-length", "list-size", "tool-count", "tool-size"];

pub(crate) fn trials() -> Vec<Trial> {
    let check = || {
        let practice: BTreeSet<_> = read().iter().map(|case| case.rule().to_owned()).collect();
        // The contract checks the pages of its own rules.
        let is_meant = |rule: &&Rule| {
            let is_of_targets = targets().iter().any(|target| !target.impacts(rule.id).is_empty());
            is_of_targets || rule.id == "name-collision" || practice.contains(rule.id)
        };
        check_all(rules().filter(is_meant).map(|rule| (rule.id.to_owned(), rule)), |rule| {
            page(rule, practice.contains(rule.id))
        })
    };
    vec![
        Trial::test("pages/examples", check),
        Trial::test("pages/every_rule_has_its_own_id", distinct),
        Trial::test("pages/advice_suits_all_default_targets", agreeing),
    ]
}

fn page(rule: &Rule, is_practice: bool) -> Result<(), Failed> {
    assert!(rule.summary().ends_with('.'), "summary {:?}", rule.summary());
    let page = rule.page();
    let sections: Vec<_> = page.lines().filter(|line| line.starts_with("## ")).collect();
    let expected = ["## What it does", "## Why is this bad", "## Example", "## Use instead"];
    assert!(sections == expected || !is_practice, "sections {sections:?}");
    let examples = page.split("```json\n").skip(1);
    let examples = examples.map(|rest| rest.split("```").next().unwrap_or_default());
    let examples: Vec<Value> = examples.map(serde_json::from_str).collect::<Result<_, _>>()?;
    match &examples[..] {
        [] => assert!(WITHOUT_EXAMPLE.contains(&rule.id), "no examples"),
        [bad, good] => {
            assert!(breaks(rule.id, bad), "the example does not break the rule: {bad}");
            assert!(!breaks(rule.id, good), "what to use instead breaks the rule: {good}");
        }
        more => return Err(format!("{} examples", more.len()).into()),
    }
    Ok(())
}

/// Whether two lists, a list, a tool or an input schema break the rule.
fn breaks(id: &str, example: &Value) -> bool {
    if let Value::Array(lists) = example {
        return compare_order(&lists[0], &lists[1]).is_some();
    }
    let report =
        lint_tools(tool(example), &LintOptions::default().targets(targets().iter().copied()));
    let errors: Vec<_> = report.judged.errors().collect();
    assert!(errors.is_empty(), "not usable: {errors:?}");
    report.findings.iter().any(|found| found.finding.rule == id)
}

/// What a page says to use instead, and what fixes make of its example, breaks no rule of a default target.
fn agreeing() -> Result<(), Failed> {
    let options = LintOptions::default().targets(default_targets().iter().copied());
    let broken = |document: &Value| -> BTreeSet<&str> {
        let report = lint_tools(document.clone(), &options);
        let bad = report.findings.iter().filter(|found| found.finding.severity > Severity::Info);
        bad.filter(|found| !found.impacts.is_empty()).map(|found| found.finding.rule).collect()
    };
    let mut wrong = Vec::new();
    let mut checked = 0;
    // The rules of the contract are about the protocol, whatever targets do.
    let is_of_contract = |rule: &Rule| toolbond_contract::rules().any(|one| one.id == rule.id);
    for rule in rules().filter(|rule| !is_of_contract(rule)) {
        let page = rule.page();
        let examples = page.split("```json\n").skip(1);
        let examples: Vec<Value> = examples
            .filter_map(|rest| serde_json::from_str(rest.split("```").next()?).ok())
            .collect();
        let [bad, good] = &examples[..] else { continue };
        if bad.is_array() || tool(good).get("inputSchema").is_none_or(|it| !it.is_object()) {
            continue;
        }
        checked += 1;
        // Examples leave out what they are not about.
        let mut good = tool(good);
        if good["inputSchema"] == json!({ "type": "object" }) {
            good["inputSchema"]["properties"] = json!({});
        }
        for rule_broken in broken(&good) {
            wrong.push(format!("{}: what to use instead breaks {rule_broken}", rule.id));
        }
        let mut fixed = tool(bad);
        let before = broken(&fixed);
        fix_tools(&mut fixed, &options);
        for rule_broken in broken(&fixed).difference(&before) {
            wrong.push(format!("{}: the fixed example breaks {rule_broken}", rule.id));
        }
        let opposed = lint_tools(tool(bad), &options).findings;
        let opposed = opposed.iter().any(|found| {
            found.finding.hint.as_ref().is_some_and(|hint| hint.contains("wants the opposite"))
        });
        if opposed {
            wrong.push(format!("{}: default targets want opposite things", rule.id));
        }
    }
    assert!(checked > 70, "{checked}");
    toolbond_harness::trials::none_of(wrong)
}

/// The example as a document.
fn tool(example: &Value) -> Value {
    let members = ["tools", "inputSchema", "name"];
    let is_document = members.iter().any(|member| example.get(member).is_some());
    if is_document { example.clone() } else { json!({ "name": "t", "inputSchema": example }) }
}

fn distinct() -> Result<(), Failed> {
    let ids: Vec<_> = rules().map(|rule| rule.id).collect();
    match ids.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("two rules are called {}", pair[0]).into()),
        None => Ok(()),
    }
}
