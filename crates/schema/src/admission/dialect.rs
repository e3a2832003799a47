//! The dialect that a schema is read in.

use serde_json::Value;

use crate::{Dialect, Options, Pointer, SchemaError, SchemaErrorKind};

/// The dialect of a whole schema: `None` where a document that was handed in defines it.
pub(crate) fn dialect(options: &Options, schema: &Value) -> Result<Option<Dialect>, SchemaError> {
    let at_root = |kind| SchemaError { pointer: Pointer::root(), kind };
    match schema {
        Value::Bool(_) => Ok(Some(options.dialect)),
        Value::Object(members) => match members.get("$schema").and_then(Value::as_str) {
            None => Ok(Some(options.dialect)),
            Some(uri) => known_dialect(options, uri)
                .map_err(|kind| SchemaError { pointer: Pointer::root().join("$schema"), kind }),
        },
        other => Err(at_root(SchemaErrorKind::NotASchema { found: type_name(other) })),
    }
}

pub(super) fn known_dialect(
    options: &Options,
    uri: &str,
) -> Result<Option<Dialect>, SchemaErrorKind> {
    match Dialect::from_uri(uri) {
        Some(dialect) => Ok(Some(dialect)),
        None if options.has_document(uri) => Ok(None),
        None => Err(SchemaErrorKind::UnsupportedDialect { uri: uri.to_owned() }),
    }
}

pub(crate) const fn type_name(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    }
}
