//! Checking the result of a call, and giving it the shape that the client can read.

use std::time::Instant;

use crate::environment::CallSpan;
use crate::event::CallSource;
use serde_json::Value;
use toolbond_contract::{
    Contract, Form, JudgedCall, Mode, Outcome, ResultTerms, Revision, Side, Structured,
    judge::CallCheck, results::Interim, rules::RESULT_SHAPE,
};

use super::budget::{Budget, OutOfBudget};
use super::catalog::{HeldOutput, Tool};
use super::shape::shape;
use super::{refusal_text, unchecked};
use crate::environment::Record;
use crate::json::members::{case_variant, differs_in_case, members};
use crate::json::strict::{self, value_bytes};
use crate::message::{INLINE_BYTES, Outline, RESULT_NAMES, created_tasks};
use crate::server::{Rules, Server};

/// A checked result.
#[derive(Debug, Default)]
pub struct CheckedResult {
    /// The result, as JSON, that takes its place; `None` leaves it as it is.
    pub replacement: Option<String>,
    /// The tasks that will deliver the result later.
    pub tasks: Vec<String>,
}

/// Checks the results of one tool, or of a tool that is not known.
#[derive(Clone, Copy)]
pub struct ResultCheck<'a> {
    pub server: &'a Server,
    pub rules: &'a Rules,
    pub tool: Option<&'a Tool>,
    pub revision: &'a Revision,
    /// Whether it is the result of a task, which is always the final one.
    pub is_of_task: bool,
    pub source: &'a CallSource,
    pub span: Option<&'a CallSpan>,
}

impl ResultCheck<'_> {
    /// Checks `result`; `outline` is what was parsed of it with its message, if anything.
    pub fn check(
        self,
        result: &str,
        outline: Option<&Outline<'_>>,
        budget: &mut Budget,
    ) -> Result<CheckedResult, OutOfBudget> {
        let settings = &self.rules.settings;
        let mode = self.contract().map_or(Mode::Off, |it| settings.results_mode(it.name()));
        if mode == Mode::Off && !settings.translate.revisions {
            self.look_for_error(result);
            return Ok(CheckedResult::default());
        }
        if budget.is_inline && result.len() > INLINE_BYTES {
            return Err(OutOfBudget);
        }
        let own;
        let outline = match outline {
            Some(outline) => Some(outline),
            None => {
                let left = budget.memory_beside(result);
                own = left.and_then(|left| Outline::read(result, left));
                own.as_ref()
            }
        };
        if let Some(outline) = outline
            && self.accepts(mode, outline, budget)
        {
            return Ok(self.shaped(result, &outline.members));
        }
        let name = self.contract().map_or("", Contract::name);
        let reason = if value_bytes(result) > budget.memory {
            "the result is not valid, or too large to be checked in the memory of the guard"
                .to_owned()
        } else {
            match strict::parse_result(result) {
                Ok(value) => match odd_name(&value) {
                    None => return self.check_value(mode, result, &value, budget),
                    Some(reason) => reason,
                },
                Err(error) => format!("cannot parse the result: {error}"),
            }
        };
        let judged = unchecked(Side::Result, name, &reason, mode);
        self.look_for_error(result);
        let replacement = self.conclude(judged);
        Ok(CheckedResult { replacement, tasks: Vec::new() })
    }

    /// What the caller holds of the output schema.
    pub(super) fn held(&self) -> Option<&HeldOutput> {
        match self.tool {
            Some(Tool::Offered { held, .. }) => Some(held),
            _ => None,
        }
    }

    /// Which results are not the final ones to the client.
    fn interim(&self, mode: Mode) -> Interim {
        match mode {
            // Nothing is withheld, and the guard learns nothing from a result that says that it is not the final one.
            Mode::Repair => Interim::Any,
            _ if self.is_of_task => Interim::None,
            _ => Interim::known_to(self.revision),
        }
    }

    fn contract(&self) -> Option<&Contract> {
        match self.tool {
            Some(Tool::Offered { contract, .. }) => Some(contract),
            _ => None,
        }
    }

    /// Whether the outline of a result is enough to see that it is valid.
    fn accepts(self, mode: Mode, outline: &Outline<'_>, budget: &mut Budget) -> bool {
        if !outline.is_plain() {
            return false;
        }
        let contract = self.contract().filter(|_| mode != Mode::Off);
        let Some((contract, output)) = contract.and_then(|it| Some((it, it.output()?))) else {
            return true;
        };
        let start = self.server.environment().now();
        let fuel = budget.fuel.unwrap_or(u64::MAX);
        let structured = outline.structured.as_ref();
        let Some(spent) = structured.and_then(|value| output.schema().accepts(value, fuel)) else {
            return false;
        };
        budget.spend(spent);
        self.record(contract.name(), Outcome::Valid, spent, start);
        true
    }

    fn check_value(
        self,
        mode: Mode,
        text: &str,
        result: &Value,
        budget: &mut Budget,
    ) -> Result<CheckedResult, OutOfBudget> {
        if result.get("isError") == Some(&Value::Bool(true))
            && let Some(span) = self.span
        {
            span.set_tool_error();
        }
        let Some(contract) = self.contract() else { return Ok(self.shaped(text, result)) };
        let start = self.server.environment().now();
        let deletes = self.held().is_some_and(HeldOutput::is_author);
        let terms = ResultTerms::from(mode).deletes(deletes).interim(self.interim(mode));
        let judged = match budget.fuel {
            None => contract.judge_result(result, terms),
            Some(fuel) => contract.judge_result_within(result, terms, fuel).ok_or(OutOfBudget)?,
        };
        let is_wrong = matches!(judged.outcome, Outcome::Repaired | Outcome::Invalid);
        if mode == Mode::Repair && is_wrong && budget.is_inline {
            return Err(OutOfBudget);
        }
        budget.spend(judged.fuel);
        self.record(contract.name(), judged.outcome, judged.fuel, start);
        // A client may ask for the result of a task that a refused result named.
        let tasks = created_tasks(result);
        if mode == Mode::Repair {
            return Ok(CheckedResult { tasks, ..self.mend(text, result, contract, judged) });
        }
        let is_refused = judged.refusal.is_some();
        let replacement = self.conclude(judged);
        if is_refused {
            return Ok(CheckedResult { replacement, tasks });
        }
        Ok(CheckedResult { tasks, ..self.shaped(text, result) })
    }

    /// Gives a result, or the outline of it, the shape that the client can read.
    pub(super) fn shaped(self, text: &str, result: &Value) -> CheckedResult {
        if !self.rules.settings.translate.revisions {
            return CheckedResult::default();
        }
        let form = match self.tool {
            Some(Tool::Offered { form, .. }) => *form,
            _ => Form::Undeclared,
        };
        let replacement = shape(text, result, form, self.revision, self.keeps_error(result))
            .unwrap_or_else(|error| {
                let tool = self.contract().map_or("", Contract::name);
                let finding = RESULT_SHAPE.finding(error.kind.to_string());
                let finding = finding.at(error.pointer).tool(tool);
                let settings = &self.rules.settings;
                self.server.report_call(vec![finding], self.source, settings, self.span);
                None
            });
        if let (Some(span), Some(_)) = (self.span, &replacement) {
            span.set_projected();
        }
        CheckedResult { replacement, tasks: Vec::new() }
    }

    /// Tells the span whether a result that is not parsed says that the tool failed. A long result is not read for that.
    fn look_for_error(self, result: &str) {
        let Some(span) = self.span.filter(|_| result.len() <= INLINE_BYTES) else { return };
        let flag = members(result, ["isError"]).ok().and_then(|[flag]| flag);
        if flag == Some("true") {
            span.set_tool_error();
        }
    }

    /// Whether `result` is an error whose structured content suits every client.
    fn keeps_error(self, result: &Value) -> bool {
        result.get("isError") == Some(&Value::Bool(true))
            && result.get(Structured::KEY).is_some_and(|value| match self.contract() {
                Some(contract) => contract.allows_in_error(value),
                None => value.is_object(),
            })
    }

    fn record(self, tool: &str, outcome: Outcome, fuel: u64, start: Instant) {
        let environment = self.server.environment();
        let time = environment.now().saturating_duration_since(start);
        let check = CallCheck { side: Side::Result, outcome, fuel, time };
        environment.record(&Record::Check { tool, check, span: self.span });
    }

    /// Reports the findings, and returns the tool error that takes the place of the result, if there is one.
    pub(super) fn conclude(self, judged: JudgedCall) -> Option<String> {
        self.server.report_call(judged.findings, self.source, &self.rules.settings, self.span);
        if let (Some(span), Some(_)) = (self.span, &judged.refusal) {
            span.set_withheld();
            span.set_tool_error();
        }
        judged.refusal.map(|refusal| refusal_text(refusal, self.revision))
    }
}

/// What is odd about the names of a result: some readers ignore case, and would read another result.
fn odd_name(result: &Value) -> Option<String> {
    let names = result.as_object()?.keys();
    let mut variants = names.filter_map(|name| Some((name, case_variant(name, &RESULT_NAMES)?)));
    variants.next().map(|(name, known)| differs_in_case(name, known))
}
