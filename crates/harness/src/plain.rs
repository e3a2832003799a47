//! The plain `jsonschema` crate, the peer that verdicts are compared with.

use std::collections::HashMap;
use std::error::Error;

use jsonschema::{Draft, Validator};
use referencing::{Registry, Retrieve, Uri};
use serde_json::Value;
use toolbond_schema::Dialect;

/// The plain crate's draft for `dialect`.
pub fn draft(dialect: Dialect) -> Draft {
    match dialect {
        Dialect::Draft4 => Draft::Draft4,
        Dialect::Draft6 => Draft::Draft6,
        Dialect::Draft7 => Draft::Draft7,
        Dialect::Draft201909 => Draft::Draft201909,
        _ => Draft::Draft202012,
    }
}

/// Compiles `schema` as the plain crate does, `dialect` being that of a schema without `$schema`;
/// the text of the error where it does not.
pub fn compile(
    dialect: Dialect,
    assert_formats: bool,
    documents: &[(String, Value)],
    schema: &Value,
) -> Result<Validator, String> {
    let draft = draft(dialect);
    let uri = schema.get(if dialect == Dialect::Draft4 { "id" } else { "$id" });
    let uri = uri.and_then(Value::as_str).unwrap_or("json-schema:///");
    let registry = Registry::new()
        .draft(draft)
        .retriever(InMemory(documents.iter().cloned().collect()))
        .add(uri, schema)
        .and_then(referencing::RegistryBuilder::prepare)
        .map_err(|error| error.to_string())?;
    let mut options = jsonschema::options()
        .offline()
        .should_validate_formats(assert_formats)
        .with_registry(&registry);
    if schema.get("$schema").is_none() {
        options = options.with_draft(draft);
    }
    options.build(schema).map_err(|error| error.to_string())
}

/// Documents that are found when a schema refers to them.
struct InMemory(HashMap<String, Value>);

impl Retrieve for InMemory {
    fn retrieve(&self, uri: &Uri<String>) -> Result<Value, Box<dyn Error + Send + Sync>> {
        self.0.get(uri.as_str()).cloned().ok_or_else(|| format!("no document {uri}").into())
    }
}
