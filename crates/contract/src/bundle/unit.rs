//! The schema or a document, with the map of its references.

use serde_json::Value;
use toolbond_schema::Dialect;

use crate::project::bounds;
use crate::project::schema_map::{Keywords, Reading, SchemaMap, Target};
use crate::project::uri;

use super::error::{BundleError, BundleErrorKind};

/// Levels of a bundle around an embedded document.
const LEVELS_AROUND: usize = 2;

/// The schema or a document.
pub(super) struct Unit<'a> {
    /// The URI that the document was asked for by; `None` is the schema itself.
    pub(super) uri: Option<String>,
    pub(super) value: &'a Value,
    pub(super) map: SchemaMap<'a>,
    /// How many references were looked at.
    pub(super) followed: usize,
    /// Whether it is part of the bundle.
    pub(super) is_reached: bool,
}

impl<'a> Unit<'a> {
    pub(super) fn new(uri: Option<String>, value: &'a Value, map: SchemaMap<'a>) -> Self {
        Self { uri, value, map, followed: 0, is_reached: false }
    }

    /// The dialect of the document.
    pub(super) fn dialect(&self) -> Dialect {
        self.map.places[0].dialect
    }

    /// The absolute URI of the document.
    pub(super) fn identity(&self) -> &str {
        self.map.base(0)
    }

    /// Whether `target` has the name of the top in draft-07 and before, where it is a part of the `$id`, which an
    /// embedded document gets another one for.
    pub(super) fn loses_name(&self, target: Target) -> bool {
        target.by_name && target.place == 0 && self.dialect() <= Dialect::Draft7
    }

    /// Whether only `$ref` has an effect at the top.
    pub(super) fn is_silenced(&self) -> bool {
        self.dialect() <= Dialect::Draft7 && self.value.get("$ref").is_some_and(Value::is_string)
    }

    pub(super) fn error(&self, link: usize, kind: BundleErrorKind) -> BundleError {
        let link = &self.map.links[link];
        let pointer = format!("{}/{}", self.map.places[link.holder].pointer, link.keyword);
        BundleError::new(self.uri.as_deref(), pointer.as_str(), kind)
    }
}

/// What reading documents takes, all together.
#[derive(Default)]
pub(super) struct Reader {
    pointer_bytes: usize,
    uri_bytes: usize,
}

impl Reader {
    /// Reads the document that was asked for as `uri`, or the schema itself.
    pub(super) fn read<'a>(
        &mut self,
        uri: Option<&str>,
        value: &'a Value,
        base: &str,
        dialect: Dialect,
    ) -> Result<SchemaMap<'a>, BundleError> {
        let keywords = Keywords::AnyDialect;
        let reading = Reading { base: base.to_owned(), dialect, keywords };
        let read = || {
            match uri {
                None => bounds::check(value, "", bounds::MAX_DEPTH)?,
                Some(_) => bounds::check_below(value, LEVELS_AROUND, bounds::MAX_PROJECTED_DEPTH)?,
            }
            self.pointer_bytes = self.pointer_bytes.saturating_add(bounds::pointer_bytes(value));
            bounds::check_total(self.pointer_bytes, "")?;
            let map = SchemaMap::build_as(value, reading)?;
            self.count_uris(map.uri_bytes)?;
            Ok(map)
        };
        read().map_err(BundleError::in_document(uri))
    }

    /// Counts the bytes of URIs.
    pub(super) fn count_uris(&mut self, bytes: usize) -> Result<(), crate::ProjectError> {
        self.uri_bytes = self.uri_bytes.saturating_add(bytes);
        bounds::check_uris(self.uri_bytes)
    }
}

/// Normalizes the URI of a document.
pub(super) fn absolute(uri: &str) -> Result<String, BundleError> {
    uri::absolute(uri).ok_or_else(|| {
        let kind = BundleErrorKind::InvalidUri { uri: uri.to_owned() };
        BundleError::new(None, "", kind)
    })
}
