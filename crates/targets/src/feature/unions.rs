//! Alternatives and conditions below the root.

use super::{Hit, declare_feature};
use crate::node::Node;

declare_feature! {
    /// `allOf` below the root.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "type": "object",
    ///   "properties": { "at": { "allOf": [{ "$ref": "#/$defs/point" }] } },
    ///   "$defs": { "point": { "type": "string" } }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "at": { "$ref": "#/$defs/point" } }, "$defs": { "point": { "type": "string" } } }
    /// ```
    ALL_OF = "nested-all-of", |node| below(node, "allOf")
}

declare_feature! {
    /// `anyOf` below the root.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "id": { "anyOf": [{ "type": "string" }, { "type": "integer" }] } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "id": { "type": "string" } } }
    /// ```
    ANY_OF = "nested-any-of", |node| below(node, "anyOf")
}

declare_feature! {
    /// `if`, `then` and `else`.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "type": "object",
    ///   "properties": { "a": { "type": "string" }, "b": { "type": "string" } },
    ///   "if": { "required": ["a"] },
    ///   "then": { "required": ["b"] }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "a": { "type": "string", "description": "Needs b." }, "b": { "type": "string" } } }
    /// ```
    CONDITION = "condition", |node| Hit::keyword(node, &["if", "then", "else"])
}

declare_feature! {
    /// `not`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "city": { "type": "string", "not": { "const": "" } } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "city": { "type": "string", "minLength": 1 } } }
    /// ```
    NOT = "not-keyword", keywords ["not"]
}

declare_feature! {
    /// `oneOf` below the root.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "id": { "oneOf": [{ "type": "string" }, { "type": "integer" }] } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "id": { "anyOf": [{ "type": "string" }, { "type": "integer" }] } } }
    /// ```
    ONE_OF = "nested-one-of", |node| below(node, "oneOf")
}

declare_feature! {
    /// `anyOf` or `oneOf` with `type`, `properties` or other constraints beside it.
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
    UNION_SIBLINGS = "union-siblings", |node| {
        let schema = node.schema.as_object().filter(|_| node.has("anyOf") || node.has("oneOf"))?;
        let sibling = schema.keys().find(|key| !BESIDE_UNION.contains(&key.as_str()))?;
        Some(Hit::new(format!("alternatives with `{sibling}` beside them")))
    }
}

/// Keywords beside alternatives that constrain nothing.
pub(crate) const BESIDE_UNION: [&str; 9] = [
    "anyOf",
    "oneOf",
    "description",
    "title",
    "default",
    "examples",
    "$defs",
    "definitions",
    "$schema",
];

fn below(node: &Node<'_>, keyword: &'static str) -> Option<Hit> {
    (!node.is_root() && node.has(keyword))
        .then(|| Hit::at(keyword, format!("`{keyword}` below the root")))
}
