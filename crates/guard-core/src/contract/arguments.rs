//! Checking the arguments of a call.

use std::time::Instant;

use crate::environment::CallSpan;
use crate::event::CallSource;
use toolbond_contract::{
    ArgumentTerms, Contract, JudgedCall, Mode, Outcome, Revision, Side, judge::CallCheck,
};
use toolbond_schema::Instance;
use toolbond_targets::View;

use super::budget::{Budget, OutOfBudget};
use super::header_changes::{HeaderChange, header_changes};
use super::param_headers::ParamHeaders;
use super::view::{Unrestored, restore_arguments};
use super::{refusal_text, unchecked};
use crate::environment::Record;
use crate::json::change::change_text;
use crate::json::strict::{self, value_bytes};
use crate::message::INLINE_BYTES;
use crate::server::{Rules, Server};
use crate::settings::Settings;

/// The bytes that changing the text of arguments may read: their length times the changes, on the I/O thread and at all.
const MAX_INLINE_CHANGES: usize = 1 << 20;
const MAX_CHANGES: usize = 256 << 20;

/// Arguments of a view up to this size are restored on the I/O thread.
const MAX_INLINE_RESTORE: usize = 4 << 10;

/// What becomes of a call after its arguments were checked.
#[derive(Debug)]
pub enum CheckedArguments {
    /// The call goes on.
    Passed(Checked),
    /// The call is answered with this tool error, as JSON.
    Refused(String),
    /// The arguments cannot be checked, for this reason.
    Failed(String),
    /// A header says something else, as this text describes.
    HeaderMismatch(String),
}

/// Permission for a call to go to the server. None goes there without it.
#[derive(Debug)]
pub enum Clearance {
    Checked(Checked),
    Unchecked(Unchecked),
}

/// Arguments that were checked against the contract of their tool. Only an [`ArgumentCheck`] makes one.
#[derive(Debug, Default)]
pub struct Checked {
    /// The arguments, as JSON, that take the place of those of the client: restored from a view, or repaired.
    replacement: Option<String>,
    /// The headers that change with them.
    headers: Vec<HeaderChange>,
}

/// A call of a tool that nothing is known about. Settings that ask for a contract make none.
#[derive(Debug)]
pub struct Unchecked(());

impl Unchecked {
    /// Permits a call of `tool` to go on unchecked, if `settings` allow that.
    pub fn new(settings: &Settings, tool: &str) -> Option<Self> {
        (!settings.requires_contract(tool)).then_some(Self(()))
    }
}

impl Clearance {
    /// The headers that change because the arguments were repaired.
    pub fn headers(&self) -> &[HeaderChange] {
        match self {
            Self::Checked(checked) => &checked.headers,
            Self::Unchecked(_) => &[],
        }
    }

    /// The arguments, as JSON, that take the place of those of the client.
    pub fn into_replacement(self) -> Option<String> {
        match self {
            Self::Checked(checked) => checked.replacement,
            Self::Unchecked(_) => None,
        }
    }
}

/// Checks the arguments of calls of one tool.
#[derive(Clone, Copy)]
pub struct ArgumentCheck<'a> {
    pub server: &'a Server,
    pub rules: &'a Rules,
    pub contract: &'a Contract,
    /// The view of the tool that the client calls.
    pub view: Option<&'a View>,
    /// The headers that repeat arguments, where there are headers to check.
    pub headers: Option<&'a ParamHeaders>,
    pub revision: &'a Revision,
    pub source: &'a CallSource,
    pub span: Option<&'a CallSpan>,
}

impl ArgumentCheck<'_> {
    /// Checks `arguments`, which are JSON; a call without any has none.
    pub fn check(
        self,
        arguments: Option<&str>,
        budget: &mut Budget,
    ) -> Result<CheckedArguments, OutOfBudget> {
        let restored = match self.restore(arguments, budget)? {
            Ok(restored) => restored,
            Err(Unrestored { reason }) => return Ok(CheckedArguments::Failed(reason)),
        };
        let arguments = restored.as_deref().or(arguments);
        if let Some(Err(reason)) = self.headers.map(|it| it.check(self.contract, arguments)) {
            return Ok(CheckedArguments::HeaderMismatch(reason));
        }
        let mut checked = self.check_restored(arguments, budget)?;
        if let CheckedArguments::Passed(Checked { replacement: replacement @ None, .. }) =
            &mut checked
        {
            *replacement = restored;
        }
        Ok(checked)
    }

    /// Restores the arguments of a call of a view; `None` where they stay as they are.
    fn restore(
        self,
        arguments: Option<&str>,
        budget: &Budget,
    ) -> Result<Result<Option<String>, Unrestored>, OutOfBudget> {
        let Some((view, arguments)) = self.view.zip(arguments) else { return Ok(Ok(None)) };
        if budget.is_inline && arguments.len() > MAX_INLINE_RESTORE {
            return Err(OutOfBudget);
        }
        // What is too large to be restored is checked as it came.
        if restore_bytes(arguments) > budget.memory {
            return Ok(Ok(None));
        }
        Ok(restore_arguments(view, arguments))
    }

    fn check_restored(
        self,
        arguments: Option<&str>,
        budget: &mut Budget,
    ) -> Result<CheckedArguments, OutOfBudget> {
        let mode = self.rules.settings.arguments_mode(self.contract.name());
        if mode == Mode::Off {
            return Ok(CheckedArguments::Passed(Checked::default()));
        }
        let text = arguments.unwrap_or("{}");
        if budget.is_inline && text.len() > INLINE_BYTES {
            return Err(OutOfBudget);
        }
        let start = self.server.environment().now();
        let fuel = budget.fuel.unwrap_or(u64::MAX);
        if budget.memory_beside(text).is_some()
            && let Ok(instance) = Instance::parse(text)
            && instance.is_object()
            && let Some(spent) = self.contract.input().schema().accepts(&instance, fuel)
        {
            budget.spend(spent);
            self.record(Outcome::Valid, spent, start);
            return Ok(CheckedArguments::Passed(Checked::default()));
        }
        let (mut judged, headers) = self.judge(arguments, mode, budget)?;
        budget.spend(judged.fuel);
        let repaired = self.repair(text, mode, &mut judged, budget)?;
        self.record(judged.outcome, judged.fuel, start);
        self.server.report_call(judged.findings, self.source, &self.rules.settings, self.span);
        Ok(match judged.refusal {
            Some(refusal) => CheckedArguments::Refused(refusal_text(refusal, self.revision)),
            None => {
                let headers = if repaired.is_some() { headers } else { Vec::new() };
                CheckedArguments::Passed(Checked { replacement: repaired, headers })
            }
        })
    }

    /// Judges arguments that are not seen to be valid at once, and returns the headers that change if they are repaired with it.
    fn judge(
        self,
        arguments: Option<&str>,
        mode: Mode,
        budget: &Budget,
    ) -> Result<(JudgedCall, Vec<HeaderChange>), OutOfBudget> {
        let name = self.contract.name();
        if value_bytes(arguments.unwrap_or("{}")) > budget.memory {
            let reason = "the arguments are not valid, or too large to be checked in the memory of the guard";
            return Ok((unchecked(Side::Arguments, name, reason, mode), Vec::new()));
        }
        let value = match arguments.map(strict::parse).transpose() {
            Ok(value) => value,
            Err(error) => {
                let reason = parse_failure(&error.to_string());
                return Ok((unchecked(Side::Arguments, name, &reason, mode), Vec::new()));
            }
        };
        let value = value.as_ref();
        let terms = ArgumentTerms::from(mode).repairs(self.rules.settings.repairs);
        let judged = match budget.fuel {
            None => self.contract.judge_arguments(value, terms),
            Some(fuel) => {
                self.contract.judge_arguments_within(value, terms, fuel).ok_or(OutOfBudget)?
            }
        };
        let headers = match &judged.repaired {
            Some(repaired) if self.revision.is_natural() => {
                header_changes(self.contract.input().value(), value, &repaired.arguments)
            }
            _ => Vec::new(),
        };
        Ok((judged, headers))
    }

    /// Returns the text of repaired arguments. If it is not valid itself, the call is `judged` as one that cannot be checked.
    fn repair(
        self,
        text: &str,
        mode: Mode,
        judged: &mut JudgedCall,
        budget: &Budget,
    ) -> Result<Option<String>, OutOfBudget> {
        let Some(repair) = judged.repaired.take() else { return Ok(None) };
        // Each change reads the text once.
        let bytes = text.len().saturating_mul(repair.changes.len());
        if budget.is_inline && bytes > MAX_INLINE_CHANGES {
            return Err(OutOfBudget);
        }
        let text = (bytes <= MAX_CHANGES).then(|| change_text(text, &repair.changes)).flatten();
        let repaired = text.filter(|text| is_valid(self.contract, text));
        if repaired.is_none() {
            let reason = "they nest too deeply to be repaired; send values in place of JSON text";
            *judged = unchecked(Side::Arguments, self.contract.name(), reason, mode);
        }
        Ok(repaired)
    }

    fn record(self, outcome: Outcome, fuel: u64, start: Instant) {
        let environment = self.server.environment();
        let time = environment.now().saturating_duration_since(start);
        let check = CallCheck { side: Side::Arguments, outcome, fuel, time };
        environment.record(&Record::Check { tool: self.contract.name(), check, span: self.span });
    }
}

/// The bytes of the values of `arguments` before and after they are restored, and of the new text.
pub fn restore_bytes(arguments: &str) -> usize {
    value_bytes(arguments).saturating_mul(3)
}

/// Why arguments cannot be read, in words for whoever wrote them.
fn parse_failure(error: &str) -> String {
    if error.starts_with("recursion limit exceeded") {
        return "they nest more than 127 levels".to_owned();
    }
    if error.contains("surrogate") || error.contains("hex escape") {
        return format!("a string has half of a surrogate pair: {error}");
    }
    format!("cannot parse them: {error}")
}

/// Whether `text`, which leaves in place of what was repaired, is valid itself.
fn is_valid(contract: &Contract, text: &str) -> bool {
    let schema = contract.input().schema();
    Instance::parse(text).is_ok_and(|instance| {
        instance.is_object() && schema.accepts(&instance, schema.limits().fuel).is_some()
    })
}
