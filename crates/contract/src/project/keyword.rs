//! What the keywords of each dialect hold, and which of them a draft-07 reader asserts.

use toolpact_schema::Dialect;

/// What the value of a keyword holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// One schema.
    One,
    /// A list of schemas.
    List,
    /// Schemas by name.
    Named,
    /// One schema or a list of them.
    OneOrList,
    /// By name, schemas or lists of property names.
    NamedOrNames,
}

/// What `keyword` holds in `dialect`; `None` where it holds no schema or is not a keyword there.
pub(crate) fn holds(dialect: Dialect, keyword: &str) -> Option<Holds> {
    use Dialect::{Draft6, Draft7, Draft201909, Draft202012};
    let (since, holds) = match keyword {
        "additionalProperties" | "not" => (Dialect::Draft4, Holds::One),
        "additionalItems" if dialect < Draft202012 => (Dialect::Draft4, Holds::One),
        "allOf" | "anyOf" | "oneOf" => (Dialect::Draft4, Holds::List),
        "definitions" | "patternProperties" | "properties" => (Dialect::Draft4, Holds::Named),
        "items" if dialect < Draft202012 => (Dialect::Draft4, Holds::OneOrList),
        "items" => (Draft202012, Holds::One),
        // Gone from 2019-09 on, and still read by most validators, ours among them.
        "dependencies" => (Dialect::Draft4, Holds::NamedOrNames),
        "contains" | "propertyNames" => (Draft6, Holds::One),
        "else" | "if" | "then" => (Draft7, Holds::One),
        "unevaluatedItems" | "unevaluatedProperties" | "contentSchema" => (Draft201909, Holds::One),
        "$defs" | "dependentSchemas" => (Draft201909, Holds::Named),
        "prefixItems" => (Draft202012, Holds::List),
        _ => return None,
    };
    (dialect >= since).then_some(holds)
}

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
