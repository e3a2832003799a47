//! Judging the arguments of a call.

use std::sync::LazyLock;

use serde_json::{Map, Value};
use toolpact_schema::{Measured, Unfinished, Verdict};

use super::{
    call::{JudgedCall, Outcome, tool_error},
    options::Mode,
};
use crate::{
    Action, Contract, Finding, Severity, Side,
    rules::{arguments_invalid::ARGUMENTS_INVALID, arguments_unfinished::ARGUMENTS_UNFINISHED},
};

/// Judges the arguments of a call by the input schema; absent or `null` arguments are `{}`.
///
/// Under [`Mode::Enforce`] wrong arguments give a tool error that lists every violation up to the
/// limit, and so does a check that a limit ended. Under [`Mode::Warn`] both are reported.
///
/// ```
/// use serde_json::json;
/// use toolpact_contract::{Contract, Mode, judge_arguments};
///
/// let contract = Contract::received(json!({
///     "name": "forecast",
///     "inputSchema": {
///         "type": "object",
///         "properties": { "hours": { "type": "integer", "maximum": 24 } }
///     }
/// }))?;
/// let judged = judge_arguments(&contract, Some(&json!({ "hours": 30 })), Mode::Enforce);
/// assert_eq!(
///     judged.refusal.unwrap()["content"][0]["text"],
///     "invalid arguments for tool `forecast`:\n#/hours: expected a number ≤ 24, found 30"
/// );
/// # Ok::<(), toolpact_contract::ContractError>(())
/// ```
pub fn judge_arguments(contract: &Contract, arguments: Option<&Value>, mode: Mode) -> JudgedCall {
    if mode == Mode::Off {
        return JudgedCall::of(Outcome::NotJudged);
    }
    judge(contract, contract.input().measure(given(arguments)), mode)
}

/// What [`judge_arguments`] says, where validating takes no more than `fuel` steps; see
/// [`Schema::validate_within`](toolpact_schema::Schema::validate_within).
#[must_use]
pub fn judge_arguments_within(
    contract: &Contract,
    arguments: Option<&Value>,
    mode: Mode,
    fuel: u64,
) -> Option<JudgedCall> {
    if mode == Mode::Off {
        return Some(JudgedCall::of(Outcome::NotJudged));
    }
    let measured = contract.input().schema().measure_within(given(arguments), fuel);
    match measured.verdict {
        Verdict::Unfinished(Unfinished::Fuel { limit }) if limit == fuel => None,
        _ => Some(judge(contract, measured, mode)),
    }
}

/// The arguments of a call that may have none.
fn given(arguments: Option<&Value>) -> &Value {
    static NONE: LazyLock<Value> = LazyLock::new(|| Value::Object(Map::new()));
    arguments.filter(|arguments| !arguments.is_null()).unwrap_or(&NONE)
}

fn judge(contract: &Contract, measured: Measured, mode: Mode) -> JudgedCall {
    let name = contract.name();
    let Measured { verdict, fuel } = measured;
    let (outcome, findings, text) = match verdict {
        Verdict::Valid => return JudgedCall::of(Outcome::Valid).fuel(fuel),
        Verdict::Invalid(violations) => {
            let findings = violations
                .into_iter()
                .map(|violation| ARGUMENTS_INVALID.finding(&violation.message).violation(violation))
                .collect();
            let text = format!("invalid arguments for tool `{name}`:\n{violations}");
            (Outcome::Invalid, findings, text)
        }
        Verdict::Unfinished(limit) => {
            let findings = vec![ARGUMENTS_UNFINISHED.finding(limit.to_string())];
            let text = format!(
                "the arguments for tool `{name}` could not be checked and are not taken for valid: \
                 {limit}; try smaller or simpler ones"
            );
            (Outcome::Unfinished, findings, text)
        }
    };
    conclude(
        outcome,
        findings,
        name,
        Side::Arguments,
        (mode == Mode::Enforce).then(|| tool_error(text)),
    )
    .fuel(fuel)
}

/// Fills in what all findings of a call share.
pub(super) fn conclude(
    outcome: Outcome,
    mut findings: Vec<Finding>,
    name: &str,
    side: Side,
    refusal: Option<Map<String, Value>>,
) -> JudgedCall {
    for finding in &mut findings {
        finding.tool = Some(name.to_owned());
        finding.side = Some(side);
        if refusal.is_some() {
            finding.action = Action::CallRefused;
        } else {
            finding.severity = Severity::Warning;
        }
    }
    JudgedCall { outcome, findings, refusal, fuel: 0 }
}
