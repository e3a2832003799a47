//! Types.

use serde_json::Value;

use super::{Hit, declare_feature};
use crate::node::Node;

declare_feature! {
    /// `items` is `true` or `false`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "tags": { "type": "array", "items": true } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "tags": { "type": "array", "items": { "type": "string" } } } }
    /// ```
    BOOLEAN_ITEMS = "boolean-items", |node| {
        (node.schema.is_boolean() && node.keyword == Some("items")).then(|| Hit::new(format!("`items` is `{}`", node.schema)))
    }
}

declare_feature! {
    /// A subschema that is `true` or `false`: legal, and written by Go and Rust generators.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "value": true } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "value": { "type": "string" } } }
    /// ```
    BOOLEAN_SCHEMA = "boolean-schema", |node| {
        let written = matches!(
            node.keyword,
            Some("properties" | "anyOf" | "oneOf" | "allOf" | "$defs" | "definitions" | "prefixItems" | "patternProperties")
        );
        (node.schema.is_boolean() && written).then(|| Hit::new(format!("the schema `{}`", node.schema)))
    }
}

declare_feature! {
    /// `type` is a list with `null` and one other type.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "city": { "type": ["string", "null"] } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "city": { "type": "string" } } }
    /// ```
    NULLABLE_TYPE = "nullable-type", |node| {
        let types = node.get("type")?.as_array()?;
        let others = types.iter().filter(|one| *one != "null").count();
        (others <= 1).then(|| Hit::at("type", format!("`type` is {}", node.schema["type"])))
    }
}

declare_feature! {
    /// `type` is a list of several types beside `null`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "id": { "type": ["string", "integer"] } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "id": { "type": "string" } } }
    /// ```
    TYPE_LIST = "type-list", |node| {
        let types = node.get("type")?.as_array()?;
        let others = types.iter().filter(|one| *one != "null").count();
        (others > 1).then(|| Hit::at("type", format!("`type` is {}", node.schema["type"])))
    }
}

declare_feature! {
    /// A subschema without `type`, `$ref`, `enum`, `const` or alternatives.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "value": { "description": "Anything." } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "value": { "type": "string", "description": "Any text." } } }
    /// ```
    UNTYPED = "untyped", |node| {
        (is_value(node) && !is_typed(node.schema)).then(|| Hit::new("a schema without `type`"))
    }
}

declare_feature! {
    /// An array whose elements have a schema without a type.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "tags": { "type": "array", "items": {} } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "tags": { "type": "array", "items": { "type": "string" } } } }
    /// ```
    UNTYPED_ITEMS = "untyped-items", |node| {
        let untyped = node.keyword == Some("items") && node.schema.is_object() && !is_typed(node.schema);
        untyped.then(|| Hit::new("`items` without `type`"))
    }
}

declare_feature! {
    /// An alternative without `type` of a schema with one.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "type": "object",
    ///   "properties": { "id": { "type": "string", "anyOf": [{ "maxLength": 3 }, { "pattern": "^x" }] } }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "type": "object",
    ///   "properties": { "id": { "anyOf": [{ "type": "string", "maxLength": 3 }, { "type": "string", "pattern": "^x" }] } }
    /// }
    /// ```
    UNTYPED_BRANCH = "untyped-alternative", |node| {
        (is_part_of_typed(node) && node.schema.is_object() && !is_typed(node.schema))
            .then(|| Hit::new("an alternative without `type`"))
    }
}

/// Whether the node describes a value that a model writes.
fn is_value(node: &Node<'_>) -> bool {
    node.schema.is_object()
        && !is_part_of_typed(node)
        && matches!(
            node.keyword,
            Some(
                "properties"
                    | "prefixItems"
                    | "anyOf"
                    | "oneOf"
                    | "allOf"
                    | "$defs"
                    | "definitions"
            )
        )
}

/// Whether the node is an alternative of a schema with a type.
fn is_part_of_typed(node: &Node<'_>) -> bool {
    matches!(node.keyword, Some("anyOf" | "oneOf" | "allOf"))
        && node.parent.is_some_and(|parent| parent.contains_key("type"))
}

fn is_typed(schema: &Value) -> bool {
    ["type", "$ref", "enum", "const", "anyOf", "oneOf", "allOf"]
        .iter()
        .any(|it| schema.get(it).is_some())
}
