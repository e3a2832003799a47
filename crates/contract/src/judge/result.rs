//! Judging the result of a call.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use toolbond_schema::{Measured, Pointer, Verdict, Violations};

use super::model_text::place;
use super::{
    call::{JudgedCall, Outcome, Wrong, is_out_of},
    options::Mode,
};
use crate::{
    Contract, Side, ToolSchema,
    json_type::kind,
    rules::{
        result_invalid::RESULT_INVALID, result_missing::RESULT_MISSING, result_shape::RESULT_SHAPE,
        result_unfinished::RESULT_UNFINISHED,
    },
};

impl Contract {
    /// Checks the result of a call, with its structured content in the natural shape.
    ///
    /// 1. The output schema does not apply to a result with `isError: true`. Nor does it apply to a result without
    ///    structured content that asks for input (`resultType: "input_required"`) or stands for a task.
    /// 2. If the tool declares an output schema, missing structured content is a violation. `null` is a value.
    /// 3. The output schema applies to the structured content.
    ///
    /// Under [`Mode::Enforce`], an invalid result gives a tool error to send instead. It says what was expected and
    /// where, but repeats no value of the data. Under [`Mode::Warn`], an invalid result gives findings only.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolbond_contract::{Contract, Mode, Outcome};
    ///
    /// let contract = Contract::received(json!({
    ///     "name": "get_count",
    ///     "inputSchema": { "type": "object" },
    ///     "outputSchema": { "type": "integer" }
    /// }))?;
    /// let wrong = json!({ "content": [], "structuredContent": "secret" });
    /// let judged = contract.judge_result(&wrong, Mode::Enforce);
    /// assert_eq!(judged.outcome, Outcome::Invalid);
    /// assert!(!judged.refusal.unwrap()["content"].to_string().contains("secret"));
    ///
    /// let error = json!({ "content": [], "structuredContent": "secret", "isError": true });
    /// assert_eq!(contract.judge_result(&error, Mode::Enforce).outcome, Outcome::NotJudged);
    /// # Ok::<(), toolbond_contract::ContractError>(())
    /// ```
    pub fn judge_result(&self, result: &Value, mode: Mode) -> JudgedCall {
        self.judge_result_by(result, mode, |output, content| output.schema().measure(content))
    }

    /// The same as [`Contract::judge_result`], but returns `None` if validation needs more than `fuel`. See
    /// [`Schema::validate_within`](toolbond_schema::Schema::validate_within).
    #[must_use]
    pub fn judge_result_within(&self, result: &Value, mode: Mode, fuel: u64) -> Option<JudgedCall> {
        let mut is_enough = true;
        let judged = self.judge_result_by(result, mode, |output, content| {
            let measured = output.schema().measure_within(content, fuel);
            is_enough = !is_out_of(fuel, &measured);
            measured
        });
        is_enough.then_some(judged)
    }

    fn judge_result_by(
        &self,
        result: &Value,
        mode: Mode,
        measure: impl FnOnce(&ToolSchema, &Value) -> Measured,
    ) -> JudgedCall {
        if mode == Mode::Off {
            return JudgedCall::new(Outcome::NotJudged);
        }
        let mut fuel = 0;
        let validate = |output: &ToolSchema, content: &Value| {
            let measured = measure(output, content);
            fuel = measured.fuel;
            measured.verdict
        };
        let mut wrong = match check(self, result, validate) {
            Ok(outcome) => return JudgedCall::new(outcome).with_fuel(fuel),
            Err(wrong) => wrong,
        };
        wrong.text = format!("the result of tool `{}` was withheld: {}", self.name(), wrong.text);
        let mut judged = JudgedCall::wrong(wrong, self.name(), Side::Result, mode).with_fuel(fuel);
        // The tool error is a whole result, whatever the original said it was.
        if let Some(refusal) =
            judged.refusal.as_mut().filter(|_| result.get("resultType").is_some())
        {
            refusal.insert("resultType".to_owned(), "complete".into());
        }
        judged
    }
}

fn check(
    contract: &Contract,
    result: &Value,
    validate: impl FnOnce(&ToolSchema, &Value) -> Verdict,
) -> Result<Outcome, Wrong> {
    let result = check_shape(result).map_err(|(at, message)| Wrong {
        outcome: Outcome::Invalid,
        text: format!("{at}: {message}"),
        findings: vec![RESULT_SHAPE.finding(message).at(at)],
    })?;
    let is_error = result.get("isError") == Some(&Value::Bool(true));
    let Some(output) = contract.output() else { return Ok(Outcome::NotJudged) };
    if is_error || is_interim(result) {
        return Ok(Outcome::NotJudged);
    }
    let Some(content) = result.get("structuredContent") else {
        let message = "missing `structuredContent`, which the output schema requires";
        return Err(Wrong {
            outcome: Outcome::Invalid,
            findings: vec![RESULT_MISSING.finding(message)],
            text: message.to_owned(),
        });
    };
    match validate(output, content) {
        Verdict::Valid => Ok(Outcome::Valid),
        Verdict::Invalid(violations) => Err(Wrong {
            outcome: Outcome::Invalid,
            findings: violations
                .into_iter()
                .map(|it| RESULT_INVALID.finding(&it.message).violation(it))
                .collect(),
            text: list_without_data(content, &violations),
        }),
        Verdict::Unfinished(limit) => Err(Wrong {
            outcome: Outcome::Unfinished,
            findings: vec![RESULT_UNFINISHED.finding(limit.to_string())],
            text: format!("could not check its structured content: {limit}"),
        }),
    }
}

/// Lists the violations without the values that were found.
fn list_without_data(content: &Value, violations: &Violations) -> String {
    let mut text = "its structured content breaks the output schema".to_owned();
    for violation in violations {
        let place = match place(content, &violation.instance) {
            root if root.is_empty() => root,
            place => format!("{place}: "),
        };
        // Writing to a `String` does not fail.
        _ = match violation.expected.as_str() {
            "" => write!(text, "\n{place}breaks `{}`", violation.keyword),
            expected => write!(text, "\n{place}expected {expected}"),
        };
    }
    if violations.omitted() {
        text.push_str("\n… and more");
    }
    text
}

/// Returns the members of `result`, or the place and the description of what is wrong with its shape.
fn check_shape(result: &Value) -> Result<&Map<String, Value>, (Pointer, String)> {
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

/// Whether the final result is still to come: `input_required`, or a task. A result with structured content is final,
/// whatever else it says.
fn is_interim(result: &Map<String, Value>) -> bool {
    if result.contains_key("structuredContent") {
        return false;
    }
    match result.get("resultType").and_then(Value::as_str) {
        Some(kind) => matches!(kind, "input_required" | "task"),
        None => !result.contains_key("content") && result.get("task").is_some_and(Value::is_object),
    }
}
