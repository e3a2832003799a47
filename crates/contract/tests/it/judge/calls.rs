//! Arguments and results of calls.

use libtest_mimic::{Failed, Trial};
use serde_json::{Value, json};
use toolbond_contract::{Contract, Mode, Outcome, ResultTerms, Revision, results::Interim};
use toolbond_harness::embedded;
use toolbond_schema::{Limits, Options};

use super::cases::{self, expect};

pub(crate) fn trials() -> Vec<Trial> {
    vec![cases::trial("calls", call), cases::trial_as("calls_embedded", "calls", call_embedded)]
}

/// The same with an embedded resource for each property.
fn call_embedded(case: &Value) -> Result<(), Failed> {
    let mut case = case.clone();
    for side in ["input", "output"] {
        if let Some(schema) = embedded::properties(&case[side]) {
            case[side] = schema;
        }
    }
    call(&case)
}

/// A case has `input` or `output` (a schema), `arguments` or `result`, `mode` and perhaps `fuel` and the `revision` of
/// the client, and says what comes of it: `outcome`, `rules`, `pointers`, `text` (of the tool error, `null` where the
/// call goes on), `result_type` of the tool error, and a `secret` that must not be in it.
fn call(case: &Value) -> Result<(), Failed> {
    let mut limits = Limits::default();
    if let Some(fuel) = case["fuel"].as_u64() {
        limits.fuel = fuel;
    }
    let mut tool = json!({ "name": "t", "inputSchema": { "type": "object" } });
    for (from, to) in [("input", "inputSchema"), ("output", "outputSchema")] {
        if let Some(schema) = case.get(from) {
            tool[to] = schema.clone();
        }
    }
    let contract = Contract::received_with(tool, &Options::default().limits(limits))
        .map_err(|error| error.to_string())?;
    let mode: Mode = case["mode"].as_str().unwrap_or("enforce").parse().expect("a mode");
    let mut terms = ResultTerms::from(mode);
    if let Some(revision) = case["revision"].as_str() {
        terms = terms.interim(Interim::known_to(&Revision::from(revision)));
    }
    let judged = match case.get("result") {
        Some(result) => contract.judge_result(result, terms),
        None => contract.judge_arguments(case.get("arguments"), mode),
    };
    // Within fewer steps it says the same, or nothing.
    for fuel in [0, 100, u64::MAX] {
        let within = match case.get("result") {
            Some(result) => contract.judge_result_within(result, terms, fuel),
            None => contract.judge_arguments_within(case.get("arguments"), mode, fuel),
        };
        match within {
            Some(within) => assert_eq!(format!("{within:?}"), format!("{judged:?}"), "{fuel}"),
            None => assert!(fuel < u64::MAX, "all of the fuel is not enough"),
        }
    }
    let outcome = match judged.outcome {
        Outcome::NotJudged => "not judged",
        Outcome::Valid => "valid",
        Outcome::Invalid => "invalid",
        Outcome::Unfinished => "unfinished",
        _ => "another",
    };
    expect(case, "outcome", &outcome.into())?;
    let rules: Vec<_> = judged.findings.iter().map(|finding| finding.rule).collect();
    expect(case, "rules", &json!(rules))?;
    let pointers: Vec<_> =
        judged.findings.iter().map(|finding| finding.pointer.to_string()).collect();
    expect(case, "pointers", &json!(pointers))?;
    let text = judged.refusal.as_ref().map(|refusal| {
        assert_eq!(refusal["isError"], true, "a refusal is a tool error");
        refusal["content"][0]["text"].clone()
    });
    expect(case, "text", &json!(text))?;
    let result_type = judged.refusal.as_ref().and_then(|refusal| refusal.get("resultType"));
    expect(case, "result_type", &json!(result_type))?;
    if let Some(secret) = case["secret"].as_str() {
        assert!(!json!(judged.refusal).to_string().contains(secret), "the refusal repeats it");
    }
    Ok(())
}
