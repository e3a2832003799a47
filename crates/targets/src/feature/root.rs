//! The root of an input schema.

use super::{Hit, declare_feature, len};
use crate::node::Node;

declare_feature! {
    /// An input schema without `properties`.
    ///
    /// The specification recommends `{"type": "object", "additionalProperties": false}` for tools without parameters, and some
    /// targets refuse exactly that.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "additionalProperties": false }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": {} }
    /// ```
    EMPTY_ROOT = "empty-root", |node| {
        // A root without `type` is a problem of its own, with the same cause.
        (node.is_root() && node.has("type") && !node.has("properties"))
            .then(|| Hit::new("an object without `properties`"))
    }
}

declare_feature! {
    /// `allOf` at the root of an input schema.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "allOf": [{ "properties": { "city": { "type": "string" } } }] }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "city": { "type": "string" } } }
    /// ```
    ROOT_ALL_OF = "root-all-of", |node| at_root(node, &["allOf"])
}

declare_feature! {
    /// `not`, `if`, `then`, `else`, `dependentSchemas` at the root of an input schema.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "a": { "type": "string" } }, "not": { "required": ["a", "b"] } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "a": { "type": "string", "description": "Not together with b." } } }
    /// ```
    ROOT_CONDITION = "root-condition", |node| at_root(node, &["not", "if", "then", "else", "dependentSchemas"])
}

declare_feature! {
    /// `enum` or `const` at the root of an input schema.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "a": { "type": "integer" } }, "enum": [{ "a": 1 }, { "a": 2 }] }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "a": { "type": "integer", "enum": [1, 2] } } }
    /// ```
    ROOT_ENUM = "root-enum", |node| at_root(node, &["enum", "const"])
}

declare_feature! {
    /// `$ref` at the root of an input schema.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "$ref": "#/$defs/query", "$defs": { "query": { "type": "object", "properties": {} } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": {} }
    /// ```
    ROOT_REF = "root-ref", |node| at_root(node, &["$ref"])
}

declare_feature! {
    /// `anyOf` at the root of an input schema.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "type": "object",
    ///   "anyOf": [
    ///     { "properties": { "id": { "type": "string" } }, "required": ["id"] },
    ///     { "properties": { "name": { "type": "string" } }, "required": ["name"] }
    ///   ]
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "id": { "type": "string" }, "name": { "type": "string" } } }
    /// ```
    ROOT_ANY_OF = "root-any-of", |node| at_root(node, &["anyOf"])
}

declare_feature! {
    /// `oneOf` at the root of an input schema.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "type": "object",
    ///   "oneOf": [
    ///     { "properties": { "id": { "type": "string" } }, "required": ["id"] },
    ///     { "properties": { "name": { "type": "string" } }, "required": ["name"] }
    ///   ]
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "id": { "type": "string" }, "name": { "type": "string" } } }
    /// ```
    ROOT_ONE_OF = "root-one-of", |node| at_root(node, &["oneOf"])
}

declare_feature! {
    /// An input schema whose properties are all in `anyOf`, `oneOf` or `allOf`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "allOf": [{ "properties": { "city": { "type": "string" } } }] }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "city": { "type": "string" } } }
    /// ```
    ONLY_COMBINERS = "only-alternatives", |node| {
        let keyword = ["anyOf", "oneOf", "allOf"].into_iter().find(|it| node.has(it))?;
        (node.is_root() && len(node.get("properties")) == 0)
            .then(|| Hit::at(keyword, format!("all properties are in `{keyword}`")))
    }
}

fn at_root(node: &Node<'_>, keywords: &[&'static str]) -> Option<Hit> {
    let keyword = keywords.iter().find(|keyword| node.has(keyword)).filter(|_| node.is_root())?;
    let count = len(node.get(keyword));
    Some(Hit::at(
        keyword,
        match *keyword {
            "anyOf" | "oneOf" | "allOf" => format!("`{keyword}` of {count} at the root"),
            _ => format!("`{keyword}` at the root"),
        },
    ))
}
