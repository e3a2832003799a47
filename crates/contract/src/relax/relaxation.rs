//! What is relaxed in an output schema.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::choose::Choice;
use super::rewrite;
use super::step::{MAX_STEPS, Step};
use crate::project::{bounds, schema_map::SchemaMap};

/// The most bytes of the pointers of a relaxation.
const MAX_POINTERS: usize = 1 << 14;

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
    pub(super) steps: Vec<Step>,
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

    pub(super) fn is_within_limits(&self) -> bool {
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
pub(super) fn map(schema: &Value) -> Option<SchemaMap<'_>> {
    bounds::check(schema, "", bounds::MAX_DEPTH).ok()?;
    bounds::check_pointers(schema, "").ok()?;
    let map = SchemaMap::build(schema).ok()?;
    // A schema that is also data, or also a holder of schemas, cannot be changed as one of the two.
    (!map.tangled).then_some(map)
}
