//! Arbitrary JSON: no panic, nothing lost without a finding, work in proportion to the input.

use libtest_mimic::{Failed, Trial};
use proptest::prelude::*;
use serde_json::{Map, Value, json};
use toolbond_contract::{Action, Contract, JudgeOptions, Mode, Outcome, Policy, judge_tools};

use super::corpus::accounts_for_all;
use crate::runner;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("any_json_is_a_tool_list", any_list),
        trial("tools_of_any_members_are_accounted_for", any_tools),
        trial("any_schema_is_judged_and_repaired_once", any_schema),
        trial("any_json_is_a_result", any_result),
        trial("findings_grow_with_the_list", linear_findings),
        trial("many_tools_are_judged", many_tools),
        trial("many_idioms_are_repaired", many_idioms),
    ]
}

fn trial(name: &str, run: fn() -> Result<(), Failed>) -> Trial {
    Trial::test(format!("judge/arbitrary/{name}"), run)
}

fn run<S: Strategy>(
    strategy: S,
    test: impl Fn(S::Value) -> Result<(), TestCaseError>,
) -> Result<(), Failed> {
    runner(512).run(&strategy, test).map_err(|error| error.to_string().into())
}

/// Words that mean something to the judge, so that arbitrary documents reach its branches.
const WORDS: [&str; 32] = [
    "tools",
    "result",
    "error",
    "name",
    "inputSchema",
    "outputSchema",
    "title",
    "annotations",
    "type",
    "object",
    "string",
    "properties",
    "required",
    "items",
    "additionalItems",
    "definitions",
    "$defs",
    "dependencies",
    "exclusiveMinimum",
    "minimum",
    "nullable",
    "$ref",
    "#/definitions/type",
    "$id",
    "anyOf",
    "x-mcp-header",
    "default",
    "content",
    "structuredContent",
    "isError",
    "_meta",
    "other",
];

fn word() -> impl Strategy<Value = String> {
    prop_oneof![6 => prop::sample::select(&WORDS[..]).prop_map(str::to_owned), 1 => ".{0,8}"]
}

fn value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        (-1e9..1e9).prop_map(|number: f64| json!(number)),
        word().prop_map(Value::from),
    ];
    leaf.prop_recursive(6, 64, 6, |inner| {
        prop_oneof![
            prop::collection::vec(inner.clone(), 0..5).prop_map(Value::from),
            object(inner).prop_map(Value::from),
        ]
    })
}

fn object(member: impl Strategy<Value = Value>) -> impl Strategy<Value = Map<String, Value>> {
    prop::collection::vec((word(), member), 0..6).prop_map(|members| members.into_iter().collect())
}

fn policy() -> impl Strategy<Value = Policy> {
    prop::sample::select(&Policy::ALL[..])
}

fn any_list() -> Result<(), Failed> {
    run((value(), policy()), |(document, policy)| {
        let judged = judge_tools(document.clone(), &JudgeOptions::default().policy(policy));
        if judged.list.is_none() {
            prop_assert!(!judged.findings.is_empty(), "{document} is gone without a finding");
        }
        Ok(())
    })
}

fn any_tools() -> Result<(), Failed> {
    let tool = (object(value()), any::<bool>()).prop_map(|(mut tool, usable)| {
        if usable {
            tool.insert("name".to_owned(), json!("a"));
            tool.insert("inputSchema".to_owned(), json!({ "type": "object" }));
        }
        Value::from(tool)
    });
    let tools = prop::collection::vec(prop_oneof![8 => tool, 1 => value()], 0..6);
    run((tools, object(value()), policy()), |(tools, mut document, policy)| {
        document.shift_remove("result");
        document.insert("tools".to_owned(), tools.into());
        let document = Value::from(document);
        let judged = judge_tools(document.clone(), &JudgeOptions::default().policy(policy));
        accounts_for_all(&document, &judged).map_err(TestCaseError::fail)?;
        if let Some(Value::Object(mut kept)) = judged.list {
            kept.insert("tools".to_owned(), document["tools"].clone());
            prop_assert_eq!(Value::from(kept), document);
        }
        Ok(())
    })
}

fn any_schema() -> Result<(), Failed> {
    run((object(value()), object(value())), |(mut input, output)| {
        input.insert("type".to_owned(), json!("object"));
        let tool = json!({ "name": "t", "inputSchema": input, "outputSchema": output, "_x": [1] });
        let options = JudgeOptions::default().policy(Policy::Repair);
        let judged = judge_tools(tool, &options);
        let Some(kept) = judged.list else { return Ok(()) };
        prop_assert_eq!(&kept["_x"], &json!([1]));
        let again = judge_tools(kept.clone(), &options);
        prop_assert_eq!(again.list, Some(kept));
        prop_assert!(again.findings.iter().all(|finding| finding.action == Action::None));
        Ok(())
    })
}

fn any_result() -> Result<(), Failed> {
    let tool = json!({
        "name": "t",
        "inputSchema": { "type": "object", "properties": { "name": { "type": "string" } } },
        "outputSchema": { "type": ["object", "null"], "required": ["type"] }
    });
    let contract = Contract::received(tool).map_err(|error| error.to_string())?;
    let result = prop_oneof![value(), object(value()).prop_map(Value::from)];
    run((result, prop::sample::select(&Mode::ALL[..])), |(result, mode)| {
        for judged in
            [contract.judge_result(&result, mode), contract.judge_arguments(Some(&result), mode)]
        {
            let is_wrong = matches!(judged.outcome, Outcome::Invalid | Outcome::Unfinished);
            prop_assert_eq!(judged.refusal.is_some(), mode.refuses() && is_wrong);
            let is_right = matches!(judged.outcome, Outcome::NotJudged | Outcome::Valid);
            prop_assert_eq!(judged.findings.is_empty(), is_right);
        }
        if result["isError"] == true && result["content"].is_array() {
            prop_assert!(contract.judge_result(&result, mode).findings.is_empty());
        }
        Ok(())
    })
}

/// A hundred times the tools give a hundred times the findings, and long names above many idioms are
/// written out a bounded number of times.
fn linear_findings() -> Result<(), Failed> {
    let tool = json!({ "inputSchema": { "type": "object", "required": null } });
    for count in [1, 100] {
        let tools = Value::from(vec![tool.clone(); count]);
        let judged = judge_tools(tools, &JudgeOptions::default());
        let errors = judged.errors().count();
        if errors != 2 * count {
            return Err(format!("{errors} errors for {count} tools").into());
        }
    }
    let many: Map<_, _> = (0..200)
        .map(|index| (index.to_string(), json!({ "type": "string", "nullable": true })))
        .collect();
    let long =
        json!({ "type": "object", "properties": { "n".repeat(20_000): { "properties": many } } });
    let mut judged =
        judge_tools(json!({ "name": "t", "inputSchema": long }), &JudgeOptions::default());
    judged.findings.retain(|finding| finding.rule == "nullable");
    let written: usize = judged.findings.iter().map(|finding| finding.pointer.as_str().len()).sum();
    if (1..=16).contains(&judged.findings.len()) && written < 200_000 {
        Ok(())
    } else {
        Err(format!("{} findings, {written} bytes of pointers", judged.findings.len()).into())
    }
}

/// The tool list is judged, repaired and kept; `cargo xtask bench contract` tells how the time grows.
fn is_kept(list: Value) -> Result<(), Failed> {
    let judged = judge_tools(list, &JudgeOptions::default().policy(Policy::Repair));
    if judged.list.is_some() { Ok(()) } else { Err("not kept".into()) }
}

fn many_tools() -> Result<(), Failed> {
    let tool = |index| json!({ "name": format!("t{index}"), "inputSchema": { "required": null } });
    is_kept((0..2_000).map(tool).collect())
}

/// Tuples to rewrite, references into them, wrong headers, and long names above all that.
fn many_idioms() -> Result<(), Failed> {
    let size = 800;
    let tuples: Map<_, _> = (0..size)
        .map(|index| {
            (format!("t{index}"), json!({ "items": [{ "nullable": true, "type": "string" }] }))
        })
        .collect();
    let long = "n".repeat(200);
    let references: Vec<_> = (0..size)
        .map(|index| json!({ "$ref": format!("#/properties/{long}/properties/t{index}/items/0") }))
        .collect();
    is_kept(json!({ "name": "t", "inputSchema": { "type": "object", "anyOf": references,
        "properties": { long: { "properties": tuples } } } }))
}
