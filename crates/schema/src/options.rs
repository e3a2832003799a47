//! Options for compiling schemas.

use std::sync::Arc;

use serde_json::Value;

use crate::{Dialect, Limits};

/// Options for compiling schemas.
///
/// ```
/// use serde_json::json;
/// use toolbond_schema::{Dialect, Options};
///
/// let options = Options::default().dialect(Dialect::Draft7).assert_formats(true);
/// let schema = options.compile(&json!({ "format": "date" }))?;
/// assert!(!schema.is_valid(&json!("tomorrow")));
/// # Ok::<(), toolbond_schema::SchemaError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub(crate) dialect: Dialect,
    pub(crate) limits: Limits,
    pub(crate) assert_formats: bool,
    /// Shared by all schemas that were compiled with these options.
    pub(crate) documents: Arc<Vec<(String, Value)>>,
}

impl Options {
    /// The dialect of schemas without `$schema` (2020-12 by default).
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// The limits on schemas and validations.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// The limits that were set, or the default ones.
    #[must_use]
    pub fn get_limits(&self) -> &Limits {
        &self.limits
    }

    /// Whether to check `format`. By default it is an annotation. `idn-hostname` and `idn-email` are checked only with the
    /// feature `idna`, which is on by default.
    #[must_use]
    pub fn assert_formats(mut self, yes: bool) -> Self {
        self.assert_formats = yes;
        self
    }

    /// Adds a document that references may point to by its URI. A schema may refer to a metaschema only if it was added
    /// in this way ([`metaschemas`](crate::metaschemas)).
    #[must_use]
    pub fn document(mut self, uri: impl Into<String>, document: Value) -> Self {
        Arc::make_mut(&mut self.documents).push((uri.into(), document));
        self
    }

    pub(crate) fn has_document(&self, uri: &str) -> bool {
        let bare = uri.trim_end_matches('#');
        self.documents.iter().any(|(known, _)| known.trim_end_matches('#') == bare)
    }
}
