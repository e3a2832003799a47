//! What a view leaves out, written into descriptions.

use serde_json::{Map, Value, json};

/// The most characters of one constraint in a description.
const MAX_NOTE: usize = 120;

/// The most characters that are added to a description.
const MAX_ADDED: usize = 400;

/// What was left out of a schema.
#[derive(Clone, Debug, Default)]
pub(super) struct Notes {
    /// For the model.
    texts: Vec<String>,
    /// For the report.
    changes: Vec<String>,
}

impl Notes {
    /// Removes `keyword` from `schema`, and remembers its value.
    pub(super) fn take(&mut self, schema: &mut Map<String, Value>, keyword: &str) {
        let Some(value) = schema.shift_remove(keyword) else { return };
        self.changes.push(format!("`{keyword}`"));
        if SILENT.contains(&keyword) || says_nothing(&value) {
            return;
        }
        let text = match &value {
            Value::String(text) => text.clone(),
            value => value.to_string(),
        };
        if text.chars().count() <= MAX_NOTE {
            self.texts.push(format!("{keyword}: {text}"));
        }
    }

    /// Tells the model.
    pub(super) fn say(&mut self, text: &str) {
        self.texts.push(text.to_owned());
    }

    /// Tells the report only.
    pub(super) fn changed(&mut self, text: &str) {
        self.changes.push(text.to_owned());
    }

    pub(super) fn changes(&self) -> impl Iterator<Item = String> {
        self.changes.iter().cloned()
    }

    /// Appends the texts to the description of `schema`.
    pub(super) fn append_to(&self, schema: &mut Map<String, Value>) {
        if !self.texts.is_empty() {
            append(schema, &format!("({})", self.texts.join("; ")));
        }
    }
}

/// Whether a constraint is one that generators write everywhere: the range of safe integers, or that names are strings.
fn says_nothing(value: &Value) -> bool {
    const SAFE: f64 = 9_007_199_254_740_991.0;
    value.as_f64().is_some_and(|bound| bound.abs() >= SAFE) || *value == json!({ "type": "string" })
}

/// Keywords that say nothing to a model.
const SILENT: [&str; 8] = [
    "$comment",
    "$schema",
    "$id",
    "title",
    "readOnly",
    "writeOnly",
    "deprecated",
    "unevaluatedProperties",
];

/// Whether `keyword` constrains nothing.
pub(super) fn is_annotation(keyword: &str) -> bool {
    matches!(
        keyword,
        "description"
            | "title"
            | "default"
            | "examples"
            | "$comment"
            | "deprecated"
            | "readOnly"
            | "writeOnly"
            | "$schema"
            | "$id"
            | "$defs"
            | "definitions"
            | "$anchor"
    ) || keyword.starts_with("x-")
}

/// Appends `text` to the description of `schema`, if there is room.
pub(super) fn append(schema: &mut Map<String, Value>, text: &str) {
    let mut added: String = text.chars().take(MAX_ADDED).collect();
    if added.len() < text.len() {
        added.push('…');
    }
    let description = match schema.get("description").and_then(Value::as_str) {
        Some(known) if known.contains(&added) => return,
        Some(known) if !known.is_empty() => format!("{known} {added}"),
        _ => added,
    };
    schema.insert("description".to_owned(), description.into());
}
