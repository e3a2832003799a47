//! `null-keyword`.

use serde_json::Value;
use toolbond_schema::Dialect;

use super::{At, Found, Idiom, Node};
use crate::declare_rule;

declare_rule! {
    /// An unused keyword is `null` instead of being omitted.
    ///
    /// ## What it does
    ///
    /// Finds keywords with the value `null`, such as `"required": null`. The policy `repair` removes
    /// them. `default` and `const` may be `null`, and keywords that no dialect knows stay as they
    /// are.
    ///
    /// ## Why is this bad
    ///
    /// Serialisers write absent fields as `null`. The metaschema does not allow it, and one
    /// `"required": null` makes some clients lose every tool of the server.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": {}, "required": null }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": {} }
    /// ```
    NULL_KEYWORD = "null-keyword", Error
}

pub(super) const IDIOM: Idiom = Idiom { rule: &NULL_KEYWORD, find, fix, at: At::Anywhere };

/// Keywords since draft-04.
const OLD: [&str; 32] = [
    "$ref",
    "$schema",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "definitions",
    "dependencies",
    "description",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "items",
    "maxItems",
    "maxLength",
    "maxProperties",
    "maximum",
    "minItems",
    "minLength",
    "minProperties",
    "minimum",
    "multipleOf",
    "not",
    "oneOf",
    "pattern",
    "patternProperties",
    "properties",
    "required",
    "title",
    "type",
    "uniqueItems",
];

/// Keywords since draft-06 or later, and those that draft-04 does not check.
const NEW: [&str; 26] = [
    "$anchor",
    "$comment",
    "$defs",
    "$dynamicAnchor",
    "$dynamicRef",
    "$id",
    "contains",
    "contentEncoding",
    "contentMediaType",
    "contentSchema",
    "dependentRequired",
    "dependentSchemas",
    "deprecated",
    "else",
    "examples",
    "if",
    "maxContains",
    "minContains",
    "prefixItems",
    "propertyNames",
    "readOnly",
    "then",
    "unevaluatedItems",
    "unevaluatedProperties",
    "writeOnly",
    "$vocabulary",
];

fn find(node: &Node, dialect: Dialect, found: Found<'_>) {
    for (keyword, value) in node {
        if value.is_null() && is_keyword(keyword, dialect) {
            found(&[keyword], "expected the keyword to be omitted, found null".to_owned());
        }
    }
}

fn fix(node: &mut Node, dialect: Dialect) {
    node.retain(|keyword, value: &mut Value| !(value.is_null() && is_keyword(keyword, dialect)));
}

fn is_keyword(keyword: &str, dialect: Dialect) -> bool {
    OLD.contains(&keyword) || (dialect > Dialect::Draft4 && NEW.contains(&keyword))
}
