//! Repairing results: cases, and valid values that were broken in each of the ways that are repaired.

mod broken;
mod errors;
mod formats;

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_contract::{Contract, JudgedCall, Mode, Outcome, ResultTerms};
use toolbond_harness::trials;

const CASES: &str = include_str!("../../cases/results/repairs.json");

pub(crate) fn trials() -> Vec<Trial> {
    let mut all = vec![trials::file("results/cases", CASES, case), errors::trial()];
    all.extend(formats::trials());
    all.extend(broken::trials());
    all
}

/// A tool with the output schema `schema`.
fn contract(schema: &Value) -> Result<Contract, Failed> {
    let input = json!({ "type": "object" });
    let tool = json!({ "name": "t", "inputSchema": input, "outputSchema": schema });
    Ok(Contract::received(tool)?)
}

/// What `repair` makes of `result`, where a `null` may be left out.
fn judge(contract: &Contract, result: &Value) -> JudgedCall {
    contract.judge_result(result, ResultTerms::from(Mode::Repair).deletes(true))
}

/// A result without `becomes` is not repaired, and is not withheld either.
fn case(case: &Value) -> Result<(), Failed> {
    let contract = contract(&case["schema"])?;
    let terms = ResultTerms::from(Mode::Repair).deletes(case["deletes"] == true);
    let judged = contract.judge_result(&case["result"], terms);
    assert!(judged.refusal.is_none(), "{judged:?}");
    let rules: Value =
        judged.findings.iter().map(|it| format!("{} {}", it.rule, it.pointer)).collect();
    let Some(becomes) = case.get("becomes") else {
        assert!(judged.repaired_result.is_none(), "{judged:?}");
        assert_eq!(judged.outcome, Outcome::Invalid);
        return Ok(());
    };
    assert_eq!(judged.outcome, Outcome::Repaired, "{judged:?}");
    let repaired = judged.repaired_result.ok_or("it was not repaired")?;
    assert_eq!((&repaired.content, &rules), (becomes, &case["rules"]));
    Ok(())
}
