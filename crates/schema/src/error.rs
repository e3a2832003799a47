//! Why a schema is not admitted.

use crate::{Dialect, Pointer, text::shorten};

/// Why a schema is not admitted, and the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("schema {pointer}: {kind}")]
#[non_exhaustive]
pub struct SchemaError {
    /// The place in the schema.
    pub pointer: Pointer,
    /// The reason.
    pub kind: SchemaErrorKind,
}

/// The reason why a schema is not admitted.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SchemaErrorKind {
    /// The schema is neither an object nor a boolean.
    #[error("expected a schema (an object or a boolean), found {found}")]
    NotASchema {
        /// The JSON type that was found.
        found: &'static str,
    },
    /// `$schema` names an unknown dialect.
    #[error("unsupported dialect `{}`", shorten(uri))]
    UnsupportedDialect {
        /// What `$schema` says.
        uri: String,
    },
    /// The metaschema of the dialect does not allow it.
    #[error("{message}")]
    Metaschema {
        /// The dialect.
        dialect: Dialect,
        /// What is wrong.
        message: String,
        /// What to write instead, if known.
        hint: Option<String>,
    },
    /// A reference points to another document.
    #[error("refers to {} outside this document, which is not fetched", shorten(reference))]
    ExternalReference {
        /// The reference as written.
        reference: String,
    },
    /// A reference points to a place that does not exist.
    #[error("refers to {}, which is not in this document", shorten(reference))]
    DanglingReference {
        /// The reference as written.
        reference: String,
    },
    /// A regular expression is not valid in ECMA-262, or cannot be compiled.
    #[error("`{}` is not a valid regular expression", shorten(pattern))]
    Pattern {
        /// The pattern, shortened.
        pattern: String,
    },
    /// The schema is nested too deeply.
    #[error("{found} nested levels exceed the limit of {limit}")]
    Depth {
        /// The level reached.
        found: usize,
        /// [`Limits::depth`](crate::Limits::depth).
        limit: usize,
    },
    /// The schema has too many subschemas.
    #[error("{found} subschemas exceed the limit of {limit}")]
    Subschemas {
        /// How many there are.
        found: usize,
        /// [`Limits::subschemas`](crate::Limits::subschemas).
        limit: usize,
    },
    /// The schema is too long.
    #[error("{found} bytes exceed the limit of {limit}")]
    Bytes {
        /// How many there are.
        found: usize,
        /// [`Limits::bytes`](crate::Limits::bytes).
        limit: usize,
    },
    /// Compiling would copy too many bytes.
    #[error("compiling copies {found} bytes, more than the limit of {limit}")]
    CopiedBytes {
        /// The bytes up to and including this one.
        found: usize,
        /// [`Limits::copied_bytes`](crate::Limits::copied_bytes).
        limit: usize,
    },
    /// A regular expression is too long.
    #[error("a pattern of {found} bytes exceeds the limit of {limit}")]
    PatternBytes {
        /// Its length.
        found: usize,
        /// [`Limits::pattern_bytes`](crate::Limits::pattern_bytes).
        limit: usize,
    },
    /// The regular expressions compile to too many states.
    #[error("patterns of {found} states exceed the limit of {limit}")]
    PatternStates {
        /// The states of all patterns up to and including this one.
        found: usize,
        /// [`Limits::pattern_states`](crate::Limits::pattern_states).
        limit: usize,
    },
    /// There are too many paths through embedded resources.
    #[error("{found} paths through embedded resources exceed the limit of {limit}")]
    Scopes {
        /// The number of paths, or [`usize::MAX`] if there are too many to count.
        found: usize,
        /// [`Limits::scopes`](crate::Limits::scopes).
        limit: usize,
    },
    /// Keywords would visit one place of an instance too often.
    #[error("{found} visits of one place in the instance exceed the limit of {limit}")]
    Expansion {
        /// The number of visits, or [`usize::MAX`] if there are too many to count.
        found: usize,
        /// [`Limits::expansion`](crate::Limits::expansion).
        limit: usize,
    },
}

impl SchemaErrorKind {
    /// Whether the schema exceeds one of the [`Limits`](crate::Limits).
    #[must_use]
    pub const fn is_limit(&self) -> bool {
        self.limit().is_some()
    }

    /// Returns the name of the exceeded limit (one of [`Limits::NAMES`](crate::Limits::NAMES)), if there is one.
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

    /// What to do about it, if known.
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
