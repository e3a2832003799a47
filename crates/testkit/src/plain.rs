//! The plain `jsonschema` crate, the peer that verdicts are compared with.

use jsonschema::{Draft, Validator};
use referencing::Registry;
use serde_json::Value;
use toolpact_schema::Dialect;

/// The plain crate's draft for `dialect`.
#[must_use]
pub fn draft(dialect: Dialect) -> Draft {
    match dialect {
        Dialect::Draft4 => Draft::Draft4,
        Dialect::Draft6 => Draft::Draft6,
        Dialect::Draft7 => Draft::Draft7,
        Dialect::Draft201909 => Draft::Draft201909,
        _ => Draft::Draft202012,
    }
}

/// Documents that schemas may refer to, read as `dialect` where they do not say.
///
/// # Panics
///
/// Where a document is not one that the plain crate takes.
#[must_use]
pub fn registry(dialect: Dialect, documents: &[(String, Value)]) -> Registry<'static> {
    Registry::new()
        .draft(draft(dialect))
        .extend(documents.iter().map(|(uri, document)| (uri.clone(), document.clone())))
        .and_then(referencing::RegistryBuilder::prepare)
        .unwrap_or_else(|error| panic!("the plain crate refuses the documents: {error}"))
}

/// Compiles `schema` as the plain crate does, `dialect` being that of a schema without `$schema`;
/// the text of the error where it does not.
pub fn compile(
    dialect: Dialect,
    assert_formats: bool,
    registry: Option<&Registry<'_>>,
    schema: &Value,
) -> Result<Validator, String> {
    let mut options = jsonschema::options().offline().should_validate_formats(assert_formats);
    if schema.get("$schema").is_none() {
        options = options.with_draft(draft(dialect));
    }
    match registry {
        Some(registry) => options.with_registry(registry).build(schema),
        None => options.build(schema),
    }
    .map_err(|error| error.to_string())
}
