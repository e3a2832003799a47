//! The table of keywords whose values contain schemas.

use crate::Dialect;

/// How the value of a keyword contains schemas.
///
/// ```
/// use toolbond_schema::{Dialect, Subschemas};
///
/// assert_eq!(Subschemas::under("properties"), Some(Subschemas::Named));
/// assert_eq!(Subschemas::under("default"), None);
/// assert_eq!(Subschemas::under_in("prefixItems", Dialect::Draft7), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Subschemas {
    /// The value is a schema.
    One,
    /// The value is an array of schemas.
    List,
    /// The value is an object whose members are schemas.
    Named,
    /// The value is a schema or an array of schemas.
    OneOrList,
    /// The value is an object whose members are schemas or arrays of property names.
    NamedOrNames,
}

/// The place of the instance to which a subschema applies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Applied {
    /// The place to which the schema around it applies.
    InPlace,
    /// A member, an element or a property name.
    ToChild,
    /// None: the subschema applies only where something refers to it.
    ByReference,
}

/// A row of the table.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Keyword {
    pub(crate) subschemas: Subschemas,
    pub(crate) applied: Applied,
    /// The first dialect that knows the keyword.
    since: Dialect,
}

/// Returns the row of `keyword`, if its value contains schemas in any dialect.
pub(crate) fn find(keyword: &str) -> Option<Keyword> {
    use Applied::{ByReference, InPlace, ToChild};
    use Dialect::{Draft4, Draft6, Draft7, Draft201909, Draft202012};
    use Subschemas::{List, Named, NamedOrNames, One, OneOrList};
    let (subschemas, applied, since) = match keyword {
        "$defs" => (Named, ByReference, Draft201909),
        "additionalItems" | "additionalProperties" => (One, ToChild, Draft4),
        "allOf" | "anyOf" | "oneOf" => (List, InPlace, Draft4),
        "contains" | "propertyNames" => (One, ToChild, Draft6),
        "contentSchema" => (One, ByReference, Draft201909),
        "definitions" => (Named, ByReference, Draft4),
        // Removed in 2019-09, but most validators still read it, and so does this one.
        "dependencies" => (NamedOrNames, InPlace, Draft4),
        "dependentSchemas" => (Named, InPlace, Draft201909),
        "else" | "if" | "then" => (One, InPlace, Draft7),
        "items" => (OneOrList, ToChild, Draft4),
        "not" => (One, InPlace, Draft4),
        "patternProperties" | "properties" => (Named, ToChild, Draft4),
        "prefixItems" => (List, ToChild, Draft202012),
        "unevaluatedItems" | "unevaluatedProperties" => (One, ToChild, Draft201909),
        _ => return None,
    };
    Some(Keyword { subschemas, applied, since })
}

impl Subschemas {
    /// Returns how the value of `keyword` contains schemas, in any dialect. Returns `None` if it does not, as in
    /// `default` and `enum`.
    #[must_use]
    pub fn under(keyword: &str) -> Option<Self> {
        find(keyword).map(|row| row.subschemas)
    }

    /// Returns how the value of `keyword` contains schemas in `dialect`. Returns `None` if it does not, or if the
    /// dialect does not know the keyword.
    #[must_use]
    pub fn under_in(keyword: &str, dialect: Dialect) -> Option<Self> {
        let row = find(keyword).filter(|row| dialect >= row.since)?;
        match keyword {
            "items" if dialect >= Dialect::Draft202012 => Some(Self::One),
            "additionalItems" if dialect >= Dialect::Draft202012 => None,
            _ => Some(row.subschemas),
        }
    }
}
