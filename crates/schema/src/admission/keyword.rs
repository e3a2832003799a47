//! What the keywords of all dialects hold, as far as admission needs to know.

/// How a subschema is applied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Applied {
    /// To the same place of the instance.
    InPlace,
    /// To a member, an element or a name.
    ToChild,
    /// Only where something refers to it.
    ByReference,
}

/// What a keyword holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// A subschema, or an array of them.
    Schemas(Applied),
    /// An object whose values are subschemas (or, in `dependencies`, lists of names).
    Members(Applied),
    /// Like `Members`, and its names are patterns.
    PatternMembers,
    /// A reference.
    Reference,
    /// A reference that the dynamic scope decides.
    DynamicReference,
    /// A regular expression.
    Pattern,
    /// A name or a base for references.
    Identifier,
    /// A name that dynamic references look for.
    DynamicAnchor,
    /// Data, or something that admission does not look into.
    Other,
}

/// What `keyword` holds in any dialect.
pub(crate) fn holds(keyword: &str) -> Holds {
    match keyword {
        "allOf" | "anyOf" | "oneOf" | "not" | "if" | "then" | "else" => {
            Holds::Schemas(Applied::InPlace)
        }
        "items"
        | "prefixItems"
        | "additionalItems"
        | "unevaluatedItems"
        | "contains"
        | "additionalProperties"
        | "unevaluatedProperties"
        | "propertyNames" => Holds::Schemas(Applied::ToChild),
        "contentSchema" => Holds::Schemas(Applied::ByReference),
        "properties" => Holds::Members(Applied::ToChild),
        "patternProperties" => Holds::PatternMembers,
        "dependentSchemas" | "dependencies" => Holds::Members(Applied::InPlace),
        "$defs" | "definitions" => Holds::Members(Applied::ByReference),
        "$ref" => Holds::Reference,
        "$dynamicRef" | "$recursiveRef" => Holds::DynamicReference,
        "pattern" => Holds::Pattern,
        "$id" | "id" | "$anchor" => Holds::Identifier,
        "$dynamicAnchor" | "$recursiveAnchor" => Holds::DynamicAnchor,
        _ => Holds::Other,
    }
}
