//! Judging the result of a call.

use std::fmt::Write as _;

use serde_json::{Map, Value};
use toolbond_schema::{Pointer, Verdict, Violations};

use super::call::{JudgedCall, Outcome, Wrong, is_out_of, repairs_done};
use super::model_text::place;
use crate::{
    Contract, Mode, ResultTerms, Side, ToolSchema,
    arguments::OutOfFuel,
    json_type::kind,
    results::{Interim, repair},
    rules::{
        result_invalid::RESULT_INVALID, result_missing::RESULT_MISSING, result_shape::RESULT_SHAPE,
        result_unfinished::RESULT_UNFINISHED,
    },
};

impl Contract {
    /// Checks the result of a call, with its structured content in the natural shape.
    ///
    /// 1. The output schema does not apply to a result with `isError: true`. Nor does it apply to a result without
    ///    structured content that asks for input (`resultType: "input_required"`) or stands for a task, as far as
    ///    [`ResultTerms::interim`] says that its reader knows such results.
    /// 2. If the tool declares an output schema, missing structured content is a violation. `null` is a value.
    /// 3. The output schema applies to the structured content.
    ///
    /// Under [`Mode::Enforce`], an invalid result gives a tool error to send instead. It says what was expected and
    /// where, but repeats no value of the data. Under [`Mode::Warn`], an invalid result gives findings only. Under
    /// [`Mode::Repair`], a result that can only mean one thing is repaired first:
    ///
    /// ```
    /// use serde_json::json;
    /// use toolbond_contract::{Contract, Mode};
    ///
    /// let contract = Contract::received(json!({
    ///     "name": "get_count",
    ///     "inputSchema": { "type": "object" },
    ///     "outputSchema": { "type": "integer" }
    /// }))?;
    /// let text_only = json!({ "content": [{ "type": "text", "text": "72" }] });
    /// let judged = contract.judge_result(&text_only, Mode::Repair);
    /// assert_eq!(judged.repaired_result.unwrap().content, 72);
    /// # Ok::<(), toolbond_contract::ContractError>(())
    /// ```
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
    pub fn judge_result(&self, result: &Value, terms: impl Into<ResultTerms>) -> JudgedCall {
        let fuel = self.output().map_or(0, |output| output.schema().limits().fuel);
        let mut terms = terms.into();
        self.judge_result_by(result, terms, fuel).unwrap_or_else(|OutOfFuel| {
            // The validation took most of the fuel, and nothing is left for a repair.
            terms.mode = Mode::Warn;
            self.judge_result_by(result, terms, fuel)
                .unwrap_or_else(|OutOfFuel| JudgedCall::new(Outcome::Unfinished))
        })
    }

    /// The same as [`Contract::judge_result`], but returns `None` if validation needs more than `fuel`. See
    /// [`Schema::validate_within`](toolbond_schema::Schema::validate_within).
    #[must_use]
    pub fn judge_result_within(
        &self,
        result: &Value,
        terms: impl Into<ResultTerms>,
        fuel: u64,
    ) -> Option<JudgedCall> {
        let limit = self.output().map_or(u64::MAX, |output| output.schema().limits().fuel);
        if fuel >= limit {
            return Some(self.judge_result(result, terms));
        }
        self.judge_result_by(result, terms.into(), fuel).ok()
    }

    fn judge_result_by(
        &self,
        result: &Value,
        terms: ResultTerms,
        fuel: u64,
    ) -> Result<JudgedCall, OutOfFuel> {
        let mode = terms.mode;
        if mode == Mode::Off {
            return Ok(JudgedCall::new(Outcome::NotJudged));
        }
        let (mut taken, mut is_enough) = (0, true);
        let validate = |output: &ToolSchema, content: &Value| {
            let limit = output.schema().limits().fuel;
            let measured = output.schema().measure_within(content, fuel);
            taken = measured.fuel;
            is_enough = fuel >= limit || !is_out_of(fuel, &measured);
            measured.verdict
        };
        let checked = check(self, result, terms.interim, validate);
        if !is_enough {
            return Err(OutOfFuel);
        }
        let mut wrong = match checked {
            Ok(outcome) => return Ok(JudgedCall::new(outcome).with_fuel(taken)),
            Err(wrong) => wrong,
        };
        if mode == Mode::Repair && wrong.outcome == Outcome::Invalid {
            let left = fuel.saturating_sub(taken);
            if let Some(repaired) = self.repair_result(result, terms, left)? {
                let fuel = taken + repaired.fuel;
                return Ok(repaired.with_fuel(fuel));
            }
        }
        wrong.text = format!("the result of tool `{}` was withheld: {}", self.name(), wrong.text);
        let mut judged = JudgedCall::wrong(wrong, self.name(), Side::Result, mode).with_fuel(taken);
        // The tool error is a whole result, whatever the original said it was.
        if let Some(refusal) =
            judged.refusal.as_mut().filter(|_| result.get("resultType").is_some())
        {
            refusal.insert("resultType".to_owned(), "complete".into());
        }
        Ok(judged)
    }

    /// Repairs an invalid result. Returns `None` if it cannot be repaired.
    fn repair_result(
        &self,
        result: &Value,
        terms: ResultTerms,
        fuel: u64,
    ) -> Result<Option<JudgedCall>, OutOfFuel> {
        let (Some(output), Ok(members)) = (self.output(), check_shape(result)) else {
            return Ok(None);
        };
        let repaired = repair(output.schema(), members, terms.deletes, fuel)?;
        Ok(repaired.map(|(repaired, fuel)| JudgedCall {
            findings: repairs_done(&repaired.changes, self.name(), Side::Result),
            repaired_result: Some(repaired),
            ..JudgedCall::new(Outcome::Repaired).with_fuel(fuel)
        }))
    }
}

fn check(
    contract: &Contract,
    result: &Value,
    interim: Interim,
    validate: impl FnOnce(&ToolSchema, &Value) -> Verdict,
) -> Result<Outcome, Wrong> {
    let result = check_shape(result).map_err(|(at, message)| Wrong {
        outcome: Outcome::Invalid,
        text: format!("{at}: {message}"),
        findings: vec![RESULT_SHAPE.finding(message).at(at)],
    })?;
    let is_error = result.get("isError") == Some(&Value::Bool(true));
    let Some(output) = contract.output() else { return Ok(Outcome::NotJudged) };
    if is_error || interim.includes(result) {
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
