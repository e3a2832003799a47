//! Judging the result of a call.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use toolpact_schema::{Measured, Pointer, Unfinished, Verdict, Violations};

use super::{
    arguments::conclude,
    call::{JudgedCall, Outcome, tool_error},
    options::Mode,
};
use crate::{
    Contract, Finding, OutputSchema, Side,
    json_type::kind,
    rules::{
        result_invalid::RESULT_INVALID, result_missing::RESULT_MISSING, result_shape::RESULT_SHAPE,
        result_unfinished::RESULT_UNFINISHED,
    },
};

/// Judges the result of a call, its structured content in the natural shape.
///
/// 1. A result with `isError: true` is never judged by the output schema, nor is one without
///    structured content that asks for input (`resultType: "input_required"`) or stands for a task.
/// 2. A declared output schema and no structured content is a violation. `null` is a value.
/// 3. Structured content is validated by the output schema.
///
/// Under [`Mode::Enforce`] a wrong result gives a tool error to send in its place, which says what was
/// expected and where, but repeats no value of the data. Under [`Mode::Warn`] it passes.
///
/// ```
/// use serde_json::json;
/// use toolpact_contract::{Contract, Mode, Outcome, judge_result};
///
/// let contract = Contract::received(json!({
///     "name": "get_count",
///     "inputSchema": { "type": "object" },
///     "outputSchema": { "type": "integer" }
/// }))?;
/// let wrong = json!({ "content": [], "structuredContent": "secret" });
/// let judged = judge_result(&contract, &wrong, Mode::Enforce);
/// assert_eq!(judged.outcome, Outcome::Invalid);
/// assert!(!judged.refusal.unwrap()["content"].to_string().contains("secret"));
///
/// let error = json!({ "content": [], "structuredContent": "secret", "isError": true });
/// assert_eq!(judge_result(&contract, &error, Mode::Enforce).outcome, Outcome::NotJudged);
/// # Ok::<(), toolpact_contract::ContractError>(())
/// ```
pub fn judge_result(contract: &Contract, result: &Value, mode: Mode) -> JudgedCall {
    judge(contract, result, mode, OutputSchema::measure)
}

/// What [`judge_result`] says, where validating takes no more than `fuel` steps; see
/// [`Schema::validate_within`](toolpact_schema::Schema::validate_within).
#[must_use]
pub fn judge_result_within(
    contract: &Contract,
    result: &Value,
    mode: Mode,
    fuel: u64,
) -> Option<JudgedCall> {
    let mut enough = true;
    let judged = judge(contract, result, mode, |output, content| {
        let measured = output.schema().measure_within(content, fuel);
        enough = measured.verdict != Verdict::Unfinished(Unfinished::Fuel { limit: fuel });
        measured
    });
    enough.then_some(judged)
}

fn judge(
    contract: &Contract,
    result: &Value,
    mode: Mode,
    measure: impl FnOnce(&OutputSchema, &Value) -> Measured,
) -> JudgedCall {
    if mode == Mode::Off {
        return JudgedCall::of(Outcome::NotJudged);
    }
    let mut fuel = 0;
    let measure = |output: &OutputSchema, content: &Value| {
        let measured = measure(output, content);
        fuel = measured.fuel;
        measured.verdict
    };
    let (outcome, findings, text) = match check(contract, result, measure) {
        Ok(outcome) => return JudgedCall::of(outcome).fuel(fuel),
        Err(wrong) => wrong,
    };
    let refusal = (mode == Mode::Enforce).then(|| {
        let mut error =
            tool_error(format!("the result of tool `{}` was withheld: {text}", contract.name()));
        // Whatever it said it was, what takes its place is a whole result.
        if result.get("resultType").is_some() {
            error.insert("resultType".to_owned(), "complete".into());
        }
        error
    });
    conclude(outcome, findings, contract.name(), Side::Result, refusal).fuel(fuel)
}

/// An outcome that is not fine, its findings, and what to tell the caller.
type Wrong = (Outcome, Vec<Finding>, String);

fn check(
    contract: &Contract,
    result: &Value,
    validate: impl FnOnce(&OutputSchema, &Value) -> Verdict,
) -> Result<Outcome, Wrong> {
    let result = shape(result).map_err(|(at, message)| {
        let text = format!("{at}: {message}");
        (Outcome::Invalid, vec![RESULT_SHAPE.finding(message).at(at)], text)
    })?;
    let is_error = result.get("isError") == Some(&Value::Bool(true));
    let Some(output) = contract.output() else { return Ok(Outcome::NotJudged) };
    if is_error || stands_for_another(result) {
        return Ok(Outcome::NotJudged);
    }
    let Some(content) = result.get("structuredContent") else {
        let message = "missing `structuredContent`, which the output schema asks for";
        return Err((Outcome::Invalid, vec![RESULT_MISSING.finding(message)], message.to_owned()));
    };
    match validate(output, content) {
        Verdict::Valid => Ok(Outcome::Valid),
        Verdict::Invalid(violations) => {
            let findings = violations
                .into_iter()
                .map(|violation| RESULT_INVALID.finding(&violation.message).violation(violation))
                .collect();
            Err((Outcome::Invalid, findings, without_data(&violations)))
        }
        Verdict::Unfinished(limit) => {
            let text = format!(
                "its structured content could not be checked and is not taken for valid: {limit}"
            );
            Err((Outcome::Unfinished, vec![RESULT_UNFINISHED.finding(limit.to_string())], text))
        }
    }
}

/// The violations without what was found.
fn without_data(violations: &Violations) -> String {
    let mut text = "its structured content breaks the output schema".to_owned();
    for violation in violations {
        // Writing to a `String` does not fail.
        _ = match violation.expected.as_str() {
            "" => write!(text, "\n{}: breaks `{}`", violation.instance, violation.keyword),
            expected => write!(text, "\n{}: expected {expected}", violation.instance),
        };
    }
    if violations.omitted() {
        text.push_str("\n… and more");
    }
    text
}

/// `result` as the object it has to be, or where it is not and why.
fn shape(result: &Value) -> Result<&Map<String, Value>, (Pointer, String)> {
    let wrong = |expected: &str, found: &Value, at| {
        Err((at, format!("expected {expected}, found {}", kind(found))))
    };
    let Value::Object(map) = result else {
        return wrong("a result (an object)", result, Pointer::root());
    };
    match map.get("content") {
        None | Some(Value::Array(_)) => {}
        Some(other) => return wrong("an array", other, Pointer::root().join("content")),
    }
    match map.get("isError") {
        None | Some(Value::Bool(_)) => Ok(map),
        Some(other) => wrong("a boolean", other, Pointer::root().join("isError")),
    }
}

/// Whether the result of the call is still to come: `input_required`, or a task. What has structured
/// content is a result, whatever else it says.
fn stands_for_another(result: &Map<String, Value>) -> bool {
    if result.contains_key("structuredContent") {
        return false;
    }
    match result.get("resultType").and_then(Value::as_str) {
        Some(kind) => matches!(kind, "input_required" | "task"),
        None => !result.contains_key("content") && result.get("task").is_some_and(Value::is_object),
    }
}
