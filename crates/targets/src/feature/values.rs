//! `enum` and `const`.

use serde_json::Value;

use super::{Hit, declare_feature};
use crate::node::Node;

declare_feature! {
    /// `const`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "kind": { "const": 3 } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "kind": { "type": "string", "enum": ["3"] } } }
    /// ```
    CONST = "const-keyword", |node| Hit::keyword(node, &["const"])
}

declare_feature! {
    /// An `enum` with an empty string.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "sort": { "type": "string", "enum": ["", "name"] } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "sort": { "type": "string", "enum": ["none", "name"] } } }
    /// ```
    ENUM_EMPTY_STRING = "enum-empty-string", |node| {
        values(node)?.iter().any(|value| value == "").then(|| Hit::at("enum", "`enum` has an empty string"))
    }
}

declare_feature! {
    /// An `enum` with values of several types.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "level": { "enum": ["low", 1] } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "level": { "type": "string", "enum": ["low", "high"] } } }
    /// ```
    ENUM_MIXED = "enum-mixed", |node| {
        let values = values(node)?;
        let first = std::mem::discriminant(values.first()?);
        values
            .iter()
            .any(|value| std::mem::discriminant(value) != first)
            .then(|| Hit::at("enum", "`enum` has values of several types"))
    }
}

declare_feature! {
    /// An `enum` of numbers, booleans or null.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "level": { "type": "integer", "enum": [1, 2] } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "level": { "type": "string", "enum": ["1", "2"] } } }
    /// ```
    ENUM_NOT_STRING = "enum-not-string", |node| {
        let value = values(node)?.iter().find(|value| !value.is_string())?;
        (!is_container(value)).then(|| Hit::at("enum", format!("`enum` has the value {value}")))
    }
}

declare_feature! {
    /// An `enum` of objects or arrays.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "range": { "enum": [{ "from": 1 }, { "from": 2 }] } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "range": { "type": "string", "enum": ["low", "high"] } } }
    /// ```
    ENUM_OBJECT = "enum-object", |node| {
        values(node)?.iter().any(is_container).then(|| Hit::at("enum", "`enum` has an object or an array"))
    }
}

fn values<'a>(node: &Node<'a>) -> Option<&'a Vec<Value>> {
    node.get("enum")?.as_array()
}

fn is_container(value: &Value) -> bool {
    value.is_object() || value.is_array()
}
