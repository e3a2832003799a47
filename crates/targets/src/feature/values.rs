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
    /// `const` without `type`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "kind": { "const": "a" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "kind": { "type": "string", "enum": ["a"] } } }
    /// ```
    CONST_UNTYPED = "untyped-const", |node| {
        (node.has("const") && !node.has("type")).then(|| Hit::at("const", "`const` without `type`"))
    }
}

declare_feature! {
    /// `const` with a number or a boolean.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "level": { "const": 3 } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "level": { "type": "string", "enum": ["3"] } } }
    /// ```
    CONST_NOT_STRING = "const-not-string", |node| {
        let value = node.get("const")?;
        (value.is_number() || value.is_boolean()).then(|| Hit::at("const", format!("`const` is {value}")))
    }
}

declare_feature! {
    /// `const` with an object or an array.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "range": { "const": { "from": 1 } } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "range": { "type": "string", "enum": ["low"] } } }
    /// ```
    CONST_OBJECT = "const-object", |node| {
        node.get("const").filter(|value| is_container(value) && !node.is_root()).map(|_| Hit::at("const", "`const` is an object or an array"))
    }
}

declare_feature! {
    /// `enum` without `type`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "kind": { "enum": ["a", "b"] } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "kind": { "type": "string", "enum": ["a", "b"] } } }
    /// ```
    ENUM_UNTYPED = "untyped-enum", |node| {
        (node.has("enum") && !node.has("type")).then(|| Hit::at("enum", "`enum` without `type`"))
    }
}

declare_feature! {
    /// An `enum` with null.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "sort": { "type": ["string", "null"], "enum": ["name", null] } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "sort": { "type": "string", "enum": ["name"] } } }
    /// ```
    ENUM_NULL = "enum-null", |node| {
        values(node)?.iter().any(Value::is_null).then(|| Hit::at("enum", "`enum` has null"))
    }
}

declare_feature! {
    /// `const` with something else than a string, without `type`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "level": { "const": 3 } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "level": { "type": "integer", "const": 3 } } }
    /// ```
    CONST_UNTYPED_VALUE = "untyped-const-value", |node| {
        let value = node.get("const").filter(|value| !value.is_string() && !node.has("type"))?;
        Some(Hit::at("const", format!("`const` is {value} without `type`")))
    }
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
        let mut kinds = values.iter().filter(|value| !value.is_null()).map(std::mem::discriminant);
        let first = kinds.next()?;
        kinds.any(|kind| kind != first).then(|| Hit::at("enum", "`enum` has values of several types"))
    }
}

declare_feature! {
    /// An `enum` of numbers or booleans.
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
        let value = values(node)?.iter().find(|value| value.is_number() || value.is_boolean())?;
        Some(Hit::at("enum", format!("`enum` has the value {value}")))
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
        values(node).filter(|_| !node.is_root())?.iter().any(is_container).then(|| Hit::at("enum", "`enum` has an object or an array"))
    }
}

fn values<'a>(node: &Node<'a>) -> Option<&'a Vec<Value>> {
    node.get("enum")?.as_array()
}

fn is_container(value: &Value) -> bool {
    value.is_object() || value.is_array()
}
