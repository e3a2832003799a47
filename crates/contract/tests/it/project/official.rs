//! The official suite, each schema as the output schema of a tool.

use serde_json::{Value, json};
use toolbond_harness::suite::{self, File, Kind};
use toolbond_schema::Dialect;

/// A tool whose output schema is one of the suite, and the values it is tried on.
pub(crate) struct Example {
    /// File and group.
    pub(crate) name: String,
    /// The tool.
    pub(crate) tool: Value,
    /// Description, value, and whether it is valid.
    pub(crate) values: Vec<(String, Value, bool)>,
}

/// Whether a file asks for what every validator must do.
pub(crate) fn is_meant(file: &File) -> bool {
    file.kind == Kind::Required
}

/// The required files of all dialects.
pub(crate) fn files() -> Vec<File> {
    suite::files().into_iter().filter(is_meant).collect()
}

/// The groups of `file`; a schema that does not name its dialect gets to.
pub(crate) fn examples(file: &File) -> Vec<Example> {
    let groups = file.groups().into_iter();
    groups
        .map(|group| {
            let mut schema = group.schema;
            if let Value::Object(schema) = &mut schema
                && file.dialect != Dialect::Draft202012
                && !schema.contains_key("$schema")
            {
                schema.shift_insert(0, "$schema".to_owned(), file.dialect.uri().into());
            }
            Example {
                name: format!("{}: {}", file.name, group.description),
                tool: json!({
                    "name": "example",
                    "inputSchema": { "type": "object" },
                    "outputSchema": schema
                }),
                values: group
                    .tests
                    .into_iter()
                    .map(|case| (case.description, case.data, case.valid))
                    .collect(),
            }
        })
        .collect()
}

/// A result with `value` as its structured content.
pub(crate) fn result(value: &Value) -> Value {
    json!({ "content": [{ "type": "text", "text": "" }], "structuredContent": value })
}

/// Whether two values are the same to the order of their members.
pub(crate) fn is_same(one: &Value, other: &Value) -> bool {
    let (one, other) = (one.to_string(), other.to_string());
    one == other
}
