//! How a schema is compiled.

use std::sync::Arc;

use serde_json::Value;

use crate::{Dialect, Limits, Schema, SchemaError};

/// Settings for compiling schemas.
///
/// ```
/// use serde_json::json;
/// use toolpact_schema::{Dialect, Options};
///
/// let options = Options::default().dialect(Dialect::Draft7).assert_formats(true);
/// let schema = options.compile(&json!({ "format": "date" }))?;
/// assert!(!schema.is_valid(&json!("tomorrow")));
/// # Ok::<(), toolpact_schema::SchemaError>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct Options {
    pub(crate) dialect: Dialect,
    pub(crate) limits: Limits,
    pub(crate) assert_formats: bool,
    /// Shared with every schema that was compiled with them.
    pub(crate) documents: Arc<Vec<(String, Value)>>,
}

impl Options {
    /// The dialect of schemas without `$schema` (2020-12 unless set).
    #[must_use]
    pub fn dialect(mut self, dialect: Dialect) -> Self {
        self.dialect = dialect;
        self
    }

    /// The bounds of admission and validation.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.limits = limits;
        self
    }

    /// Whether `format` is checked; otherwise it is an annotation.
    #[must_use]
    pub fn assert_formats(mut self, yes: bool) -> Self {
        self.assert_formats = yes;
        self
    }

    /// A further document that references may reach, by its URI. The metaschemas of the dialects
    /// are no exception: a schema may refer to one only where it was handed in.
    #[must_use]
    pub fn document(mut self, uri: impl Into<String>, document: Value) -> Self {
        Arc::make_mut(&mut self.documents).push((uri.into(), document));
        self
    }

    pub(crate) fn has_document(&self, uri: &str) -> bool {
        let bare = uri.trim_end_matches('#');
        self.documents.iter().any(|(known, _)| known.trim_end_matches('#') == bare)
    }

    /// Admits and compiles `schema`.
    pub fn compile(&self, schema: &Value) -> Result<Schema, SchemaError> {
        Schema::build(self, schema)
    }
}
