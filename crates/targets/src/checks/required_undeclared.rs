//! `required-undeclared`.

use serde_json::{Value, json};
use toolpact_contract::{Pointer, declare_rule};

use super::{
    Found,
    place::{any_in_place, around, mentions},
    show::quote,
};
use crate::{Edit, Fix, node::Node};

declare_rule! {
    /// Required properties are declared.
    ///
    /// ## What it does
    ///
    /// Finds names in `required` that no `properties` declares, in the same schema or in one that applies to the same
    /// value (`allOf`, `anyOf`, `$ref` and so on). The fix declares the property as `{}`, which allows any value, as
    /// before. If other properties have a schema of their own or are not allowed, this is a suggestion.
    ///
    /// ## Why is this bad
    ///
    /// It is often a misspelt name. The model has to send a property about which it knows nothing, and model APIs with
    /// strict schemas refuse the tool.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "query": { "type": "string" } }, "required": ["querry"] }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "query": { "type": "string" } }, "required": ["query"] }
    /// ```
    REQUIRED_UNDECLARED = "required-undeclared", Warning
}

pub(super) fn check(node: &Node<'_>, found: &mut Found<'_>) {
    let Some(Value::Array(required)) = node.get("required") else { return };
    let is_declared_here = |name: &str| {
        node.get("properties").is_some_and(|properties| properties.get(name).is_some())
    };
    for (index, name) in required.iter().enumerate() {
        let Value::String(name) = name else { continue };
        if is_declared_here(name) || is_declared_around(node, name) {
            continue;
        }
        let message =
            format!("expected {} in `properties`, found it in `required` only", quote(name));
        let place = ["required", &index.to_string()];
        if let Some((at, finding)) = found.node(node, &place, message) {
            finding.fix = Some(declare(node, &at, name));
        }
    }
}

/// Whether a subschema that applies to the same value declares `name`, as far as can be told.
fn is_declared_around(node: &Node<'_>, name: &str) -> bool {
    let Some(around) = around(node) else { return true };
    let has_properties = |schema: &&Value| schema.get("properties").is_some();
    // A definition without properties may be a part of what refers to it.
    let is_part = around.is_definition && !around.schemas.iter().any(has_properties);
    is_part
        || any_in_place(node.root, around.schemas, |map| {
            map.get("properties").is_some_and(|properties| properties.get(name).is_some())
                || map.contains_key("patternProperties")
        })
}

/// The fix that declares `name` in `node`, which is at `at`.
fn declare(node: &Node<'_>, at: &Pointer, name: &str) -> Fix {
    let others = node.get("additionalProperties");
    let value = match others {
        Some(Value::Object(schema)) => Value::Object(schema.clone()),
        _ => json!({}),
    };
    let properties = at.join("properties");
    let edit = if node.has("properties") {
        Edit::Set { pointer: properties.join(name), value }
    } else {
        Edit::Set { pointer: properties, value: json!({ name: value }) }
    };
    let is_open = others.is_none_or(|others| *others == json!(true) || *others == json!({}));
    let is_safe = is_open && !mentions(node.root, "unevaluatedProperties");
    Fix::new(format!("declare {} in `properties`", quote(name)), is_safe, vec![edit])
}
