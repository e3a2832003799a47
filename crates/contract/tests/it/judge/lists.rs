//! Tool lists, header annotations and repairs.

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_contract::{JudgeOptions, JudgedTools, judge_tools};
use toolbond_schema::Schema;

use super::cases::{self, expect};
use crate::assert_verdicts;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        cases::trial("lists", list),
        cases::trial("warnings", list),
        cases::trial("headers", headers),
        cases::trial("repairs", repair),
    ]
}

/// The warnings and infos that `lists.json` and `repairs.json` are about. Cases of other rules are in
/// `warnings.json`, where each names its rule, so that a new rule does not change the findings of all cases.
const RULES: [&str; 6] = [
    "definitions",
    "dependencies",
    "nullable",
    "output-boolean",
    "output-projection",
    "tool-name-form",
];

/// Reports errors, and the warnings and infos of `rules`.
fn about<'a>(rules: impl IntoIterator<Item = &'a str>) -> JudgeOptions {
    let options = rules.into_iter().try_fold(JudgeOptions::default(), JudgeOptions::select);
    options.expect("a case names a rule that exists")
}

/// A case has `list` and may have `policy`, `rule` and `ignore`. It says what is expected: `kept` (the list), `names`
/// (of the contracts) and `findings` (each as [`short`] writes it). With `rule`, only errors and that rule count.
fn list(case: &Value) -> Result<(), Failed> {
    let policy = case["policy"].as_str().unwrap_or("filter").parse().expect("a policy");
    let mut options = match case["rule"].as_str() {
        Some(rule) => about([rule]),
        None => about(RULES),
    };
    if let Some(rule) = case["ignore"].as_str() {
        options = match (options.ignore(rule), case.get("error")) {
            (Ok(options), None) => options,
            (Err(error), Some(expected)) if *expected == error.to_string() => return Ok(()),
            (ignored, expected) => {
                return Err(format!("expected {expected:?}, found {ignored:?}").into());
            }
        };
    }
    let judged = judge_tools(case["list"].clone(), &options.policy(policy));
    expect(case, "findings", &findings(&judged))?;
    let names: Vec<_> = judged.contracts.iter().map(toolbond_contract::Contract::name).collect();
    expect(case, "names", &json!(names))?;
    assert_eq!(judged.indices.len(), names.len(), "{:?} are the places", judged.indices);
    expect(case, "kept", &json!(judged.list))
}

/// A case has `schema` and says the `pointer` and `message` of the first annotation that is wrong, if
/// any, the `pointers` of all of them, and the message of the `last`.
fn headers(case: &Value) -> Result<(), Failed> {
    let tool = json!({ "name": "t", "inputSchema": case["schema"] });
    let judged = judge_tools(tool.clone(), &JudgeOptions::default());
    let all: Vec<_> =
        judged.findings.iter().filter(|finding| finding.rule == "header-annotation").collect();
    let pointers: Vec<_> = all.iter().map(|finding| &finding.pointer).collect();
    expect(case, "pointers", &json!(pointers))?;
    expect(case, "last", &all.last().map_or(Value::Null, |last| json!(last.message)))?;
    let found = all.first();
    expect(case, "pointer", &found.map_or(Value::Null, |found| json!(found.pointer)))?;
    expect(case, "message", &found.map_or(Value::Null, |found| json!(found.message)))?;
    assert_eq!(judged.list.is_some(), found.is_none(), "kept without a finding");
    let ignored = judge_tools(tool, &JudgeOptions::default().ignore_headers(true));
    assert!(ignored.list.is_some(), "dropped although ignored");
    Ok(())
}

/// A case has `side` and `schema`, and says what `repair` makes of it (`repaired`, `null` where that
/// cannot be mended), with `findings` and the message of the `last`, and `valid` and `invalid` values.
fn repair(case: &Value) -> Result<(), Failed> {
    let side = case["side"].as_str().unwrap_or("inputSchema");
    let mut tool = json!({ "name": "t", "inputSchema": { "type": "object" } });
    tool[side] = case["schema"].clone();
    let options = about(RULES).policy("repair".parse().expect("a policy"));
    let judged = judge_tools(tool.clone(), &options);
    expect(case, "findings", &findings(&judged))?;
    expect(case, "last", &json!(judged.findings.last().map(|last| &last.message)))?;
    let repaired = judged.list.as_ref().and_then(|tool| tool.get(side)).cloned();
    expect(case, "repaired", &json!(repaired))?;
    if let Some(schema) = repaired {
        let compiled = Schema::compile(&schema).map_err(|error| error.to_string())?;
        assert_verdicts(&compiled, case);
        let again = judge_tools(judged.list.unwrap_or_default(), &options);
        let kept = again.list.as_ref().and_then(|tool| tool.get(side));
        assert_eq!(kept, Some(&schema), "repaired again");
    }
    Ok(())
}

fn findings(judged: &JudgedTools) -> Value {
    judged.findings.iter().map(short).collect()
}

/// `severity rule tool pointer action`, the tool as `-` where it has no name.
fn short(finding: &toolbond_contract::Finding) -> Value {
    let action = json!(finding.action);
    let tool = finding.tool.as_deref().unwrap_or("-");
    format!(
        "{} {} {tool} {} {}",
        finding.severity,
        finding.rule,
        finding.pointer,
        action.as_str().unwrap_or_default()
    )
    .into()
}
