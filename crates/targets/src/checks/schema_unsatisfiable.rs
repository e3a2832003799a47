//! `schema-unsatisfiable`.

use std::collections::BTreeMap;

use jsonschema::canonical::{Cause, Satisfiability, UnsatisfiableReason, options};
use serde_json::{Value, json};
use toolbond_contract::{Pointer, Severity, declare_rule};

use super::{Found, contradiction::may_contradict, show::quote, size::bytes, ways};
use crate::node::{Node, walk};

declare_rule! {
    /// No value satisfies a schema.
    ///
    /// ## What it does
    ///
    /// Looks for schemas that no value satisfies because their parts contradict each other: an `enum` without a value of
    /// the `type`, a `minimum` above the `maximum`, a required property that is not allowed. Names the smallest such
    /// schema. Schemas that say so (`false`, `{"not": {}}`) are left alone. Schemas of more than 500 subschemas, 64 KiB
    /// or 1024 combinations of branches are not checked.
    ///
    /// ## Why is this bad
    ///
    /// If it is the whole input schema, each call is refused: this is an error. If it is a property, each call with that
    /// property is refused.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "level": { "type": "integer", "enum": ["1", "2", "3"] } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "level": { "type": "integer", "enum": [1, 2, 3] } } }
    /// ```
    SCHEMA_UNSATISFIABLE = "schema-unsatisfiable", Warning
}

/// The most subschemas of a schema that is checked.
const SUBSCHEMAS: usize = 500;

/// The most bytes of a schema that is checked.
const BYTES: usize = 1 << 16;

/// The most combinations of branches of a schema that is checked.
const WAYS: usize = 1024;

pub(super) fn check(node: &Node<'_>, found: &mut Found<'_>) {
    if !node.is_root() || !found.is_admitted() {
        return;
    }
    let (mut subschemas, mut is_suspect) = (0, false);
    walk(node.schema, &mut |inner| {
        subschemas += 1;
        is_suspect = is_suspect || may_contradict(inner);
    });
    let is_large = |schema| {
        subschemas > SUBSCHEMAS || bytes(schema) > BYTES || ways::count(node.schema) > WAYS
    };
    if !is_suspect || node.schema.as_object().is_none_or(is_large) {
        return;
    }
    let Some(mut empty) = unsatisfiable(node.schema) else { return };
    empty.retain(|pointer, _| !is_meant(node.schema.pointer(pointer)));
    for (pointer, reason) in &empty {
        let is_root = pointer.is_empty();
        let has_inner = empty.keys().any(|other| is_below(other, pointer));
        if has_inner && !is_root {
            continue;
        }
        let tokens: Vec<String> = Pointer::from(pointer.as_str()).tokens().collect();
        let place: Vec<&str> = tokens.iter().map(String::as_str).collect();
        let message = format!("no value satisfies this schema{}", because(reason, pointer));
        if let Some((_, finding)) = found.node(node, &place, message)
            && is_root
        {
            finding.finding.severity = Severity::Error;
        }
    }
}

/// The subschemas that no value satisfies. `None` if that cannot be told.
fn unsatisfiable(schema: &Value) -> Option<BTreeMap<String, UnsatisfiableReason>> {
    let prepared = options().offline().should_validate_formats(false).prepare(schema).ok()?;
    let mut empty = prepared.unsatisfiable().ok()?;
    // A value without end is found only here.
    if empty.is_empty() && prepared.canonicalize().ok()?.satisfiability() == Satisfiability::No {
        empty.insert(String::new(), UnsatisfiableReason::Literal);
    }
    Some(empty)
}

/// Whether the schema says that it accepts nothing.
fn is_meant(schema: Option<&Value>) -> bool {
    let Some(schema) = schema else { return true };
    *schema == json!(false)
        || schema.get("not").is_some_and(|not| *not == json!({}) || *not == json!(true))
}

fn is_below(inner: &str, outer: &str) -> bool {
    inner.strip_prefix(outer).is_some_and(|rest| rest.starts_with('/'))
}

/// The reason, as the end of a message about the schema at `pointer`.
fn because(reason: &UnsatisfiableReason, pointer: &str) -> String {
    let causes = match reason {
        UnsatisfiableReason::Literal => return String::new(),
        UnsatisfiableReason::Empty(cause) => std::slice::from_ref(cause),
        UnsatisfiableReason::Conflict(causes) => causes.as_slice(),
    };
    let parts: Vec<String> = causes.iter().flat_map(|cause| parts(cause, pointer)).collect();
    match parts.as_slice() {
        [] => String::new(),
        [part] => format!(", because of {part}"),
        [parts @ .., last] => format!(": {} and {last} contradict each other", parts.join(", ")),
    }
}

/// The keywords of a cause, or its place if that is a whole subschema.
fn parts(cause: &Cause, pointer: &str) -> Vec<String> {
    let place = cause.pointer.strip_prefix(pointer).unwrap_or(&cause.pointer);
    let place = place.strip_prefix('/').unwrap_or(place);
    match (cause.keywords.as_slice(), place) {
        ([], "") => Vec::new(),
        ([], place) => vec![quote(place)],
        (keywords, "") => keywords.iter().map(|keyword| quote(keyword)).collect(),
        (keywords, place) => {
            keywords.iter().map(|keyword| quote(&format!("{place}/{keyword}"))).collect()
        }
    }
}
