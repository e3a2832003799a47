//! `required-undeclared`.

use serde_json::{Map, Value, json};
use toolbond_contract::{Pointer, declare_rule};

use super::{
    Found,
    place::{around, in_place, mentions},
    show::quote,
};
use crate::{Edit, Fix, node::Node};

declare_rule! {
    /// A required property is not declared.
    ///
    /// ## What it does
    ///
    /// Finds names in `required` that no `properties` declares, in the same schema or in one that applies to the same
    /// value (`allOf`, `anyOf`, `$ref` and so on). The fix declares the property as `{}`, which allows any value, as
    /// before. If other properties have a schema of their own or are not allowed, this is a suggestion.
    ///
    /// ## Why is this bad
    ///
    /// Often the property was renamed in one place only. The model has to send a property about which it knows nothing,
    /// and model APIs with strict schemas refuse the tool.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "query": { "type": "string" } }, "required": ["q"] }
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
    let declares = |schema: &Map<String, Value>, name: &str| {
        schema.get("properties").is_some_and(|properties| properties.get(name).is_some())
    };
    let is_undeclared = |name: &Value| match (node.schema, name) {
        (Value::Object(schema), Value::String(name)) => !declares(schema, name),
        _ => false,
    };
    if !required.iter().any(is_undeclared) {
        return;
    }
    let Some(around) = declaring(node) else { return };
    for (index, name) in required.iter().enumerate() {
        let Value::String(name) = name else { continue };
        if around.iter().any(|schema| declares(schema, name)) {
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

/// The schemas that may declare the properties of `node`. `None` if others may.
fn declaring<'a>(node: &Node<'a>) -> Option<Vec<&'a Map<String, Value>>> {
    let around = around(node)?;
    let has_properties = |schema: &&Value| schema.get("properties").is_some();
    // A definition without properties may be a part of what refers to it.
    if around.is_definition && !around.schemas.iter().any(has_properties) {
        return None;
    }
    let all = in_place(node.root, around.schemas)?;
    all.iter().all(|schema| !schema.contains_key("patternProperties")).then_some(all)
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
