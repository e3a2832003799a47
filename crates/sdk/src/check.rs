//! Validation that does not block the event loop.

use std::sync::{Arc, LazyLock};

use serde_json::Value;
use tokio::sync::Semaphore;
use toolbond_contract::{
    ArgumentTerms, Contract, JudgedCall, Outcome, ResultTerms, Side, Structured,
};
use toolbond_schema::Schema;

use crate::trace::{self, Timer};

/// Fuel of a validation on the event loop: well below a millisecond.
const INLINE_FUEL: u64 = 50_000;

/// Permits for validations on other threads: one per processor.
static SLOW_VALIDATIONS: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Arc::new(Semaphore::new(threads))
});

/// The part of a call to validate.
#[derive(Clone, Copy, Debug)]
pub(crate) enum CallPart {
    /// The arguments.
    Arguments,
    /// The result: an object with its structured content in the natural shape.
    Result,
}

impl CallPart {
    const fn side(self) -> Side {
        match self {
            Self::Arguments => Side::Arguments,
            Self::Result => Side::Result,
        }
    }
}

/// The runtime is shutting down.
#[derive(Debug)]
pub(crate) struct RuntimeStopped;

/// Validates `value` and returns it with the outcome, repaired if `terms` ask for it.
///
/// Validates in place first, with little fuel. If that does not suffice, another thread validates with all the fuel
/// that the limits allow.
pub(crate) async fn check(
    contract: &Contract,
    part: CallPart,
    value: Value,
    terms: ArgumentTerms,
) -> Result<(Value, JudgedCall), RuntimeStopped> {
    let timer = Timer::start();
    let (value, judged) = validate(contract, part, value, terms).await?;
    trace::add_check(part.side(), judged.outcome, judged.fuel, timer);
    Ok((value, judged))
}

async fn validate(
    contract: &Contract,
    part: CallPart,
    value: Value,
    terms: ArgumentTerms,
) -> Result<(Value, JudgedCall), RuntimeStopped> {
    // Whoever repairs a result here holds the schema, and would refuse a `null` that it does not allow.
    let result_terms = ResultTerms::from(terms.mode).deletes(true);
    let inline = match part {
        CallPart::Arguments => contract.judge_arguments_within(Some(&value), terms, INLINE_FUEL),
        CallPart::Result => contract.judge_result_within(&value, result_terms, INLINE_FUEL),
    };
    if let Some(judged) = inline {
        return Ok(repaired(value, judged));
    }
    let contract = contract.clone();
    // The semaphore is never closed.
    let permit = Arc::clone(&SLOW_VALIDATIONS).acquire_owned().await;
    let validate = move || {
        let _permit = permit;
        let judged = match part {
            CallPart::Arguments => contract.judge_arguments(Some(&value), terms),
            CallPart::Result => contract.judge_result(&value, result_terms),
        };
        repaired(value, judged)
    };
    tokio::task::spawn_blocking(validate).await.map_err(|_| RuntimeStopped)
}

/// Puts repaired arguments, or repaired structured content, in the place of those in `value`.
fn repaired(mut value: Value, mut judged: JudgedCall) -> (Value, JudgedCall) {
    if let Some(repaired) = judged.repaired.take() {
        value = repaired.arguments;
    }
    if let (Some(repaired), Value::Object(parts)) = (judged.repaired_result.take(), &mut value) {
        parts.insert(Structured::KEY.to_owned(), repaired.content);
    }
    (value, judged)
}

/// Whether a validation with little fuel finds `value` valid: the common case, which needs no findings.
pub(crate) fn is_valid_inline(schema: &Schema, value: &Value, part: CallPart) -> bool {
    let timer = Timer::start();
    let measured = schema.measure_within(value, INLINE_FUEL);
    let is_valid = measured.verdict.is_valid();
    if is_valid {
        trace::add_check(part.side(), Outcome::Valid, measured.fuel, timer);
    }
    is_valid
}

/// The text of a refusal.
pub(crate) fn refusal_text(refusal: &serde_json::Map<String, Value>) -> &str {
    let text = refusal.get("content").and_then(|content| content.get(0)?.get("text")?.as_str());
    text.unwrap_or("refused")
}
