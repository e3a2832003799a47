//! Arrays.

use serde_json::Value;

use super::{Hit, declare_feature};
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

declare_feature! {
    /// An array whose elements have no schema.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "tags": { "type": "array" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "tags": { "type": "array", "items": { "type": "string" } } } }
    /// ```
    ARRAY_WITHOUT_ITEMS = "untyped-array", array_without_items
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
    /// A tuple: an array with a schema for each place.
    ///
    /// 2020-12 writes tuples with `prefixItems`, earlier dialects with an array under `items`.
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
    TUPLE = "tuple", tuple
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

fn tuple(node: &Node<'_>) -> Option<Hit> {
    if node.has("prefixItems") {
        return Some(Hit::at("prefixItems", "a tuple (`prefixItems`)"));
    }
    node.get("items")
        .filter(|items| items.is_array())
        .map(|_| Hit::at("items", "a tuple (an array under `items`)"))
}
