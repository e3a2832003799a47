//! `arguments-single-value`.

use serde_json::Value;

use super::change::Change;
use super::repair::{Repair, Wrong};

declare_rule! {
    /// A single value stands where an array of such values is expected.
    ///
    /// ## What it does
    ///
    /// Where the schema takes arrays and nothing else, and the array with this one value is valid, the value is put into an array. `null` is not, nor an element of another array, nor a string
    /// that starts with `[` or `{`: it is JSON text (`arguments-json-text`), or was meant to be. A string with a comma,
    /// a semicolon or a line break may be a list, and an empty object an empty array: they stay as they are.
    ///
    /// ## Why is this bad
    ///
    /// Models leave out the brackets around a single value. Servers refuse the call, or take the string for
    /// an array of its letters.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "inputSchema": { "type": "object", "properties": { "tags": { "type": "array", "items": { "type": "string" } } } },
    ///   "arguments": { "tags": "news" }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "inputSchema": { "type": "object", "properties": { "tags": { "type": "array", "items": { "type": "string" } } } },
    ///   "arguments": { "tags": ["news"] }
    /// }
    /// ```
    ARGUMENTS_SINGLE_VALUE = "arguments-single-value", Info
}

pub(super) const REPAIR: Repair = Repair {
    rule: &ARGUMENTS_SINGLE_VALUE,
    find,
    is_default: true,
    is_last_resort: false,
    done: "put the single value into an array",
};

fn find(wrong: &Wrong<'_>) -> Vec<Change> {
    let value = wrong.place.value;
    // Broken or fenced JSON text, or a word for nothing.
    let is_other = |text: &str| {
        let start = text.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        start.starts_with(['[', '{', '`'])
            || text.contains([',', ';', '\n'])
            || matches!(text.trim(), "" | "null" | "None")
    };
    if value.is_null()
        || value.is_array()
        || wrong.place.is_element
        || wrong.place.allows_own_type()
        || value.as_str().is_some_and(is_other)
        || value.as_object().is_some_and(serde_json::Map::is_empty)
    {
        return Vec::new();
    }
    vec![Change::Wrap(Value::Array(vec![value.clone()]))]
}
