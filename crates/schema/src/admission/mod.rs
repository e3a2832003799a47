//! Admission: everything that is checked about a schema before it is compiled.

mod dialect;
mod graph;
mod keyword;
mod locations;
mod pattern;
mod reference;
mod size;
mod survey;

use std::sync::Arc;

pub(crate) use dialect::dialect;
pub(crate) use locations::Locations;
pub(crate) use reference::Documents;
pub(crate) use size::measure;

use serde_json::Value;

use crate::{
    Options, Pointer, SchemaError, SchemaErrorKind,
    engine::{HardPatterns, StackNeed},
};

/// What admission found out about a schema.
#[derive(Clone, Debug)]
pub(crate) struct Admitted {
    /// Visits that one place of an instance can get.
    pub(crate) expansion: usize,
    /// How deep the engine can recurse.
    pub(crate) need: StackNeed,
    /// Bytes of the schema, written as compact JSON.
    pub(crate) bytes: usize,
    /// Bytes of the largest schema under `not`.
    pub(crate) largest_not: usize,
    /// Whether numbers are divided.
    pub(crate) has_multiple_of: bool,
    /// The most patterns that a name is matched against.
    pub(crate) name_patterns: usize,
    /// What all patterns compile to, in states.
    pub(crate) pattern_states: usize,
    /// States that the matcher of the widest pattern can be in at once.
    pub(crate) widest_pattern: usize,
    /// The patterns that need a backtracking matcher.
    pub(crate) hard_patterns: Option<Arc<HardPatterns>>,
    /// Whether one of them stands in `patternProperties`.
    pub(crate) hard_names: bool,
    /// Whether places have names, so that pointers and references may start from elsewhere than the root.
    pub(crate) has_names: bool,
}

/// Checks `schema` against the limits, the reference rule and the list of dialects.
pub(crate) fn admit(
    options: &Options,
    schema: &Value,
    documents: Option<&Documents<'_>>,
    bytes: usize,
) -> Result<Admitted, SchemaError> {
    let limits = &options.limits;
    let survey = survey::Survey::run(options, schema, documents)?;
    let patterns = pattern::check(&survey, limits)?;
    let measure = graph::measure(&survey);
    if measure.expansion > limits.expansion {
        return Err(SchemaError {
            pointer: survey.pointer(measure.busiest),
            kind: SchemaErrorKind::Expansion { found: measure.expansion, limit: limits.expansion },
        });
    }
    let scopes = graph::ways(&survey);
    if scopes > limits.scopes {
        let kind = SchemaErrorKind::Scopes { found: scopes, limit: limits.scopes };
        return Err(SchemaError { pointer: Pointer::root(), kind });
    }
    Ok(Admitted {
        expansion: measure.expansion,
        need: measure.need,
        bytes,
        largest_not: survey.largest_not,
        has_multiple_of: survey.has_multiple_of,
        name_patterns: survey.name_patterns,
        pattern_states: patterns.states,
        widest_pattern: patterns.widest,
        hard_names: patterns.hard_names,
        has_names: documents.is_some() || survey.has_anchors,
        hard_patterns: (!patterns.hard.0.is_empty()).then(|| Arc::new(patterns.hard)),
    })
}
