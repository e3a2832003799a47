//! A quick look at whether a schema may contradict itself.

use serde_json::{Map, Value};

use crate::node::Node;

/// Keywords that need a closer look wherever they are.
const SUSPECT: [&str; 16] = [
    "$dynamicRef",
    "$recursiveRef",
    "allOf",
    "const",
    "contains",
    "dependencies",
    "dependentSchemas",
    "if",
    "maxProperties",
    "minProperties",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "propertyNames",
    "uniqueItems",
];

/// Pairs of keywords that can contradict each other.
const PAIRS: [(&str, &str); 9] = [
    ("minimum", "maximum"),
    ("minimum", "exclusiveMaximum"),
    ("exclusiveMinimum", "maximum"),
    ("exclusiveMinimum", "exclusiveMaximum"),
    ("minLength", "maxLength"),
    ("minItems", "maxItems"),
    ("multipleOf", "maximum"),
    ("multipleOf", "exclusiveMaximum"),
    ("minItems", "prefixItems"),
];

/// Keywords that only describe.
const ANNOTATIONS: [&str; 12] = [
    "$comment",
    "$defs",
    "$schema",
    "default",
    "definitions",
    "deprecated",
    "description",
    "examples",
    "format",
    "readOnly",
    "title",
    "writeOnly",
];

/// Whether the parts of `node` may contradict each other, apart from its subschemas.
pub(super) fn may_contradict(node: &Node<'_>) -> bool {
    match node.schema {
        Value::Bool(accepts) => !accepts && node.keyword != Some("additionalProperties"),
        Value::Object(schema) => {
            SUSPECT.iter().any(|keyword| schema.contains_key(*keyword))
                || PAIRS.iter().any(|(a, b)| schema.contains_key(*a) && schema.contains_key(*b))
                || enum_contradicts(schema)
                || union_contradicts(schema)
                || requires_what_is_closed(schema)
        }
        _ => false,
    }
}

/// Whether another keyword beside `enum` excludes one of its values.
fn enum_contradicts(schema: &Map<String, Value>) -> bool {
    let Some(Value::Array(values)) = schema.get("enum") else { return false };
    let is_plain = |key: &String| {
        key == "enum"
            || key == "type"
            || key.starts_with("x-")
            || ANNOTATIONS.contains(&key.as_str())
    };
    values.is_empty()
        || !schema.keys().all(is_plain)
        || schema.get("type").is_some_and(|kind| !values.iter().all(|value| has_type(value, kind)))
}

fn has_type(value: &Value, kind: &Value) -> bool {
    let is = |kind: &Value| match kind.as_str() {
        Some("string") => value.is_string(),
        Some("number") => value.is_number(),
        Some("integer") => value.is_i64() || value.is_u64(),
        Some("boolean") => value.is_boolean(),
        Some("null") => value.is_null(),
        Some("array") => value.is_array(),
        Some("object") => value.is_object(),
        _ => false,
    };
    match kind {
        Value::Array(kinds) => kinds.iter().any(is),
        kind => is(kind),
    }
}

/// Whether `anyOf` or `$ref` stands beside other constraints.
fn union_contradicts(schema: &Map<String, Value>) -> bool {
    let has_union = schema.contains_key("anyOf") || schema.contains_key("$ref");
    let constraints = schema
        .keys()
        .filter(|key| !key.starts_with("x-") && !ANNOTATIONS.contains(&key.as_str()))
        .count();
    has_union && constraints > 1
}

/// Whether a required property is not declared, and others are not open.
fn requires_what_is_closed(schema: &Map<String, Value>) -> bool {
    let Some(Value::Array(required)) = schema.get("required") else { return false };
    let is_open = matches!(schema.get("additionalProperties"), None | Some(Value::Bool(true)))
        && !schema.contains_key("unevaluatedProperties");
    let declares = |name: &Value| {
        let name = name.as_str().unwrap_or_default();
        schema.get("properties").is_some_and(|properties| properties.get(name).is_some())
    };
    // A required property that refers to the schema around it needs a value without end.
    let recurses = |name: &Value| {
        let property = schema.get("properties").and_then(|all| all.get(name.as_str()?));
        property.is_some_and(|property| super::place::mentions(property, "$ref"))
    };
    (!is_open && !required.iter().all(declares)) || required.iter().any(recurses)
}
