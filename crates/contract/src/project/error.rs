//! Why a tool or a result cannot be projected or lifted.

use toolpact_schema::Pointer;

use crate::{Finding, rules::output_projection::OUTPUT_PROJECTION};

/// A tool or a result that cannot be projected or lifted: where, and why. It is left as it was.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{pointer}: {kind}")]
#[non_exhaustive]
pub struct ProjectError {
    /// The place in the tool or result.
    pub pointer: Pointer,
    /// What stands in the way.
    pub kind: ProjectErrorKind,
}

/// What stands in the way of projecting or lifting.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum ProjectErrorKind {
    /// The tool or the result is no JSON object.
    #[error("expected an object, found {found}")]
    NotAnObject {
        /// The JSON type that stands there.
        found: &'static str,
    },
    /// The output schema is neither an object nor a boolean.
    #[error("expected a schema (an object or a boolean), found {found}")]
    NotASchema {
        /// The JSON type that stands there.
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
    /// `$schema` names a dialect that is not known, so what its references mean is not either.
    #[error("unsupported dialect `{uri}`")]
    UnsupportedDialect {
        /// What `$schema` says.
        uri: String,
    },
    /// A value is data in one place and, by a reference, a schema in another, and the schema would
    /// have to change.
    #[error(
        "is data and, by a reference, a schema; it cannot be changed as one and kept as the other"
    )]
    DataAsSchema,
}

impl ProjectError {
    /// The error as a finding, its pointer starting at the root of the tool or result.
    #[must_use]
    pub fn finding(&self) -> Finding {
        OUTPUT_PROJECTION.finding(self.kind.to_string()).at(self.pointer.clone())
    }

    pub(crate) fn new(pointer: impl Into<Pointer>, kind: ProjectErrorKind) -> Self {
        Self { pointer: pointer.into(), kind }
    }
}
