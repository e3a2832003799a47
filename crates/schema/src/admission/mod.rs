//! Admission: everything that is checked about a schema before it is compiled.

mod graph;
mod keyword;
mod locations;
mod pattern;
mod reference;
mod survey;

use std::sync::Arc;

pub(crate) use locations::Locations;
pub(crate) use reference::Documents;

use serde_json::Value;

use crate::{
    Dialect, Options, Pointer, SchemaError, SchemaErrorKind,
    engine::{HardPatterns, StackNeed, nesting},
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

/// The dialect of a whole schema: `None` where a document that was handed in defines it.
pub(crate) fn dialect(options: &Options, schema: &Value) -> Result<Option<Dialect>, SchemaError> {
    let at_root = |kind| SchemaError { pointer: Pointer::root(), kind };
    match schema {
        Value::Bool(_) => Ok(Some(options.dialect)),
        Value::Object(members) => match members.get("$schema").and_then(Value::as_str) {
            None => Ok(Some(options.dialect)),
            Some(uri) => known_dialect(options, uri)
                .map_err(|kind| SchemaError { pointer: Pointer::root().join("$schema"), kind }),
        },
        other => Err(at_root(SchemaErrorKind::NotASchema { found: type_name(other) })),
    }
}

fn known_dialect(options: &Options, uri: &str) -> Result<Option<Dialect>, SchemaErrorKind> {
    match Dialect::from_uri(uri) {
        Some(dialect) => Ok(Some(dialect)),
        None if options.has_document(uri) => Ok(None),
        None => Err(SchemaErrorKind::UnsupportedDialect { uri: uri.to_owned() }),
    }
}

pub(crate) const fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}

/// Counts the bytes of compact JSON without keeping them.
struct Counter(usize);

impl std::io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

/// Bytes of `value`, written as compact JSON.
pub(crate) fn written_bytes(value: &Value) -> usize {
    let mut counter = Counter(0);
    // A `Value` whose depth was checked can always be written.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

/// Checks depth and size before anything else looks at the schema or at the documents.
pub(crate) fn measure(options: &Options, schema: &Value) -> Result<usize, SchemaError> {
    let limits = &options.limits;
    let mut bytes = 0;
    for document in options.documents.iter().map(|(_, document)| document).chain([schema]) {
        let at_root = |kind| SchemaError { pointer: Pointer::root(), kind };
        let depth = nesting(document, limits.depth);
        if depth > limits.depth {
            let pointer = deepest(document, limits.depth);
            let kind = SchemaErrorKind::Depth { found: depth, limit: limits.depth };
            return Err(SchemaError { pointer, kind });
        }
        bytes = written_bytes(document);
        if bytes > limits.bytes {
            return Err(at_root(SchemaErrorKind::Bytes { found: bytes, limit: limits.bytes }));
        }
    }
    Ok(bytes)
}

/// Where `value` first nests more than `limit` containers.
fn deepest(value: &Value, limit: usize) -> Pointer {
    let mut pointer = Pointer::root();
    let mut value = value;
    for left in (0..limit).rev() {
        let next = match value {
            Value::Array(items) => items.iter().enumerate().find_map(|(index, item)| {
                (nesting(item, left) > left).then(|| (index.to_string(), item))
            }),
            Value::Object(members) => members.iter().find_map(|(name, item)| {
                (nesting(item, left) > left).then(|| (name.clone(), item))
            }),
            _ => None,
        };
        let Some((token, inner)) = next else { break };
        pointer.push(token);
        value = inner;
    }
    pointer
}
