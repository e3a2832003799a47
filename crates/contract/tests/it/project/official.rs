//! The official suite, each schema as the output schema of a tool.

use libtest_mimic::Failed;
use serde_json::{Value, json};
use toolbond_harness::suite::{self, File, Kind};
use toolbond_harness::trials::check_all;
use toolbond_schema::{Dialect, Schema};

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

/// Checks every group of `file`.
pub(crate) fn check_each(
    file: &File,
    check: impl Fn(&Example) -> Result<(), Failed>,
) -> Result<(), Failed> {
    check_all(examples(file).into_iter().map(|example| (example.name.clone(), example)), check)
}

impl Example {
    /// Fails unless `schema` has the verdicts that the suite expects.
    pub(crate) fn assert_verdicts(&self, schema: &Schema) {
        for (description, value, valid) in &self.values {
            let is_right = schema.is_valid(value) == *valid;
            let source = schema.source();
            assert!(is_right, "{description}: {value} should be {valid} under {source}");
        }
    }
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
