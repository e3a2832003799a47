//! Arbitrary JSON: no panic, nothing lost without a finding, work in proportion to the input.

use libtest_mimic::Trial;
use serde_json::{Map, Value, json};
use toolbond_contract::{Action, Contract, JudgeOptions, Mode, Outcome, Policy, Side, judge_tools};
use toolbond_harness::generate::{Rng, members_of_words, of_words};

use super::corpus::accounts_for_all;
use crate::trial;

pub(crate) fn trials() -> Vec<Trial> {
    vec![
        trial("judge/arbitrary/any_json_is_a_tool_list", any_list),
        trial("judge/arbitrary/tools_of_any_members_are_accounted_for", any_tools),
        trial("judge/arbitrary/any_schema_is_judged_and_repaired_once", any_schema),
        trial("judge/arbitrary/any_json_is_a_result", any_result),
        trial("judge/arbitrary/findings_grow_with_the_list", linear_findings),
        trial("judge/arbitrary/many_tools_are_judged", many_tools),
        trial("judge/arbitrary/many_idioms_are_repaired", many_idioms),
    ]
}

/// Words that mean something to the judge, so that arbitrary documents reach its branches.
const WORDS: &str = "tools result error name inputSchema outputSchema title annotations type object string properties \
    required items additionalItems definitions $defs dependencies exclusiveMinimum minimum nullable $ref \
    #/definitions/type $id anyOf x-mcp-header default content structuredContent isError _meta other";

/// Runs `check` with a thousand generators of values and objects, the same in every run.
fn each(check: impl Fn(&mut Arbitrary)) {
    for seed in 0..1000 {
        check(&mut Arbitrary { rng: Rng::new(seed), words: WORDS.split_whitespace().collect() });
    }
}

struct Arbitrary {
    rng: Rng,
    words: Vec<&'static str>,
}

impl Arbitrary {
    fn value(&mut self) -> Value {
        of_words(&mut self.rng, &self.words, 6)
    }

    fn object(&mut self) -> Map<String, Value> {
        members_of_words(&mut self.rng, &self.words, 6)
    }

    fn options(&mut self) -> JudgeOptions {
        JudgeOptions::default().policy(*self.rng.pick(&Policy::ALL))
    }
}

fn any_list() {
    each(|any| {
        let document = any.value();
        let judged = judge_tools(document.clone(), &any.options());
        let is_said = judged.list.is_some() || !judged.findings.is_empty();
        assert!(is_said, "{document} is gone without a finding");
    });
}

fn any_tools() {
    each(|any| {
        let tools = (0..any.rng.below(6)).map(|_| {
            if any.rng.one_in(9) {
                return any.value();
            }
            let mut tool = any.object();
            if any.rng.one_in(2) {
                tool.insert("name".to_owned(), json!("a"));
                tool.insert("inputSchema".to_owned(), json!({ "type": "object" }));
            }
            tool.into()
        });
        let tools = tools.collect();
        let mut document = any.object();
        document.shift_remove("result");
        document.insert("tools".to_owned(), tools);
        let document = Value::from(document);
        let judged = judge_tools(document.clone(), &any.options());
        accounts_for_all(&document, &judged).unwrap_or_else(|fault| panic!("{fault}: {document}"));
        if let Some(Value::Object(mut kept)) = judged.list {
            kept.insert("tools".to_owned(), document["tools"].clone());
            assert_eq!(Value::from(kept), document);
        }
    });
}

fn any_schema() {
    each(|any| {
        let (mut input, output) = (any.object(), any.object());
        input.insert("type".to_owned(), json!("object"));
        let tool = json!({ "name": "t", "inputSchema": input, "outputSchema": output, "_x": [1] });
        let options = JudgeOptions::default().policy(Policy::Repair);
        let Some(kept) = judge_tools(tool, &options).list else { return };
        assert_eq!(kept["_x"], json!([1]));
        let again = judge_tools(kept.clone(), &options);
        assert_eq!(again.list, Some(kept));
        assert!(again.findings.iter().all(|finding| finding.action == Action::None));
    });
}

fn any_result() {
    let tool = json!({
        "name": "t",
        "inputSchema": { "type": "object", "properties": { "name": { "type": "string" } } },
        "outputSchema": { "type": ["object", "null"], "required": ["type"] }
    });
    let contract = Contract::received(tool).expect("a contract");
    each(|any| {
        let result = if any.rng.one_in(2) { any.value() } else { any.object().into() };
        let mode = *any.rng.pick(&Mode::ALL);
        for (judged, side) in [
            (contract.judge_result(&result, mode), Side::Result),
            (contract.judge_arguments(Some(&result), mode), Side::Arguments),
        ] {
            let is_wrong = matches!(judged.outcome, Outcome::Invalid | Outcome::Unfinished);
            assert_eq!(judged.refusal.is_some(), mode.refuses_on(side) && is_wrong, "{result}");
            let is_right = matches!(judged.outcome, Outcome::NotJudged | Outcome::Valid);
            assert_eq!(judged.findings.is_empty(), is_right, "{result}");
        }
        if result["isError"] == true && result["content"].is_array() {
            assert!(contract.judge_result(&result, mode).findings.is_empty(), "{result}");
        }
    });
}

/// A hundred times the tools give a hundred times the findings, and long names above many idioms are
/// written out a bounded number of times.
fn linear_findings() {
    let tool = json!({ "inputSchema": { "type": "object", "required": null } });
    for count in [1, 100] {
        let tools = Value::from(vec![tool.clone(); count]);
        let judged = judge_tools(tools, &JudgeOptions::default());
        assert_eq!(judged.errors().count(), 2 * count);
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
    let found = judged.findings.len();
    assert!((1..=16).contains(&found) && written < 200_000, "{found} findings, {written} bytes");
}

/// The tool list is judged, repaired and kept; `cargo xtask bench contract` tells how the time grows.
fn assert_kept(list: Value) {
    let judged = judge_tools(list, &JudgeOptions::default().policy(Policy::Repair));
    assert!(judged.list.is_some(), "not kept");
}

fn many_tools() {
    let tool = |index| json!({ "name": format!("t{index}"), "inputSchema": { "required": null } });
    assert_kept((0..2_000).map(tool).collect());
}

/// Tuples to rewrite, references into them, wrong headers, and long names above all that.
fn many_idioms() {
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
    assert_kept(json!({ "name": "t", "inputSchema": { "type": "object", "anyOf": references,
        "properties": { long: { "properties": tuples } } } }));
}
