//! Relaxing output schemas: what is handed out next accepts the value and everything the author's schema accepts.

mod ajv;
mod random;
mod suite;

use libtest_mimic::{Failed, Trial};
use serde_json::Value;
use toolbond_contract::{Relaxation, relax};
use toolbond_schema::Schema;

pub(crate) fn trials() -> Vec<Trial> {
    let mut trials = suite::trials();
    trials.extend(random::trials());
    trials.extend(ajv::trials());
    trials
}

/// The schema that `author` becomes for `value`, which it refuses; `None` if it becomes none. Fails unless the steps can be
/// remembered, and applied again.
fn relaxed(author: &Schema, value: &Value) -> Result<Option<Schema>, Failed> {
    let Some(relaxation) = relax(author, &Relaxation::default(), value) else { return Ok(None) };
    let written = serde_json::to_string(&relaxation)?;
    let read: Relaxation = serde_json::from_str(&written)?;
    assert_eq!(read, relaxation, "{written}");
    let schema = read.apply(author.source()).ok_or("what was chosen does not apply")?;
    let schema = author.compile_alike(&schema).map_err(|error| format!("{error}: {schema}"))?;
    if schema.is_valid(value) {
        return Ok(Some(schema));
    }
    Err(format!("{value} is refused by {} of {}", schema.source(), author.source()).into())
}
