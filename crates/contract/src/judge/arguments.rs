//! Judging the arguments of a call.

use std::sync::LazyLock;

use serde_json::{Map, Value};
use toolbond_schema::{Measured, Verdict};

use super::{
    call::{JudgedCall, Outcome, Wrong, is_out_of, repairs_done},
    model_text::explain,
};
use crate::{
    ArgumentTerms, Contract, Mode, Side,
    arguments::{OutOfFuel, Partial, Repaired, RepairedArguments, repair},
    rules::{arguments_invalid::ARGUMENTS_INVALID, arguments_unfinished::ARGUMENTS_UNFINISHED},
};

impl Contract {
    /// Checks the arguments of a call against the input schema. Absent or `null` arguments count as `{}`.
    ///
    /// Under [`Mode::Enforce`], invalid arguments give a tool error that lists the violations, up to the limit. So does
    /// a check that a limit ended. Under [`Mode::Warn`], both give findings only. Under [`Mode::Repair`], arguments that
    /// can only mean one thing are repaired first:
    ///
    /// ```
    /// use serde_json::json;
    /// use toolbond_contract::{Contract, Mode};
    ///
    /// let contract = Contract::received(json!({
    ///     "name": "forecast",
    ///     "inputSchema": { "type": "object", "properties": { "hours": { "type": "integer" } } }
    /// }))?;
    /// let judged = contract.judge_arguments(Some(&json!({ "hours": "24" })), Mode::Repair);
    /// assert_eq!(judged.repaired.unwrap().arguments, json!({ "hours": 24 }));
    /// # Ok::<(), toolbond_contract::ContractError>(())
    /// ```
    ///
    /// Arguments that mean nothing else are refused:
    ///
    /// ```
    /// use serde_json::json;
    /// use toolbond_contract::{Contract, Mode};
    ///
    /// let contract = Contract::received(json!({
    ///     "name": "forecast",
    ///     "inputSchema": {
    ///         "type": "object",
    ///         "properties": { "hours": { "type": "integer", "maximum": 24 } }
    ///     }
    /// }))?;
    /// let judged = contract.judge_arguments(Some(&json!({ "hours": 30 })), Mode::Enforce);
    /// assert_eq!(
    ///     judged.refusal.unwrap()["content"][0]["text"],
    ///     "invalid arguments for tool `forecast`:\nhours: expected a number ≤ 24, found 30"
    /// );
    /// # Ok::<(), toolbond_contract::ContractError>(())
    /// ```
    pub fn judge_arguments(
        &self,
        arguments: Option<&Value>,
        terms: impl Into<ArgumentTerms>,
    ) -> JudgedCall {
        let schema = self.input().schema();
        let fuel = schema.limits().fuel;
        let arguments = or_empty(arguments);
        let terms = terms.into();
        if terms.mode == Mode::Off {
            return JudgedCall::new(Outcome::NotJudged);
        }
        let measured = schema.measure(arguments);
        self.repair_arguments(arguments, &measured, terms, fuel)
            .unwrap_or_default()
            .unwrap_or_else(|| self.conclude_arguments(arguments, measured, terms.mode))
    }

    /// The same as [`Contract::judge_arguments`], but returns `None` if validation needs more than `fuel`. See
    /// [`Schema::validate_within`](toolbond_schema::Schema::validate_within).
    #[must_use]
    pub fn judge_arguments_within(
        &self,
        arguments: Option<&Value>,
        terms: impl Into<ArgumentTerms>,
        fuel: u64,
    ) -> Option<JudgedCall> {
        let arguments = or_empty(arguments);
        let terms = terms.into();
        if terms.mode == Mode::Off {
            return Some(JudgedCall::new(Outcome::NotJudged));
        }
        let measured = self.input().schema().measure_within(arguments, fuel);
        if is_out_of(fuel, &measured) {
            return None;
        }
        let repaired = self.repair_arguments(arguments, &measured, terms, fuel).ok()?;
        Some(repaired.unwrap_or_else(|| self.conclude_arguments(arguments, measured, terms.mode)))
    }

    /// Repairs invalid arguments if `terms` ask for it. Returns `None` if they are not to be repaired, and an
    /// error if that was not decided within `fuel`.
    fn repair_arguments(
        &self,
        arguments: &Value,
        measured: &Measured,
        terms: ArgumentTerms,
        fuel: u64,
    ) -> Result<Option<JudgedCall>, OutOfFuel> {
        let (Mode::Repair, Verdict::Invalid(violations)) = (terms.mode, &measured.verdict) else {
            return Ok(None);
        };
        let left = fuel.saturating_sub(measured.fuel);
        let repairs = terms.repairs.active();
        let repaired = repair(self.input().schema(), arguments, violations, &repairs, left)?;
        let Repaired { arguments, changes, fuel } = match repaired {
            Ok(repaired) => repaired,
            Err(Partial { arguments, violations }) => {
                let mut left = measured.clone();
                left.verdict = Verdict::Invalid(violations);
                return Ok(Some(self.conclude_arguments(&arguments, left, terms.mode)));
            }
        };
        Ok(Some(JudgedCall {
            findings: repairs_done(&changes, self.name(), Side::Arguments),
            repaired: Some(RepairedArguments { arguments, changes }),
            ..JudgedCall::new(Outcome::Repaired).with_fuel(measured.fuel + fuel)
        }))
    }

    fn conclude_arguments(
        &self,
        arguments: &Value,
        Measured { verdict, fuel, .. }: Measured,
        mode: Mode,
    ) -> JudgedCall {
        let name = self.name();
        let wrong = match verdict {
            Verdict::Valid => return JudgedCall::new(Outcome::Valid).with_fuel(fuel),
            Verdict::Invalid(violations) => Wrong {
                outcome: Outcome::Invalid,
                findings: violations
                    .into_iter()
                    .map(|it| ARGUMENTS_INVALID.finding(&it.message).violation(it))
                    .collect(),
                text: if mode.refuses_on(Side::Arguments) {
                    let lines = explain(self.input().schema(), arguments, &violations);
                    format!("invalid arguments for tool `{name}`:\n{lines}")
                } else {
                    String::new()
                },
            },
            Verdict::Unfinished(limit) => Wrong {
                outcome: Outcome::Unfinished,
                findings: vec![ARGUMENTS_UNFINISHED.finding(limit.to_string())],
                text: format!(
                    "could not check the arguments for tool `{name}`: {limit}; try smaller or simpler ones"
                ),
            },
        };
        JudgedCall::wrong(wrong, name, Side::Arguments, mode).with_fuel(fuel)
    }
}

/// Returns the arguments, or `{}` if they are absent or `null`.
fn or_empty(arguments: Option<&Value>) -> &Value {
    static EMPTY: LazyLock<Value> = LazyLock::new(|| Value::Object(Map::new()));
    arguments.filter(|arguments| !arguments.is_null()).unwrap_or(&EMPTY)
}
