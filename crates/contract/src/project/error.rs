//! Why a tool or a result cannot be projected, lifted or converted.

use toolbond_schema::Pointer;

use crate::{Finding, rules::output_projection::OUTPUT_PROJECTION};

/// Why a tool or a result cannot be projected or lifted, or a schema not converted, and the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{pointer}: {kind}")]
#[non_exhaustive]
pub struct ProjectError {
    /// The place in the tool or result.
    pub pointer: Pointer,
    /// The reason.
    pub kind: ProjectErrorKind,
}

/// The reason why a tool or a result cannot be projected or lifted, or a schema not converted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectErrorKind {
    /// The tool or the result is not a JSON object.
    #[error("expected an object, found {found}")]
    NotAnObject {
        /// The JSON type that was found.
        found: &'static str,
    },
    /// The output schema is neither an object nor a boolean.
    #[error("expected a schema (an object or a boolean), found {found}")]
    NotASchema {
        /// The JSON type that was found.
        found: &'static str,
    },
    /// The schema or the structured content is nested more than 256 levels deep, or the projected tool or result more
    /// than 120.
    #[error("more than {limit} nested levels")]
    Depth {
        /// The limit.
        limit: usize,
    },
    /// The JSON Pointers to all places of the schema take more than 64 MiB together.
    #[error("{found} bytes of pointers to its places exceed the limit of {limit}")]
    PointerBytes {
        /// The bytes of the pointers to all places, together.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// The URIs that the names and references of the schema resolve to take more than 16 MiB together.
    #[error("{found} bytes of URIs, each resolved against its base, exceed the limit of {limit}")]
    UriBytes {
        /// The bytes of the URIs that were resolved, together, when the limit was passed.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// `$schema` names an unknown dialect, so the meaning of its references is unknown too.
    #[error("unsupported dialect `{uri}`")]
    UnsupportedDialect {
        /// What `$schema` says.
        uri: String,
    },
    /// A reference uses data, such as a `default`, as a schema. Converting the schema would change the data.
    #[error("a reference uses this data as a schema; converting the schema would change the data")]
    DataAsSchema,
    /// A schema inside names another dialect than the one around it, and has no `$id`: readers differ about it.
    #[error("`$schema` names another dialect without an `$id`; readers differ about its effect")]
    NestedDialect,
    /// Schemas of several dialects are in play, and a reference depends on the path by which it is reached.
    #[error("a `{keyword}` among schemas of several dialects or documents cannot be converted")]
    DynamicReference {
        /// `$dynamicRef` or `$recursiveRef`.
        keyword: &'static str,
    },
    /// In 2020-12 the reference would lead elsewhere, or nowhere.
    #[error("the reference `{reference}` would lead elsewhere")]
    LostReference {
        /// The reference as written.
        reference: String,
    },
}

impl ProjectError {
    /// Converts the error to a finding, with a pointer that starts at the root of the tool or result.
    #[must_use]
    pub fn finding(&self) -> Finding {
        OUTPUT_PROJECTION.finding(self.kind.to_string()).at(self.pointer.clone())
    }

    pub(crate) fn new(pointer: impl Into<Pointer>, kind: ProjectErrorKind) -> Self {
        Self { pointer: pointer.into(), kind }
    }
}
