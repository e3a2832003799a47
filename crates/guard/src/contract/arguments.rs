//! Checking the arguments of a call.

use std::time::Instant;

use toolpact_contract::{Contract, Mode, Outcome, Revision, Side};
use toolpact_schema::Instance;

use super::budget::{Budget, OutOfBudget, value_bytes};
use super::{refusal_text, unchecked};
use crate::json::strict;
use crate::message::INLINE_BYTES;
use crate::server::{GuardedServer, Rules};
use crate::status::Check;

/// Checks `arguments` against `contract`: the tool error to answer the call with, as JSON, or `None`
/// where the call goes on.
pub(crate) fn check_arguments(
    server: &GuardedServer,
    rules: &Rules,
    contract: &Contract,
    arguments: Option<&str>,
    revision: &Revision,
    budget: &mut Budget,
) -> Result<Option<String>, OutOfBudget> {
    let name = contract.name();
    let mode = rules.settings.arguments_mode(name);
    if mode == Mode::Off {
        return Ok(None);
    }
    let text = arguments.unwrap_or("{}");
    if budget.is_inline && text.len() > INLINE_BYTES {
        return Err(OutOfBudget);
    }
    let start = Instant::now();
    let record = |outcome, fuel| {
        server.status().record_check(
            name,
            &Check { side: Side::Arguments, outcome, fuel, time: start.elapsed() },
        );
    };
    let fuel = budget.fuel.unwrap_or(u64::MAX);
    if Instance::memory(text) <= budget.memory
        && let Ok(instance) = Instance::parse(text)
        && instance.is_object()
        && let Some(spent) = contract.input().schema().accepts(&instance, fuel)
    {
        budget.spend(spent);
        record(Outcome::Valid, spent);
        return Ok(None);
    }
    let judged = if value_bytes(text) > budget.memory {
        let reason = "they are not valid, or too large to be checked in the memory of the guard";
        unchecked("arguments-unfinished", "arguments for", name, reason, mode)
    } else {
        let value = arguments.map(strict::parse).transpose();
        match (value, budget.fuel) {
            (Ok(value), None) => contract.judge_arguments(value.as_ref(), mode),
            (Ok(value), Some(fuel)) => {
                contract.judge_arguments_within(value.as_ref(), mode, fuel).ok_or(OutOfBudget)?
            }
            (Err(error), _) => {
                let reason = format!("cannot parse them: {error}");
                unchecked("arguments-unfinished", "arguments for", name, &reason, mode)
            }
        }
    };
    budget.spend(judged.fuel);
    record(judged.outcome, judged.fuel);
    server.report_call(judged.findings, &rules.settings);
    Ok(judged.refusal.map(|refusal| refusal_text(refusal, revision)))
}
