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
            return match case.get("error") {
                Some(rule) if rule == error.finding().rule => Ok(()),
                _ => Err(format!("refused: {error}").into()),
            };
        }
    };
    if let Some(error) = case.get("error") {
        return Err(format!("expected {error}, but there is a contract").into());
    }
    expect(case, "wire", contract.value())?;
    if contract.value().as_object() != Some(contract.tool()) {
        return Err("the tool is one thing as a map and another as a value".into());
    }
    let judged = judge_tools(contract.value().clone(), &JudgeOptions::default());
    if judged.list.as_ref() != Some(contract.value()) || judged.errors().next().is_some() {
        return Err(format!("judged otherwise: {:?}", judged.findings).into());
    }
    Ok(())
}
