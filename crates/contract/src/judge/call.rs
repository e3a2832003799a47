//! The arguments or the result of a call after judgement.

use std::time::Duration;

use serde_json::{Map, Value, json};
use toolbond_schema::{Measured, Unfinished, Verdict};

use crate::{
    Action, Finding, Mode, Severity, Side,
    arguments::{ArgumentChange, RepairedArguments},
    results::RepairedResult,
};

/// The arguments or the result of a call after judgement.
#[derive(Clone, Debug)]
#[must_use]
#[non_exhaustive]
pub struct JudgedCall {
    /// What the check found.
    pub outcome: Outcome,
    /// One finding for each violation, up to the limit.
    pub findings: Vec<Finding>,
    /// The tool error to answer with, instead of calling the tool or returning its result.
    pub refusal: Option<Map<String, Value>>,
    /// The arguments to call the tool with, if [`Mode::Repair`] changed them.
    pub repaired: Option<RepairedArguments>,
    /// What the result has to be, if [`Mode::Repair`] changed it.
    pub repaired_result: Option<RepairedResult>,
    /// The fuel that validation took.
    pub fuel: u64,
}

impl JudgedCall {
    /// Makes a judgement without findings, refusal or fuel.
    pub const fn new(outcome: Outcome) -> Self {
        Self {
            outcome,
            findings: Vec::new(),
            refusal: None,
            repaired: None,
            repaired_result: None,
            fuel: 0,
        }
    }

    /// Makes the judgement of a call that is not valid. `text` is for the tool error that [`Mode::Enforce`] asks for.
    pub(super) fn wrong(
        Wrong { outcome, mut findings, text }: Wrong,
        tool: &str,
        side: Side,
        mode: Mode,
    ) -> Self {
        let refusal = mode.refuses_on(side).then(|| tool_error(text));
        for finding in &mut findings {
            finding.tool = Some(tool.to_owned());
            finding.side = Some(side);
            if refusal.is_some() {
                finding.action = match side {
                    Side::Result => Action::ResultWithheld,
                    _ => Action::CallRefused,
                };
            } else {
                finding.severity = Severity::Warning;
            }
        }
        Self { findings, refusal, ..Self::new(outcome) }
    }

    pub(super) const fn with_fuel(mut self, fuel: u64) -> Self {
        self.fuel = fuel;
        self
    }
}

/// Why a call is not valid.
pub(super) struct Wrong {
    pub(super) outcome: Outcome,
    pub(super) findings: Vec<Finding>,
    /// What to tell the caller.
    pub(super) text: String,
}

/// The most repairs of one call that are reported.
const MAX_FINDINGS: usize = 16;

/// The findings for the `changes` of a call of `tool`.
pub(super) fn repairs_done(changes: &[ArgumentChange], tool: &str, side: Side) -> Vec<Finding> {
    let findings = changes
        .iter()
        .take(MAX_FINDINGS)
        .map(|change| change.finding().tool(tool).side(side).action(Action::Repaired));
    let mut findings: Vec<_> = findings.collect();
    if let (Some(last), more @ 1..) =
        (findings.last_mut(), changes.len().saturating_sub(MAX_FINDINGS))
    {
        last.message = format!("{}, and {more} more repairs", last.message);
    }
    findings
}

/// Whether `measured` ended because `fuel` did not suffice.
pub(super) fn is_out_of(fuel: u64, measured: &Measured) -> bool {
    matches!(measured.verdict, Verdict::Unfinished(Unfinished::Fuel { limit }) if limit == fuel)
}

/// What the check of a call found.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
#[non_exhaustive]
pub enum Outcome {
    /// Nothing was checked: the mode is off, the tool has no output schema, or the result is an error, asks for input
    /// or stands for a task.
    NotJudged,
    /// The call keeps the contract.
    Valid,
    /// The arguments or the result broke the contract and were repaired.
    Repaired,
    /// The call breaks the contract.
    Invalid,
    /// A limit ended the check. Never treat this as valid.
    Unfinished,
}

/// One check of the arguments or the result of a call, for those who count.
#[derive(Clone, Copy, Debug)]
pub struct CallCheck {
    /// What was checked.
    pub side: Side,
    /// What the check found.
    pub outcome: Outcome,
    /// The fuel that it took.
    pub fuel: u64,
    /// The time that it took.
    pub time: Duration,
}

/// Makes a result with `isError: true` and `text` for the model to act on.
///
/// Whoever puts it on the wire adds the members that only some revisions require, such as `resultType`.
///
/// ```
/// let error = toolbond_contract::judge::tool_error("no such city");
/// assert_eq!(error["isError"], true);
/// assert_eq!(error["content"][0]["text"], "no such city");
/// ```
#[must_use]
pub fn tool_error(text: impl Into<String>) -> Map<String, Value> {
    let text: String = text.into();
    let mut result = Map::new();
    result.insert("content".to_owned(), json!([{ "type": "text", "text": text }]));
    result.insert("isError".to_owned(), true.into());
    result
}
