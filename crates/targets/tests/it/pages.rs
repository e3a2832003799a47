//! The pages of the rules of targets: the example breaks the rule, and what to use instead does not.

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_harness::trials::check_all;
use toolbond_targets::{LintOptions, lint_tools, rules, targets};

/// Rules about sizes, whose examples would be as large.
const WITHOUT_EXAMPLE: [&str; 2] = ["description-length", "tool-count"];

pub(crate) fn trials() -> Vec<Trial> {
    let of_targets = |id: &str| {
        targets().iter().any(|target| !target.impacts(id).is_empty()) || id == "name-collision"
    };
    vec![
        Trial::test("pages/examples", move || {
            let ids = rules().map(|rule| rule.id).filter(|id| of_targets(id));
            check_all(ids.map(|id| (id.to_owned(), id)), |id| page(id))
        }),
        Trial::test("pages/every_rule_has_its_own_id", distinct),
    ]
}

fn page(id: &str) -> Result<(), Failed> {
    let rule = rules().find(|rule| rule.id == id).ok_or("no such rule")?;
    if !rule.summary().ends_with('.') {
        return Err(format!("summary {:?}", rule.summary()).into());
    }
    let page = rule.page();
    let examples: Vec<Value> = page
        .split("```json\n")
        .skip(1)
        .map(|rest| serde_json::from_str(rest.split("```").next().unwrap_or_default()))
        .collect::<Result<_, _>>()?;
    if examples.is_empty() && WITHOUT_EXAMPLE.contains(&id) {
        return Ok(());
    }
    let [bad, good] = &examples[..] else {
        return Err(format!("{} examples", examples.len()).into());
    };
    if !breaks(id, bad) {
        return Err(format!("the example does not break the rule: {bad}").into());
    }
    if breaks(id, good) {
        return Err(format!("what to use instead breaks the rule: {good}").into());
    }
    Ok(())
}

/// Whether a list, a tool or an input schema breaks the rule.
fn breaks(id: &str, example: &Value) -> bool {
    let is_document = ["tools", "inputSchema"].iter().any(|member| example.get(member).is_some());
    let document =
        if is_document { example.clone() } else { json!({ "name": "t", "inputSchema": example }) };
    let options = LintOptions::default().targets(targets().iter().copied());
    lint_tools(document, &options).findings.iter().any(|found| found.finding.rule == id)
}

fn distinct() -> Result<(), Failed> {
    let ids: Vec<_> = rules().map(|rule| rule.id).collect();
    match ids.windows(2).find(|pair| pair[0] == pair[1]) {
        Some(pair) => Err(format!("two rules are called {}", pair[0]).into()),
        None => Ok(()),
    }
}
