//! Validation that never holds up other calls.

use std::sync::{Arc, LazyLock};

use rmcp::ErrorData;
use serde_json::Value;
use tokio::sync::Semaphore;
use toolpact_contract::{JudgedCall, Mode, judge_arguments, judge_result};
use toolpact_schema::Schema;

use super::entry::{Entry, Kept};

/// Long validations run side by side on as many threads as there are processors.
static LONG: LazyLock<Arc<Semaphore>> = LazyLock::new(|| {
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    Arc::new(Semaphore::new(threads))
});

/// A part of a call to check.
#[derive(Clone, Copy, Debug)]
pub(super) enum Part {
    /// The arguments.
    Arguments,
    /// The result.
    Result,
}

/// Checks `value`; gives it back with what there is to say about it.
///
/// The first look takes little fuel and happens in place. What is not seen to be valid by then is
/// judged on another thread, where it may take as long as its limits allow.
pub(super) async fn check(
    entry: &Arc<Entry>,
    kept: &Kept,
    part: Part,
    value: Value,
    mode: Mode,
) -> Result<(Value, Option<JudgedCall>), ErrorData> {
    if mode == Mode::Off || glance(kept, part, &value) {
        return Ok((value, None));
    }
    let entry = Arc::clone(entry);
    // The semaphore is never closed.
    let permit = Arc::clone(&LONG).acquire_owned().await;
    let judge = move || {
        let _permit = permit;
        let judged = entry.kept.as_ref().map(|kept| match part {
            Part::Arguments => judge_arguments(&kept.contract, Some(&value), mode),
            Part::Result => judge_result(&kept.contract, &value, mode),
        });
        (value, judged)
    };
    tokio::task::spawn_blocking(judge)
        .await
        .map_err(|_| ErrorData::internal_error("the server is shutting down", None))
}

fn glance(kept: &Kept, part: Part, value: &Value) -> bool {
    let valid = |schema: &Option<Schema>, value: &Value| {
        schema.as_ref().is_some_and(|schema| schema.is_valid(value))
    };
    match part {
        Part::Arguments => valid(&kept.input, value),
        Part::Result => {
            value.get("isError") != Some(&Value::Bool(true))
                && value.get("structuredContent").is_some_and(|value| valid(&kept.output, value))
        }
    }
}
