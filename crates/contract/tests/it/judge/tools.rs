//! Tools of authors: what gives a contract, and that judging it has nothing to add.

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_contract::{Contract, JudgeOptions, judge_tools};

use super::cases::{self, expect};

pub(crate) fn trials() -> Vec<Trial> {
    vec![cases::trial("tools", author)]
}

/// A case has `tool` and says what comes of it: `error` (a rule) with `message` and `pointer`, or `wire`
/// (the tool as sent).
fn author(case: &Value) -> Result<(), Failed> {
    let contract = match Contract::authored(case["tool"].clone()) {
        Ok(contract) => contract,
        Err(error) => {
            expect(case, "message", &json!(error.to_string()))?;
            expect(case, "pointer", &json!(error.finding().pointer))?;
            assert_eq!(case["error"], error.finding().rule, "{error}");
            return Ok(());
        }
    };
    assert_eq!(case.get("error"), None, "there is a contract");
    expect(case, "wire", contract.value())?;
    assert_eq!(contract.value().as_object(), Some(contract.tool()));
    let judged = judge_tools(contract.value().clone(), &JudgeOptions::default());
    let is_kept = judged.list.as_ref() == Some(contract.value());
    assert!(is_kept && judged.errors().next().is_none(), "{:?}", judged.findings);
    Ok(())
}
