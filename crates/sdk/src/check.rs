//! Validation that never holds up other calls.

use std::sync::{Arc, LazyLock};

use serde_json::Value;
use tokio::sync::Semaphore;
use toolpact_contract::{
    Contract, JudgedCall, Mode, judge_arguments, judge_arguments_within, judge_result,
    judge_result_within,
};
use toolpact_schema::Schema;

/// Steps of a validation that may run between two turns of the event loop: well below a millisecond.
const GLANCE: u64 = 50_000;

/// Long validations run side by side on as many threads as there are processors.
static LONG: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Arc::new(Semaphore::new(threads))
});

/// A part of a call to check.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Part {
    /// The arguments.
    Arguments,
    /// The result, an object with its structured content in the natural shape.
    Result,
}

/// The runtime is shutting down.
#[derive(Debug)]
pub(crate) struct Stopped;

/// Judges `value`, and gives it back with the judgement.
///
/// The first look takes little fuel and happens in place. What is not decided by then is judged on another
/// thread, where it may take as long as its limits allow.
pub(crate) async fn check(
    contract: &Contract,
    part: Part,
    value: Value,
    mode: Mode,
) -> Result<(Value, JudgedCall), Stopped> {
    let glance = match part {
        Part::Arguments => judge_arguments_within(contract, Some(&value), mode, GLANCE),
        Part::Result => judge_result_within(contract, &value, mode, GLANCE),
    };
    if let Some(judged) = glance {
        return Ok((value, judged));
    }
    let contract = contract.clone();
    // The semaphore is never closed.
    let permit = Arc::clone(&LONG).acquire_owned().await;
    let judge = move || {
        let _permit = permit;
        let judged = match part {
            Part::Arguments => judge_arguments(&contract, Some(&value), mode),
            Part::Result => judge_result(&contract, &value, mode),
        };
        (value, judged)
    };
    tokio::task::spawn_blocking(judge).await.map_err(|_| Stopped)
}

/// Whether `value` is seen to be valid at first look: the common case, which needs no judgement.
pub(crate) fn is_seen_valid(schema: &Schema, value: &Value) -> bool {
    schema.validate_within(value, GLANCE).is_valid()
}

/// What a refusal says.
pub(crate) fn text_of(refusal: &serde_json::Map<String, Value>) -> &str {
    let text = refusal.get("content").and_then(|content| content.get(0)?.get("text")?.as_str());
    text.unwrap_or("refused")
}
