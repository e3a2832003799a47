//! Which subschemas apply to the same value as another one.

use serde_json::{Map, Value};
use toolbond_contract::subschemas::{Member, Step};

use crate::node::Node;

/// Keywords whose subschemas apply to the value itself.
pub(super) const IN_PLACE: [&str; 8] =
    ["allOf", "anyOf", "oneOf", "not", "if", "then", "else", "dependentSchemas"];

/// The most subschemas looked at for one answer.
const VISITED: usize = 200;

/// The subschemas around a node that apply to the same value.
pub(super) struct Around<'a> {
    /// Outermost first, and the node itself.
    pub(super) schemas: Vec<&'a Value>,
    /// Whether the outermost is a definition.
    pub(super) is_definition: bool,
}

/// The subschemas around `node` that apply to the same value. `None` if it is a condition (`if`, `not`) or in one.
pub(super) fn around<'a>(node: &Node<'a>) -> Option<Around<'a>> {
    let mut here = node.root;
    let mut schemas = vec![here];
    let mut is_definition = false;
    for Step { keyword, member } in node.path.steps() {
        if matches!(keyword, "if" | "not") {
            return None;
        }
        here = here.get(keyword)?;
        here = match member {
            Some(Member::Name(name)) => here.get(name)?,
            Some(Member::Number(number)) => here.get(number)?,
            None => here,
        };
        if !IN_PLACE.contains(&keyword) {
            schemas.clear();
            is_definition = matches!(keyword, "$defs" | "definitions");
        }
        schemas.push(here);
    }
    Some(Around { schemas, is_definition })
}

/// `schemas`, and the subschemas and targets of references in them that apply to the same value. `None` if that cannot
/// be told: a reference that is not a pointer, or too many subschemas.
pub(super) fn in_place<'a>(
    root: &'a Value,
    schemas: Vec<&'a Value>,
) -> Option<Vec<&'a Map<String, Value>>> {
    let mut pending = schemas;
    let mut all = Vec::new();
    while let Some(schema) = pending.pop() {
        let Value::Object(map) = schema else { continue };
        if all.len() == VISITED
            || map.contains_key("$dynamicRef")
            || map.contains_key("$recursiveRef")
        {
            return None;
        }
        all.push(map);
        if let Some(reference) = map.get("$ref").and_then(Value::as_str) {
            pending.push(target(root, reference)?);
        }
        for keyword in IN_PLACE {
            match map.get(keyword) {
                Some(Value::Array(list)) => pending.extend(list),
                Some(Value::Object(named)) if keyword == "dependentSchemas" => {
                    pending.extend(named.values());
                }
                Some(schema) => pending.push(schema),
                None => {}
            }
        }
    }
    Some(all)
}

/// The target of a reference that is a pointer into `root`.
pub(super) fn target<'a>(root: &'a Value, reference: &str) -> Option<&'a Value> {
    let pointer = reference.strip_prefix('#')?;
    let pointer = percent_encoding::percent_decode_str(pointer).decode_utf8().ok()?;
    root.pointer(&pointer)
}

/// Whether `keyword` is a member of any object in `value`, data included.
pub(super) fn mentions(value: &Value, keyword: &str) -> bool {
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        match value {
            Value::Array(items) => pending.extend(items),
            Value::Object(members) if members.contains_key(keyword) => return true,
            Value::Object(members) => pending.extend(members.values()),
            _ => {}
        }
    }
    false
}
