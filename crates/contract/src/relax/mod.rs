//! Relaxing an output schema that its server breaks.
//!
//! Clients validate results against the schema that they were given. Where the server breaks its own schema, the schema was
//! wrong, not the result. [`relax`] finds what to change so that a result is valid: [`Step`]s at the places that it breaks,
//! and nowhere else. The relaxed schema accepts whatever the author's accepts:
//!
//! | broken | relaxed |
//! | --- | --- |
//! | `type` | allows the other type too |
//! | `required`, also that of `dependentRequired` | no longer required |
//! | `false`, as in `additionalProperties: false` | accepts everything |
//! | `unevaluatedProperties`, `unevaluatedItems` | accepts everything, also where what marked some as evaluated goes |
//! | `enum`, `const`, `pattern`, `format`, a bound, `uniqueItems`, `not`, `contains`, `maxContains` | goes |
//! | `anyOf` | the nearest branch is relaxed, or there is one more, for the type |
//! | `oneOf` | becomes `anyOf` |
//! | anything below `oneOf`, `if`, `not`, or `contains` beside `maxContains` | the same after this keyword becomes `anyOf` or goes, because what is below it must not accept more |
//! | what a `$ref` leads to, for a scalar, where others refer to it too | the place of the `$ref` allows the type |
//!
//! A relaxation names places of the author's schema and kinds of keywords, and nothing of a value, so that it can be
//! remembered and applied to the same schema again.

mod choose;
mod polarity;
mod relaxation;
mod rewrite;
mod step;
mod tool;

use serde_json::Value;
use toolbond_schema::{Measured, Schema, Verdict};

use self::choose::Choice;
pub use self::relaxation::Relaxation;
use self::relaxation::map;
pub use self::step::{Keyword, Kind, Loosening, MAX_STEPS, Step};
pub use self::tool::{OUTPUT_MARKER, open_choices, relax_tool, without_formats};
use crate::project::is_objects_only;

/// The most rounds of relaxing and validating again.
const MAX_ROUNDS: usize = 32;

/// Relaxes `author`, the output schema as its author wrote it, beyond `so_far` until it accepts `value`.
///
/// Returns `None` if there is no such schema, or if finding it takes more than the limits allow: then the tool is better
/// handed out without an output schema. That includes a value that is no object where the schema allows only objects, which
/// clients of a legacy revision could not read.
///
/// All of this takes at most four times the fuel of one validation.
#[must_use]
pub fn relax(author: &Schema, so_far: &Relaxation, value: &Value) -> Option<Relaxation> {
    let schema = author.source();
    if !value.is_object() && is_objects_only(schema) {
        return None;
    }
    let map = map(schema)?;
    let mut fuel = author.limits().fuel;
    let mut choice = Choice::new(&map, so_far.steps.clone());
    for _ in 0..MAX_ROUNDS {
        let relaxation = Relaxation { steps: choice.steps().to_vec() };
        if !relaxation.is_within_limits() || !choice.is_sound() {
            return None;
        }
        let rewritten = rewrite::rewrite(&map, relaxation.steps())?;
        let relaxed = author.compile_alike(&rewritten.schema).ok()?;
        let Measured { verdict, fuel: taken, .. } = relaxed.measure_within(value, fuel);
        fuel = fuel.saturating_sub(taken);
        match verdict {
            Verdict::Valid => return Some(relaxation),
            Verdict::Unfinished(_) => return None,
            Verdict::Invalid(violations) => {
                choice.start_round();
                for violation in &violations {
                    choice.settle(&rewritten, value, violation);
                }
                if choice.steps().len() == relaxation.steps().len() {
                    return None;
                }
            }
        }
    }
    None
}
