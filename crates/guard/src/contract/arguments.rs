//! Checking the arguments of a call.

use std::time::Instant;

use toolbond_contract::{ArgumentTerms, Contract, Mode, Outcome, Revision, Side};
use toolbond_schema::Instance;
use toolbond_telemetry::CallSpan;

use super::budget::{Budget, OutOfBudget, value_bytes};
use super::header_changes::{HeaderChange, header_changes};
use super::{refusal_text, unchecked};
use crate::json::change::change_text;
use crate::json::strict;
use crate::message::INLINE_BYTES;
use crate::server::{GuardedServer, Rules};
use crate::status::Check;

/// The bytes that changing the text of arguments may read: their length times the changes, on the I/O thread and at all.
const MAX_INLINE_CHANGES: usize = 1 << 20;
const MAX_CHANGES: usize = 256 << 20;

/// What becomes of a call after its arguments were checked.
#[derive(Debug, PartialEq)]
pub(crate) enum CheckedArguments {
    /// The call goes on as it is.
    Pass,
    /// The call goes on with these arguments, as JSON, and with these headers where it has some.
    Repaired { arguments: String, headers: Vec<HeaderChange> },
    /// The call is answered with this tool error, as JSON.
    Refused(String),
}

/// Checks `arguments` against `contract`, as part of `span`.
pub(crate) fn check_arguments(
    server: &GuardedServer,
    rules: &Rules,
    contract: &Contract,
    arguments: Option<&str>,
    revision: &Revision,
    span: Option<&CallSpan>,
    budget: &mut Budget,
) -> Result<CheckedArguments, OutOfBudget> {
    let name = contract.name();
    let mode = rules.settings.arguments_mode(name);
    if mode == Mode::Off {
        return Ok(CheckedArguments::Pass);
    }
    let text = arguments.unwrap_or("{}");
    if budget.is_inline && text.len() > INLINE_BYTES {
        return Err(OutOfBudget);
    }
    let start = Instant::now();
    let record = |outcome, fuel| {
        let check = Check { side: Side::Arguments, outcome, fuel, time: start.elapsed() };
        server.record_check(name, &check, span);
    };
    let fuel = budget.fuel.unwrap_or(u64::MAX);
    if Instance::memory(text) <= budget.memory
        && let Ok(instance) = Instance::parse(text)
        && instance.is_object()
        && let Some(spent) = contract.input().schema().accepts(&instance, fuel)
    {
        budget.spend(spent);
        record(Outcome::Valid, spent);
        return Ok(CheckedArguments::Pass);
    }
    let terms = ArgumentTerms::from(mode).repairs(rules.settings.repairs);
    let mut headers = Vec::new();
    let mut judged = if value_bytes(text) > budget.memory {
        let reason =
            "the arguments are not valid, or too large to be checked in the memory of the guard";
        unchecked(Side::Arguments, name, reason, mode)
    } else {
        let value = arguments.map(strict::parse).transpose();
        match value {
            Ok(value) => {
                let value = value.as_ref();
                let judged = match budget.fuel {
                    None => contract.judge_arguments(value, terms),
                    Some(fuel) => {
                        contract.judge_arguments_within(value, terms, fuel).ok_or(OutOfBudget)?
                    }
                };
                if let (Some(repaired), true) = (&judged.repaired, revision.is_natural()) {
                    let schema = contract.input().value();
                    headers = header_changes(schema, value, &repaired.arguments);
                }
                judged
            }
            Err(error) => {
                let reason = parse_failure(&error.to_string());
                unchecked(Side::Arguments, name, &reason, mode)
            }
        }
    };
    budget.spend(judged.fuel);
    let mut repaired = None;
    if let Some(repair) = judged.repaired.take() {
        // Each change reads the text once.
        let bytes = text.len().saturating_mul(repair.changes.len());
        if budget.is_inline && bytes > MAX_INLINE_CHANGES {
            return Err(OutOfBudget);
        }
        let text = (bytes <= MAX_CHANGES).then(|| change_text(text, &repair.changes)).flatten();
        repaired = text.filter(|text| is_valid(contract, text));
        if repaired.is_none() {
            let reason = "they nest too deeply to be repaired; send values in place of JSON text";
            judged = unchecked(Side::Arguments, name, reason, mode);
        }
    }
    record(judged.outcome, judged.fuel);
    server.report_call(judged.findings, &rules.settings, span);
    Ok(match (judged.refusal, repaired) {
        (Some(refusal), _) => CheckedArguments::Refused(refusal_text(refusal, revision)),
        (None, Some(arguments)) => CheckedArguments::Repaired { arguments, headers },
        (None, None) => CheckedArguments::Pass,
    })
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
