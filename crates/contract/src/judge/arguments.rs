//! Judging the arguments of a call.

use std::sync::LazyLock;

use serde_json::{Map, Value};
use toolpact_schema::{Measured, Verdict};

use super::{
    call::{JudgedCall, Outcome, Wrong, is_out_of},
    options::Mode,
};
use crate::{
    Contract, Side,
    rules::{arguments_invalid::ARGUMENTS_INVALID, arguments_unfinished::ARGUMENTS_UNFINISHED},
};

impl Contract {
    /// Checks the arguments of a call against the input schema. Absent or `null` arguments count as `{}`.
    ///
    /// Under [`Mode::Enforce`], invalid arguments give a tool error that lists the violations, up to the limit. So does
    /// a check that a limit ended. Under [`Mode::Warn`], both give findings only.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolpact_contract::{Contract, Mode};
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
    ///     "invalid arguments for tool `forecast`:\n#/hours: expected a number ≤ 24, found 30"
    /// );
    /// # Ok::<(), toolpact_contract::ContractError>(())
    /// ```
    pub fn judge_arguments(&self, arguments: Option<&Value>, mode: Mode) -> JudgedCall {
        if mode == Mode::Off {
            return JudgedCall::new(Outcome::NotJudged);
        }
        self.conclude_arguments(self.input().schema().measure(or_empty(arguments)), mode)
    }

    /// The same as [`Contract::judge_arguments`], but returns `None` if validation needs more than `fuel`. See
    /// [`Schema::validate_within`](toolpact_schema::Schema::validate_within).
    #[must_use]
    pub fn judge_arguments_within(
        &self,
        arguments: Option<&Value>,
        mode: Mode,
        fuel: u64,
    ) -> Option<JudgedCall> {
        if mode == Mode::Off {
            return Some(JudgedCall::new(Outcome::NotJudged));
        }
        let measured = self.input().schema().measure_within(or_empty(arguments), fuel);
        (!is_out_of(fuel, &measured)).then(|| self.conclude_arguments(measured, mode))
    }

    fn conclude_arguments(
        &self,
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
                text: format!("invalid arguments for tool `{name}`:\n{violations}"),
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
