//! `schema-unsatisfiable`.

use std::collections::BTreeMap;

use jsonschema::canonical::{Cause, UnsatisfiableReason, options};
use serde_json::{Value, json};
use toolpact_contract::{Severity, declare_rule};

use super::{Found, contradiction::may_contradict};
use crate::node::{Node, walk};

declare_rule! {
    /// Some value satisfies each schema.
    ///
    /// ## What it does
    ///
    /// Looks for schemas that no value satisfies because their parts contradict each other: an `enum` without a value of
    /// the `type`, a `minimum` above the `maximum`, a required property that is not allowed. Names the smallest such
    /// schema. Schemas that say so (`false`, `{"not": {}}`) are left alone. Schemas of more than 500 subschemas or 64 KiB
    /// are not checked.
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

pub(super) fn check(node: &Node<'_>, found: &mut Found<'_>) {
    if !node.is_root() || !found.is_admitted() {
        return;
    }
    let (mut subschemas, mut is_suspect) = (0, false);
    walk(node.schema, &mut |inner| {
        subschemas += 1;
        is_suspect = is_suspect || may_contradict(inner);
    });
    if !is_suspect || subschemas > SUBSCHEMAS || super::size::bytes(node.schema) > BYTES {
        return;
    }
    let prepared = options().offline().should_validate_formats(false).prepare(node.schema);
    let Ok(mut empty) = prepared.and_then(|prepared| prepared.unsatisfiable()) else { return };
    empty.retain(|pointer, _| !is_meant(node.schema.pointer(pointer)));
    for (pointer, reason) in &empty {
        let is_root = pointer.is_empty();
        let has_inner = empty.keys().any(|other| is_below(other, pointer));
        if has_inner && !is_root {
            continue;
        }
        let tokens: Vec<String> =
            toolpact_contract::Pointer::from(pointer.as_str()).tokens().collect();
        let place: Vec<&str> = tokens.iter().map(String::as_str).collect();
        let message = format!("no value satisfies this schema{}", because(reason, pointer, &empty));
        if let Some((_, finding)) = found.node(node, &place, message)
            && is_root
        {
            finding.finding.severity = Severity::Error;
        }
    }
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

/// The reason as the end of a message.
fn because(
    reason: &UnsatisfiableReason,
    pointer: &str,
    empty: &BTreeMap<String, UnsatisfiableReason>,
) -> String {
    let name = |cause: &Cause| {
        let place = cause.pointer.strip_prefix(pointer).unwrap_or(&cause.pointer);
        match (cause.keywords.as_slice(), place) {
            ([], "") => None,
            ([], place) => Some(format!("`#{place}`")),
            (keywords, "") => Some(format!("`{}`", keywords.join("`, `"))),
            (keywords, place) => Some(format!("`{}` in `#{place}`", keywords.join("`, `"))),
        }
    };
    match reason {
        UnsatisfiableReason::Literal => String::new(),
        UnsatisfiableReason::Empty(cause)
            if empty.contains_key(&cause.pointer) || cause.keywords.is_empty() =>
        {
            name(cause)
                .map_or_else(String::new, |part| format!(", because nothing satisfies {part}"))
        }
        UnsatisfiableReason::Empty(cause) => {
            name(cause).map_or_else(String::new, |part| format!(", because of {part}"))
        }
        UnsatisfiableReason::Conflict(causes) => {
            let parts: Vec<_> = causes.iter().filter_map(name).collect();
            if parts.is_empty() {
                return String::new();
            }
            format!(": {} contradict each other", parts.join(" and "))
        }
    }
}
