//! Keywords that a draft-07 reader asserts and other dialects do not.

use serde_json::{Map, Value};
use toolbond_schema::Dialect;

/// Keywords whose value is data, whatever it looks like.
pub(crate) fn is_data(keyword: &str) -> bool {
    matches!(keyword, "const" | "enum" | "default" | "examples")
}

/// Keywords that `dialect` does not know and a draft-07 reader asserts.
pub(crate) fn only_draft07_asserts(dialect: Dialect) -> &'static [&'static str] {
    match dialect {
        Dialect::Draft4 => {
            &["$anchor", "$dynamicAnchor", "$id", "const", "contains", "if", "propertyNames"]
        }
        Dialect::Draft6 => &["$anchor", "$dynamicAnchor", "if"],
        Dialect::Draft7 => &["$anchor", "$dynamicAnchor"],
        Dialect::Draft201909 => &["$dynamicAnchor"],
        _ => &[],
    }
}

/// Keywords of Ajv's own, which no dialect knows: `$async` makes it answer with a promise, the others
/// it asserts, and gives up on the schema where there is no `format` beside them.
pub(crate) const ONLY_AJV_KNOWS: [&str; 5] = [
    "$async",
    "formatExclusiveMaximum",
    "formatExclusiveMinimum",
    "formatMaximum",
    "formatMinimum",
];

/// Keywords that a draft-07 reader acts upon when they stand beside a `$ref`, and that draft-07 and
/// before ignore there.
pub(crate) const ACTIVE_BESIDE_REF: [&str; 36] = [
    "$anchor",
    "$dynamicAnchor",
    "$id",
    "additionalItems",
    "additionalProperties",
    "allOf",
    "anyOf",
    "const",
    "contains",
    "dependencies",
    "enum",
    "exclusiveMaximum",
    "exclusiveMinimum",
    "format",
    "id",
    "if",
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
    "nullable",
    "oneOf",
    "pattern",
    "patternProperties",
    "properties",
    "propertyNames",
    "required",
    "type",
    "uniqueItems",
];

/// A name for `keyword` that no reader knows and `schema` does not use.
pub(crate) fn unknown_name(keyword: &str, schema: &Map<String, Value>) -> String {
    let mut name = format!("x-{keyword}");
    while schema.contains_key(&name) {
        name.insert_str(0, "x-");
    }
    name
}
