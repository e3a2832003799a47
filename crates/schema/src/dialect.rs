//! The JSON Schema drafts.

use std::fmt;

use jsonschema::Draft;
use serde_json::Value;

/// A JSON Schema draft.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[non_exhaustive]
pub enum Dialect {
    /// Draft 4.
    Draft4,
    /// Draft 6.
    Draft6,
    /// Draft 7.
    Draft7,
    /// Draft 2019-09.
    Draft201909,
    /// Draft 2020-12, the dialect of a schema without `$schema`.
    #[default]
    Draft202012,
}

impl Dialect {
    /// All dialects, oldest first.
    pub const ALL: [Self; 5] =
        [Self::Draft4, Self::Draft6, Self::Draft7, Self::Draft201909, Self::Draft202012];

    /// The URI that names this dialect in `$schema`.
    #[must_use]
    pub const fn uri(self) -> &'static str {
        match self {
            Self::Draft4 => "http://json-schema.org/draft-04/schema#",
            Self::Draft6 => "http://json-schema.org/draft-06/schema#",
            Self::Draft7 => "http://json-schema.org/draft-07/schema#",
            Self::Draft201909 => "https://json-schema.org/draft/2019-09/schema",
            Self::Draft202012 => "https://json-schema.org/draft/2020-12/schema",
        }
    }

    /// Returns the dialect that `uri` names, with or without a trailing `#`.
    #[must_use]
    pub fn from_uri(uri: &str) -> Option<Self> {
        let bare = |uri: &str| uri.trim_end_matches('#').len();
        Self::ALL
            .into_iter()
            .find(|dialect| dialect.uri()[..bare(dialect.uri())] == uri[..bare(uri)])
    }

    /// Returns the dialect that `schema` names in `$schema`, or `None` if it is unknown.
    #[must_use]
    pub fn detect(schema: &Value) -> Option<Self> {
        match schema.get("$schema").and_then(Value::as_str) {
            Some(uri) => Self::from_uri(uri),
            None => Some(Self::default()),
        }
    }

    pub(crate) const fn from_draft(draft: Draft) -> Self {
        match draft {
            Draft::Draft4 => Self::Draft4,
            Draft::Draft6 => Self::Draft6,
            Draft::Draft7 => Self::Draft7,
            Draft::Draft201909 => Self::Draft201909,
            _ => Self::Draft202012,
        }
    }

    pub(crate) const fn draft(self) -> Draft {
        match self {
            Self::Draft4 => Draft::Draft4,
            Self::Draft6 => Draft::Draft6,
            Self::Draft7 => Draft::Draft7,
            Self::Draft201909 => Draft::Draft201909,
            Self::Draft202012 => Draft::Draft202012,
        }
    }
}

impl fmt::Display for Dialect {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Draft4 => "draft-04",
            Self::Draft6 => "draft-06",
            Self::Draft7 => "draft-07",
            Self::Draft201909 => "2019-09",
            Self::Draft202012 => "2020-12",
        })
    }
}
