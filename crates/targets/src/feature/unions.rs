//! Alternatives and conditions below the root.

use super::{Hit, declare_feature};
use crate::node::Node;

declare_feature! {
    /// `allOf` below the root, with several schemas or with constraints beside it.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "code": { "type": "string", "allOf": [{ "minLength": 3 }, { "maxLength": 5 }] } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "code": { "type": "string", "minLength": 3, "maxLength": 5 } } }
    /// ```
    ALL_OF = "nested-all-of", |node| {
        below(node, "allOf").filter(|_| !is_single(node))
    }
}

declare_feature! {
    /// `allOf` below the root around one schema.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "type": "object",
    ///   "properties": { "at": { "allOf": [{ "$ref": "#/$defs/point" }], "description": "Where." } },
    ///   "$defs": { "point": { "type": "string" } }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "at": { "$ref": "#/$defs/point" } }, "$defs": { "point": { "type": "string" } } }
    /// ```
    SINGLE_ALL_OF = "single-all-of", |node| {
        below(node, "allOf").filter(|_| is_single(node))
    }
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

declare_feature! {
    /// `anyOf` or `oneOf` with `properties` beside it.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "type": "object",
    ///   "properties": {
    ///     "who": {
    ///       "type": "object",
    ///       "properties": { "id": { "type": "string" }, "name": { "type": "string" } },
    ///       "anyOf": [{ "required": ["id"] }, { "required": ["name"] }]
    ///     }
    ///   }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "who": { "type": "object", "properties": { "id": { "type": "string" }, "name": { "type": "string" } } } } }
    /// ```
    CLOSED_UNION = "union-with-properties", |node| {
        let keyword = ["anyOf", "oneOf"].into_iter().find(|it| node.has(it)).filter(|_| node.has("properties"))?;
        Some(Hit::at(keyword, format!("`{keyword}` with `properties` beside it")))
    }
}

declare_feature! {
    /// `allOf` below the root around several objects with properties.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "type": "object",
    ///   "properties": {
    ///     "at": {
    ///       "allOf": [
    ///         { "type": "object", "properties": { "x": { "type": "number" } } },
    ///         { "type": "object", "properties": { "y": { "type": "number" } } }
    ///       ]
    ///     }
    ///   }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "at": { "type": "object", "properties": { "x": { "type": "number" }, "y": { "type": "number" } } } } }
    /// ```
    MERGED_OBJECTS = "all-of-objects", |node| {
        let parts = node.get("allOf").filter(|_| !node.is_root())?.as_array()?;
        let objects = parts.iter().filter(|part| part.get("properties").is_some()).count();
        (objects + usize::from(node.has("properties")) > 1).then(|| Hit::at("allOf", "`allOf` of several objects"))
    }
}

declare_feature! {
    /// `oneOf` below the root whose alternatives may overlap.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "n": { "oneOf": [{ "type": "integer", "minimum": 0 }, { "type": "integer", "maximum": 10 }] } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "n": { "type": "integer" } } }
    /// ```
    OVERLAPPING_ONE_OF = "overlapping-one-of", |node| {
        let branches = node.get("oneOf").filter(|_| !node.is_root())?.as_array()?;
        let scalar = |branch: &serde_json::Value| {
            let fixed = branch.get("const").is_some() || branch.get("enum").is_some();
            let name = branch.get("type")?.as_str().filter(|name| !fixed && !matches!(*name, "object" | "array"))?;
            Some(if name == "integer" { "number".to_owned() } else { name.to_owned() })
        };
        let mut names: Vec<_> = branches.iter().filter_map(scalar).collect();
        let count = names.len();
        names.sort();
        names.dedup();
        (names.len() < count).then(|| Hit::at("oneOf", "alternatives of one type"))
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

/// Whether `allOf` is around one schema, with nothing but annotations beside it.
fn is_single(node: &Node<'_>) -> bool {
    let one =
        node.get("allOf").and_then(serde_json::Value::as_array).is_some_and(|all| all.len() == 1);
    let annotated = ["allOf", "description", "title", "default", "examples"];
    one && node
        .schema
        .as_object()
        .is_some_and(|all| all.keys().all(|key| annotated.contains(&key.as_str())))
}
