//! References.

use std::collections::HashSet;

use serde_json::Value;

use super::{Hit, declare_feature};
use crate::node::Node;

declare_feature! {
    /// `$anchor`, or a reference to an anchor.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "type": "object",
    ///   "properties": { "at": { "$ref": "#point" } },
    ///   "$defs": { "point": { "$anchor": "point", "type": "string" } }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "at": { "$ref": "#/$defs/point" } }, "$defs": { "point": { "type": "string" } } }
    /// ```
    ANCHOR = "anchor", |node| {
        if node.has("$anchor") {
            return Some(Hit::at("$anchor", "has `$anchor`"));
        }
        let reference = reference(node)?;
        (reference.starts_with('#') && reference.len() > 1 && !reference.starts_with("#/"))
            .then(|| Hit::at("$ref", format!("refers to the anchor `{reference}`")))
    }
}

declare_feature! {
    /// Definitions under `definitions`, as drafts before 2019-09 write them.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "at": { "$ref": "#/definitions/point" } }, "definitions": { "point": { "type": "string" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "at": { "$ref": "#/$defs/point" } }, "$defs": { "point": { "type": "string" } } }
    /// ```
    DEFINITIONS = "definitions-keyword", |node| {
        let reference = reference(node).filter(|it| it.starts_with("#/definitions/"))?;
        Some(Hit::at("$ref", format!("refers to `{reference}`")))
    }
}

declare_feature! {
    /// `$dynamicRef`, `$dynamicAnchor`, `$recursiveRef` or `$recursiveAnchor`.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "type": "object",
    ///   "properties": { "next": { "$dynamicRef": "#node" } },
    ///   "$defs": { "node": { "$dynamicAnchor": "node", "type": "object" } }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "next": { "$ref": "#/$defs/node" } }, "$defs": { "node": { "type": "object" } } }
    /// ```
    DYNAMIC_REF = "dynamic-ref", |node| {
        Hit::keyword(node, &["$dynamicRef", "$dynamicAnchor", "$recursiveRef", "$recursiveAnchor"])
    }
}

declare_feature! {
    /// `$id` below the root.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "at": { "$id": "https://schemas.example/point", "type": "string" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "at": { "type": "string" } } }
    /// ```
    NESTED_ID = "nested-id", |node| {
        (node.has("$id") && !node.is_root()).then(|| Hit::at("$id", "has `$id` below the root"))
    }
}

declare_feature! {
    /// A schema that refers to itself.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "type": "object",
    ///   "properties": { "tree": { "$ref": "#/$defs/tree" } },
    ///   "$defs": {
    ///     "tree": { "type": "object", "properties": { "children": { "type": "array", "items": { "$ref": "#/$defs/tree" } } } }
    ///   }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "type": "object",
    ///   "properties": { "nodes": { "type": "array", "items": { "type": "object", "properties": { "parent": { "type": "string" } } } } }
    /// }
    /// ```
    RECURSIVE_REF = "recursive-ref", |node| {
        let at = node.pointer();
        let reference = reference(node)?;
        let target = reference.strip_prefix('#')?;
        let inside = at.as_str().strip_prefix(target).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'));
        (inside || recurs(node, target)).then(|| Hit::at("$ref", format!("`{reference}` refers to itself")))
    }
}

declare_feature! {
    /// A reference to something else than a definition at the root.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "from": { "type": "string" }, "to": { "$ref": "#/properties/from" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "type": "object",
    ///   "properties": { "from": { "$ref": "#/$defs/city" }, "to": { "$ref": "#/$defs/city" } },
    ///   "$defs": { "city": { "type": "string" } }
    /// }
    /// ```
    REF_ELSEWHERE = "reference-elsewhere", |node| {
        let reference = reference(node).filter(|it| it.starts_with("#/"))?;
        let mut tokens = reference[2..].split('/');
        let is_definition = matches!(tokens.next(), Some("$defs" | "definitions"));
        (!is_definition || tokens.count() != 1)
            .then(|| Hit::at("$ref", format!("refers to `{reference}`, which is no definition at the root")))
    }
}

declare_feature! {
    /// A reference with other keywords beside it.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "type": "object",
    ///   "properties": { "at": { "$ref": "#/$defs/point", "description": "Where." } },
    ///   "$defs": { "point": { "type": "string" } }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "at": { "$ref": "#/$defs/point" } }, "$defs": { "point": { "type": "string" } } }
    /// ```
    REF_SIBLINGS = "reference-siblings", |node| {
        let schema = node.schema.as_object().filter(|_| node.has("$ref") && !node.is_root())?;
        let other = schema.keys().find(|key| !matches!(key.as_str(), "$ref" | "$defs" | "definitions"))?;
        Some(Hit::at("$ref", format!("`$ref` with `{other}` beside it")))
    }
}

declare_feature! {
    /// A reference with constraints beside it.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "type": "object",
    ///   "properties": { "at": { "$ref": "#/$defs/point", "minLength": 3 } },
    ///   "$defs": { "point": { "type": "string" } }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "type": "object",
    ///   "properties": { "at": { "$ref": "#/$defs/point" } },
    ///   "$defs": { "point": { "type": "string", "minLength": 3 } }
    /// }
    /// ```
    CONSTRAINED_REF = "constrained-reference", |node| {
        let schema = node.schema.as_object().filter(|_| node.has("$ref") && !node.is_root())?;
        let other = schema.keys().find(|key| !ANNOTATIONS.contains(&key.as_str()))?;
        Some(Hit::at("$ref", format!("`$ref` with `{other}` beside it")))
    }
}

declare_feature! {
    /// A reference with escaped characters (`~0`, `~1`, `%20`).
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "at": { "$ref": "#/$defs/a~1b" } }, "$defs": { "a/b": { "type": "string" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "at": { "$ref": "#/$defs/ab" } }, "$defs": { "ab": { "type": "string" } } }
    /// ```
    ESCAPED_REF = "escaped-reference", |node| {
        let reference = reference(node).filter(|it| it.starts_with('#') && it.contains(['~', '%']))?;
        Some(Hit::at("$ref", format!("refers to `{reference}`")))
    }
}

declare_feature! {
    /// A reference to the whole input schema (`#`).
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "child": { "$ref": "#" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "child": { "type": "object" } } }
    /// ```
    ROOT_RECURSION = "root-recursion", |node| {
        (reference(node)? == "#").then(|| Hit::at("$ref", "refers to the whole input schema"))
    }
}

declare_feature! {
    /// A reference to a definition that is a reference itself.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "type": "object",
    ///   "properties": { "at": { "$ref": "#/$defs/a" } },
    ///   "$defs": { "a": { "$ref": "#/$defs/b" }, "b": { "type": "string" } }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "at": { "$ref": "#/$defs/b" } }, "$defs": { "b": { "type": "string" } } }
    /// ```
    REF_CHAIN = "reference-chain", |node| {
        let reference = reference(node)?;
        let target = node.root.pointer(&decode(reference.strip_prefix('#')?))?;
        target.get("$ref").map(|_| Hit::at("$ref", format!("`{reference}` is a reference itself")))
    }
}

/// Keywords that may stand beside a reference without constraining it.
const ANNOTATIONS: [&str; 12] = [
    "$ref",
    "$defs",
    "definitions",
    "description",
    "title",
    "default",
    "examples",
    "$comment",
    "deprecated",
    "readOnly",
    "writeOnly",
    "$schema",
];

/// The references that are followed to find a cycle.
const MAX_STEPS: usize = 10_000;

fn reference<'a>(node: &Node<'a>) -> Option<&'a str> {
    node.get("$ref")?.as_str()
}

/// Whether `target` refers to itself, within the steps of the walk.
fn recurs(node: &Node<'_>, target: &str) -> bool {
    let mut steps = node.steps.get();
    let found = reaches_itself_within(node.root, target, &mut steps);
    node.steps.set(steps);
    found
}

/// Whether the schema at `target` refers to itself, directly or through others, in `steps`, from which it takes what it
/// needs. Without steps left, it may as well.
pub(crate) fn reaches_itself_within(root: &Value, target: &str, steps: &mut usize) -> bool {
    let mut seen = HashSet::new();
    let mut open = vec![target.to_owned()];
    let mut left = (*steps).min(MAX_STEPS);
    *steps -= left;
    while let Some(pointer) = open.pop() {
        let Some(schema) = root.pointer(&decode(&pointer)) else { continue };
        let mut found = false;
        crate::node::walk_all(schema, &mut |node| {
            left = left.saturating_sub(1);
            let Some(reference) = reference(node).and_then(|it| it.strip_prefix('#')) else {
                return;
            };
            // A reference to something around the target comes back to it.
            found |= target == reference
                || target.strip_prefix(reference).is_some_and(|rest| rest.starts_with('/'));
            if seen.insert(reference.to_owned()) {
                open.push(reference.to_owned());
            }
        });
        if found || left == 0 {
            *steps += left;
            return true;
        }
    }
    *steps += left;
    false
}

/// Replaces percent-encoded bytes of a fragment.
pub(crate) fn decode(fragment: &str) -> String {
    percent_encoding::percent_decode_str(fragment).decode_utf8_lossy().into_owned()
}
