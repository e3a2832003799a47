//! What admission does with the value of a keyword.

use crate::Subschemas;
use crate::subschemas::{self, Applied};

/// What a keyword holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Holds {
    /// A subschema, or an array of them.
    Schemas(Applied),
    /// An object whose members are subschemas (or, in `dependencies`, arrays of names).
    Members(Applied),
    /// Like `Members`, with patterns as names.
    PatternMembers,
    /// A reference.
    Reference,
    /// A reference that the dynamic scope resolves.
    DynamicReference,
    /// A regular expression.
    Pattern,
    /// A name or a base for references.
    Identifier,
    /// A name that dynamic references look for.
    DynamicAnchor,
    /// Data, or anything else that admission does not look into.
    Other,
}

/// Returns what `keyword` holds in any dialect.
pub(crate) fn holds(keyword: &str) -> Holds {
    if let Some(row) = subschemas::find(keyword) {
        return match row.subschemas {
            Subschemas::Named if keyword == "patternProperties" => Holds::PatternMembers,
            Subschemas::Named | Subschemas::NamedOrNames => Holds::Members(row.applied),
            Subschemas::One | Subschemas::List | Subschemas::OneOrList => {
                Holds::Schemas(row.applied)
            }
        };
    }
    match keyword {
        "$ref" => Holds::Reference,
        "$dynamicRef" | "$recursiveRef" => Holds::DynamicReference,
        "pattern" => Holds::Pattern,
        "$id" | "id" | "$anchor" => Holds::Identifier,
        "$dynamicAnchor" | "$recursiveAnchor" => Holds::DynamicAnchor,
        _ => Holds::Other,
    }
}
