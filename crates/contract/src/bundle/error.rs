//! Why a schema cannot be bundled.

use std::borrow::Cow;

use toolbond_schema::{Dialect, Pointer};

use crate::project::{ProjectError, ProjectErrorKind};

/// Why a schema cannot be bundled, and the place.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{}{pointer}: {kind}", shorten(document.as_deref().unwrap_or_default()))]
#[non_exhaustive]
pub struct BundleError {
    /// The URI of the document; `None` is the schema itself.
    pub document: Option<String>,
    /// The place in the document.
    pub pointer: Pointer,
    /// The reason.
    pub kind: BundleErrorKind,
}

/// The reason why a schema cannot be bundled.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum BundleErrorKind {
    /// A reference is relative, and nothing says to what.
    #[error(
        "`{}` is relative, and the schema has no base; give it an absolute `$id`",
        shorten(reference)
    )]
    RelativeReference {
        /// The reference as written.
        reference: String,
    },
    /// A reference or a base is not a URI, or cannot be resolved against its base.
    #[error("`{}` is not a valid URI here", shorten(uri))]
    InvalidUri {
        /// The reference or base as written.
        uri: String,
    },
    /// The document that a reference names is not at hand.
    #[error("refers to {}, which is not at hand", shorten(uri))]
    Missing {
        /// The URI of the document.
        uri: String,
    },
    /// The document that a reference names is at hand, and has nothing at the fragment.
    #[error("`{}` leads to nothing in its document", shorten(reference))]
    DanglingReference {
        /// The reference as written.
        reference: String,
    },
    /// `$schema` names an unknown dialect.
    #[error("unsupported dialect `{}`", shorten(uri))]
    UnsupportedDialect {
        /// What `$schema` says.
        uri: String,
    },
    /// Two different schemas have the same URI.
    #[error("another document has a different schema under the same URI, {}", shorten(uri))]
    Conflict {
        /// The URI.
        uri: String,
    },
    /// A reference has to be written differently, and is inside data, such as a `default`.
    #[error("a reference uses this data as a schema; bundling the schema would change the data")]
    DataAsSchema,
    /// A reference leads to a keyword that has no effect beside `$ref`. It cannot stay there once the document gets an
    /// `$id`, which would have no effect either.
    #[error("`{}` leads to a keyword that {dialect} ignores beside `$ref`", shorten(reference))]
    IgnoredTarget {
        /// The reference as written.
        reference: String,
        /// The dialect of the document that it leads to.
        dialect: Dialect,
    },
    /// In the bundle the reference would lead elsewhere, or nowhere.
    #[error("in the bundle the reference `{}` would lead elsewhere", shorten(reference))]
    LostReference {
        /// The reference as written.
        reference: String,
    },
    /// The schema refers to more than 1000 documents.
    #[error("more than {limit} documents")]
    Documents {
        /// The limit.
        limit: usize,
    },
    /// The schema and the documents that it refers to are larger than 16 MiB.
    #[error("{found} bytes, with all documents so far, exceed the limit of {limit}")]
    Bytes {
        /// The bytes of the schema and the documents that were read so far.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// A document is not a schema, or exceeds a limit on depth, pointers or URIs.
    #[error(transparent)]
    Unreadable(ProjectErrorKind),
}

impl BundleError {
    pub(super) fn new(
        document: Option<&str>,
        pointer: impl Into<Pointer>,
        kind: BundleErrorKind,
    ) -> Self {
        Self { document: document.map(str::to_owned), pointer: pointer.into(), kind }
    }

    /// Adds the document in which a map or a check failed.
    pub(super) fn in_document(document: Option<&str>) -> impl Fn(ProjectError) -> Self + use<'_> {
        move |error| {
            let kind = match error.kind {
                ProjectErrorKind::UnsupportedDialect { uri } => {
                    BundleErrorKind::UnsupportedDialect { uri }
                }
                kind => BundleErrorKind::Unreadable(kind),
            };
            Self::new(document, error.pointer, kind)
        }
    }
}

/// Returns the first 200 characters of a URI, with `…` if there are more.
fn shorten(uri: &str) -> Cow<'_, str> {
    match uri.char_indices().nth(200) {
        Some((end, _)) => format!("{}…", &uri[..end]).into(),
        None => uri.into(),
    }
}
