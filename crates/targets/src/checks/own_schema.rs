//! Whether values that a subschema mentions are valid under it.

use percent_encoding::{AsciiSet, CONTROLS, utf8_percent_encode};
use serde_json::{Value, json};
use toolbond_schema::{Dialect, Options, Schema, Verdict};

use super::{Found, place::mentions, size::bytes};
use crate::node::Node;

/// The fuel of one validation. A value that needs more is not checked.
const FUEL: u64 = 200_000;

/// What has to be escaped in the fragment of a URI, and `%`.
const FRAGMENT: &AsciiSet = &CONTROLS
    .add(b' ')
    .add(b'"')
    .add(b'<')
    .add(b'>')
    .add(b'`')
    .add(b'%')
    .add(b'#')
    .add(b'\\')
    .add(b'^')
    .add(b'{')
    .add(b'|')
    .add(b'}')
    .add(b'[')
    .add(b']');

/// The name under which a subschema with references finds the schema around it.
const ROOT: &str = "urn:toolbond:schema";

/// Compiles the subschema `node` alone. `None` if that is not possible, or if the check has compiled enough.
pub(super) fn compile(node: &Node<'_>, found: &mut Found<'_>) -> Option<Schema> {
    if !found.is_admitted() {
        return None;
    }
    let options = Options::default().dialect(Dialect::detect(node.root)?);
    let is_alone = node.is_root() || !has_references(node.schema);
    let compiled = if is_alone { node.schema } else { node.root };
    if !found.may_compile(bytes(compiled.as_object()?)) {
        return None;
    }
    if is_alone {
        return options.compile(node.schema).ok();
    }
    let pointer = node.pointer();
    let fragment = utf8_percent_encode(pointer.as_str(), FRAGMENT);
    let options = options.document(ROOT, node.root.clone());
    options.compile(&json!({ "$ref": format!("{ROOT}#{fragment}") })).ok()
}

fn has_references(schema: &Value) -> bool {
    ["$ref", "$dynamicRef", "$recursiveRef"].iter().any(|keyword| mentions(schema, keyword))
}

/// How `value` breaks `schema`, in one line.
pub(super) fn violation(schema: &Schema, value: &Value) -> Option<String> {
    match schema.validate_within(value, FUEL) {
        Verdict::Invalid(violations) => {
            let first = violations.iter().next()?;
            let place = &first.instance;
            let is_root = place.is_root();
            Some(if is_root {
                first.message.clone()
            } else {
                format!("{place}: {}", first.message)
            })
        }
        _ => None,
    }
}
