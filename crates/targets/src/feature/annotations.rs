//! Keywords that constrain nothing.

use super::{Hit, declare_feature};
use crate::node::Node;

declare_feature! {
    /// The content of a string: `contentEncoding`, `contentMediaType`, `contentSchema`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "file": { "type": "string", "contentEncoding": "base64" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "file": { "type": "string", "description": "The file in base64." } } }
    /// ```
    CONTENT = "string-content", keywords ["contentEncoding", "contentMediaType", "contentSchema"]
}

declare_feature! {
    /// `default`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "hours": { "type": "integer", "default": 24 } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "hours": { "type": "integer", "description": "24 if absent." } } }
    /// ```
    DEFAULT = "default-value", keywords ["default"]
}

declare_feature! {
    /// `examples`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "city": { "type": "string", "examples": ["Oslo"] } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "city": { "type": "string", "description": "For example Oslo." } } }
    /// ```
    EXAMPLES = "example-values", keywords ["examples"]
}

declare_feature! {
    /// `$schema` or `$id` at the root of an input schema.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "properties": {} }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": {} }
    /// ```
    SCHEMA_KEYWORD = "schema-keyword", keywords ["$schema", "$id"], schema_keyword
}

fn schema_keyword(node: &Node<'_>) -> Option<Hit> {
    node.is_root().then(|| Hit::keyword(node, &["$schema", "$id"]))?
}
