//! Why a schema is not admitted.

use crate::{Dialect, Pointer, explain::shorten};

/// A schema that was not admitted: where, and which rule.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("schema {pointer}: {kind}")]
#[non_exhaustive]
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
    #[error("unsupported dialect `{}`", shorten(uri))]
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
    #[error("refers to {} outside this document; toolpact never fetches", shorten(reference))]
    ExternalReference {
        /// The reference as written.
        reference: String,
    },
    /// A reference within the document to a place that is not there.
    #[error("refers to {}, which is not in this document", shorten(reference))]
    DanglingReference {
        /// The reference as written.
        reference: String,
    },
    /// A regular expression that ECMA-262 does not allow or that cannot be compiled.
    #[error("`{}` is not a regular expression that can be compiled", shorten(pattern))]
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
    /// Too much that compiling would copy.
    #[error("{found} bytes that compiling copies exceed the limit of {limit}")]
    CopiedBytes {
        /// The bytes up to and including this one.
        found: usize,
        /// [`Limits::copied_bytes`](crate::Limits::copied_bytes).
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
    /// Too many ways through embedded resources.
    #[error("{found} ways through embedded resources exceed the limit of {limit}")]
    Scopes {
        /// The ways, [`usize::MAX`] where they cannot be counted.
        found: usize,
        /// [`Limits::scopes`](crate::Limits::scopes).
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
        self.limit().is_some()
    }

    /// The name of the limit (one of [`Limits::NAMES`](crate::Limits::NAMES)) that is exceeded, if one
    /// is.
    #[must_use]
    pub const fn limit(&self) -> Option<&'static str> {
        match self {
            Self::Depth { .. } => Some("depth"),
            Self::Subschemas { .. } => Some("subschemas"),
            Self::Bytes { .. } => Some("bytes"),
            Self::CopiedBytes { .. } => Some("copied-bytes"),
            Self::PatternBytes { .. } => Some("pattern-bytes"),
            Self::PatternStates { .. } => Some("pattern-states"),
            Self::Scopes { .. } => Some("scopes"),
            Self::Expansion { .. } => Some("expansion"),
            Self::NotASchema { .. }
            | Self::UnsupportedDialect { .. }
            | Self::Metaschema { .. }
            | Self::ExternalReference { .. }
            | Self::DanglingReference { .. }
            | Self::Pattern { .. } => None,
        }
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
