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
//! | `unevaluatedProperties`, `unevaluatedItems` | accepts everything |
//! | `enum`, `const`, `pattern`, `format`, a bound, `uniqueItems`, `not`, `maxContains` | goes |
//! | `contains` | `minContains: 0`; goes in dialects before 2019-09 |
//! | `anyOf` | the nearest branch is relaxed, or there is one more, for the type |
//! | `oneOf` | becomes `anyOf` |
//! | anything below `oneOf`, `if`, `not`, or `contains` beside `maxContains` | the same after this keyword becomes `anyOf` or goes, because what is below it must not accept more |
//! | what a `$ref` leads to, for a scalar, where others refer to it too | the place of the `$ref` allows the type |
//!
//! A relaxation names places of the author's schema and kinds of keywords, and nothing of a value, so that it can be
//! remembered and applied to the same schema again.

mod choose;
mod polarity;
mod rewrite;
mod step;
mod tool;

use serde::{Deserialize, Serialize};
use serde_json::Value;
use toolbond_schema::{Measured, Schema, Verdict};

use self::choose::Choice;
pub use self::step::{Keyword, Kind, Loosening, Step};
pub use self::tool::{OUTPUT_MARKER, relax_tool, without_formats};
use crate::project::{bounds, is_objects_only, schema_map::SchemaMap};

/// The most steps of a relaxation. A schema that needs more says little about its results.
pub const MAX_STEPS: usize = 64;

/// The most bytes of the pointers of a relaxation.
const MAX_POINTERS: usize = 1 << 14;

/// The most rounds of relaxing and validating again.
const MAX_ROUNDS: usize = 32;

/// What is relaxed in an output schema.
///
/// ```
/// use serde_json::json;
/// use toolbond_contract::{Relaxation, relax};
/// use toolbond_schema::Schema;
///
/// let author = json!({ "type": "object", "properties": { "hours": { "type": "integer" } } });
/// let found = json!({ "hours": null });
/// let relaxation = relax(&Schema::compile(&author)?, &Relaxation::default(), &found).unwrap();
/// assert_eq!(
///     serde_json::to_value(&relaxation)?,
///     json!([{ "at": "#/properties/hours", "change": { "allow": "null" } }])
/// );
/// assert_eq!(
///     relaxation.apply(&author),
///     Some(json!({ "type": "object", "properties": { "hours": { "type": ["integer", "null"] } } }))
/// );
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(transparent)]
pub struct Relaxation {
    steps: Vec<Step>,
}

impl Relaxation {
    /// The steps. Their places are those of the author's schema.
    #[must_use]
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// Whether nothing is relaxed.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// Relaxes `schema`, as its author wrote it. Returns `None` if the steps are not for this schema, if there are too many,
    /// or if the schema could refuse what it accepted.
    #[must_use]
    pub fn apply(&self, schema: &Value) -> Option<Value> {
        if self.is_empty() {
            return Some(schema.clone());
        }
        let map = map(schema)?;
        self.is_within_limits().then_some(())?;
        Choice::new(&map, self.steps.clone()).is_sound().then_some(())?;
        Some(rewrite::rewrite(&map, &self.steps)?.schema)
    }

    fn is_within_limits(&self) -> bool {
        let bytes: usize = self.steps.iter().map(|step| step.at.as_str().len()).sum();
        self.steps.len() <= MAX_STEPS && bytes <= MAX_POINTERS
    }
}

/// Steps for one schema, such as those that two guards found.
impl FromIterator<Step> for Relaxation {
    fn from_iter<I: IntoIterator<Item = Step>>(steps: I) -> Self {
        Self { steps: steps.into_iter().collect() }
    }
}

/// The map of a schema that can be changed.
fn map(schema: &Value) -> Option<SchemaMap<'_>> {
    bounds::check(schema, "", bounds::MAX_DEPTH).ok()?;
    bounds::check_pointers(schema, "").ok()?;
    let map = SchemaMap::build(schema).ok()?;
    // A schema that is also data, or also a holder of schemas, cannot be changed as one of the two.
    (!map.tangled).then_some(map)
}

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
