//! Documents at hand, and those that are missing.

use std::sync::Arc;

use serde_json::Value;
use toolbond_schema::Pointer;

/// Documents in a bundle.
pub(super) const MAX_DOCUMENTS: usize = 1000;

/// Bytes of a schema and all its documents, written as compact JSON.
pub(super) const MAX_BYTES: usize = 1 << 24;

/// A document that references lead to.
#[derive(Clone, Debug, PartialEq)]
pub struct Document {
    /// The URI that it was asked for by, without a fragment.
    pub uri: String,
    /// The URI that it was found at, after redirects; else the same as `uri`.
    pub base: String,
    /// The document.
    pub value: Arc<Value>,
}

impl Document {
    /// A document that was found at the URI that it was asked for by.
    pub fn new(uri: impl Into<String>, value: impl Into<Arc<Value>>) -> Self {
        let uri = uri.into();
        Self { base: uri.clone(), uri, value: value.into() }
    }
}

/// A document that a schema refers to and that is not at hand.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Missing {
    /// Its URI: absolute, normalized, without a fragment.
    pub uri: String,
    /// The first reference to it, as written.
    pub reference: String,
    /// The `uri` of the [`Document`] that contains the reference; `None` is the schema itself.
    pub from: Option<String>,
    /// The place of the reference in that document, such as `/properties/a/$ref`.
    pub pointer: Pointer,
}
