//! Why a schema is not admitted.

use crate::{Dialect, Pointer};

/// A schema that was not admitted: where, and which rule.
#[derive(Debug, thiserror::Error)]
#[error("schema {pointer}: {kind}")]
pub struct SchemaError {
    /// The place in the schema.
    pub pointer: Pointer,
    /// The rule it breaks.
    pub kind: SchemaErrorKind,
}

/// The rules of admission.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaErrorKind {
    /// Neither an object nor a boolean.
    #[error("expected a schema (an object or a boolean), found {found}")]
    NotASchema {
        /// The JSON type that stands there.
        found: &'static str,
    },
    /// `$schema` names a dialect that is not known.
    #[error("unsupported dialect `{uri}`")]
    UnsupportedDialect {
        /// What `$schema` says.
        uri: String,
    },
    /// The dialect's metaschema does not allow it.
    #[error("{message}")]
    Metaschema {
        /// The dialect that was asked.
        dialect: Dialect,
        /// What is wrong.
        message: String,
        /// What to write instead, where that is known.
        hint: Option<String>,
    },
    /// A reference that leaves the document.
    #[error("refers to {reference} outside this document; toolpact never fetches")]
    ExternalReference {
        /// The reference as written.
        reference: String,
    },
    /// A reference within the document to a place that is not there.
    #[error("refers to {reference}, which is not in this document")]
    DanglingReference {
        /// The reference as written.
        reference: String,
    },
    /// A regular expression that ECMA-262 does not allow or that cannot be compiled.
    #[error("`{pattern}` is not a regular expression that can be compiled")]
    Pattern {
        /// The pattern, shortened.
        pattern: String,
    },
    /// Too many nested JSON containers.
    #[error("{found} nested levels exceed the limit of {limit}")]
    Depth {
        /// The level reached.
        found: usize,
        /// [`Limits::depth`](crate::Limits::depth).
        limit: usize,
    },
    /// Too many subschemas.
    #[error("{found} subschemas exceed the limit of {limit}")]
    Subschemas {
        /// How many there are.
        found: usize,
        /// [`Limits::subschemas`](crate::Limits::subschemas).
        limit: usize,
    },
    /// Too many bytes.
    #[error("{found} bytes exceed the limit of {limit}")]
    Bytes {
        /// How many there are.
        found: usize,
        /// [`Limits::bytes`](crate::Limits::bytes).
        limit: usize,
    },
    /// URIs and pointers of subschemas that are too long, all together.
    #[error("places of {found} bytes, named for all subschemas, exceed the limit of {limit}")]
    PathBytes {
        /// The bytes up to and including this one.
        found: usize,
        /// [`Limits::path_bytes`](crate::Limits::path_bytes).
        limit: usize,
    },
    /// A regular expression that is too long.
    #[error("a pattern of {found} bytes exceeds the limit of {limit}")]
    PatternBytes {
        /// Its length.
        found: usize,
        /// [`Limits::pattern_bytes`](crate::Limits::pattern_bytes).
        limit: usize,
    },
    /// Regular expressions that compile to too many states.
    #[error("patterns of {found} states exceed the limit of {limit}")]
    PatternStates {
        /// The states of all patterns up to and including this one.
        found: usize,
        /// [`Limits::pattern_states`](crate::Limits::pattern_states).
        limit: usize,
    },
    /// Keywords that visit one place of an instance too often.
    #[error("{found} visits of one place in the instance exceed the limit of {limit}")]
    Expansion {
        /// The visits, [`usize::MAX`] where they cannot be counted.
        found: usize,
        /// [`Limits::expansion`](crate::Limits::expansion).
        limit: usize,
    },
}

impl SchemaErrorKind {
    /// Whether one of the [`Limits`](crate::Limits) is exceeded.
    #[must_use]
    pub const fn is_limit(&self) -> bool {
        matches!(
            self,
            Self::Depth { .. }
                | Self::Subschemas { .. }
                | Self::Bytes { .. }
                | Self::PathBytes { .. }
                | Self::PatternBytes { .. }
                | Self::PatternStates { .. }
                | Self::Expansion { .. }
        )
    }

    /// What to do about it, where that is known.
    #[must_use]
    pub fn hint(&self) -> Option<String> {
        match self {
            Self::Metaschema { hint, .. } => hint.clone(),
            Self::UnsupportedDialect { .. } => Some(format!(
                "leave `$schema` out for 2020-12, or name one of {}",
                Dialect::ALL.map(|dialect| format!("`{}`", dialect.uri())).join(", ")
            )),
            Self::ExternalReference { .. } => {
                Some("copy the definition into `$defs` and refer to it as `#/$defs/…`".to_owned())
            }
            _ => None,
        }
    }
}
