//! Arrays.

use serde_json::Value;

use super::{Feature, Hit, Side, declare_feature};
use crate::node::Node;

declare_feature! {
    /// `minItems` or `maxItems`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "tags": { "type": "array", "items": { "type": "string" }, "maxItems": 5 } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "tags": { "type": "array", "items": { "type": "string" }, "description": "At most 5." } } }
    /// ```
    ARRAY_LENGTH = "array-length", keywords ["minItems", "maxItems"]
}

/// The same rule as that of good practice.
pub(crate) static ARRAY_WITHOUT_ITEMS: Feature = Feature {
    rule: &crate::checks::ARRAY_WITHOUT_ITEMS,
    side: Side::Input,
    check: array_without_items,
    keywords: &[],
};

declare_feature! {
    /// `maxItems`, or `minItems` above 1.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "tags": { "type": "array", "items": { "type": "string" }, "maxItems": 5 } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "tags": { "type": "array", "items": { "type": "string" }, "minItems": 1 } } }
    /// ```
    ARRAY_BOUND = "array-bound", keywords ["minItems", "maxItems"], |node| {
        if node.has("maxItems") {
            return Some(Hit::at("maxItems", "has `maxItems`"));
        }
        let least = node.get("minItems")?.as_f64().filter(|least| *least > 1.0)?;
        Some(Hit::at("minItems", format!("`minItems` is {least}")))
    }
}

declare_feature! {
    /// `contains`, with `minContains` and `maxContains`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "tags": { "type": "array", "items": { "type": "string" }, "contains": { "const": "a" } } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "tags": { "type": "array", "items": { "type": "string" }, "description": "One is a." } } }
    /// ```
    CONTAINS = "contains-keyword", keywords ["contains", "minContains", "maxContains"]
}

declare_feature! {
    /// A tuple: an array with a schema for each place (`prefixItems`).
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "at": { "type": "array", "prefixItems": [{ "type": "number" }, { "type": "number" }] } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "at": { "type": "object", "properties": { "x": { "type": "number" }, "y": { "type": "number" } } } } }
    /// ```
    TUPLE = "tuple", |node| Hit::keyword(node, &["prefixItems"])
}

declare_feature! {
    /// A tuple with a schema for the elements after its places.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "row": { "type": "array", "prefixItems": [{ "type": "string" }], "items": { "type": "number" } } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "type": "object",
    ///   "properties": { "name": { "type": "string" }, "numbers": { "type": "array", "items": { "type": "number" } } }
    /// }
    /// ```
    TUPLE_REST = "tuple-rest", |node| {
        (node.has("prefixItems") && node.get("items").is_some_and(Value::is_object))
            .then(|| Hit::at("items", "a tuple with more elements"))
    }
}

declare_feature! {
    /// A tuple as dialects before 2020-12 write it: an array under `items`.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "$schema": "http://json-schema.org/draft-07/schema#",
    ///   "type": "object",
    ///   "properties": { "at": { "type": "array", "items": [{ "type": "number" }, { "type": "number" }] } }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "at": { "type": "array", "items": { "type": "number" } } } }
    /// ```
    OLD_TUPLE = "old-tuple", |node| {
        let is_list = node.get("items").is_some_and(Value::is_array);
        is_list.then(|| Hit::at("items", "a tuple (an array under `items`)"))
    }
}

declare_feature! {
    /// `uniqueItems: true`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "tags": { "type": "array", "items": { "type": "string" }, "uniqueItems": true } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "tags": { "type": "array", "items": { "type": "string" }, "description": "No duplicates." } } }
    /// ```
    UNIQUE_ITEMS = "unique-items", keywords ["uniqueItems"], |node| {
        (node.get("uniqueItems") == Some(&Value::Bool(true))).then(|| Hit::at("uniqueItems", "has `uniqueItems: true`"))
    }
}

fn array_without_items(node: &Node<'_>) -> Option<Hit> {
    let typed = node.has_type("array") && !node.has("items") && !node.has("prefixItems");
    typed.then(|| Hit::new("an array without `items`"))
}
