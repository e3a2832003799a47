//! JSON values in messages.

use std::fmt::Display;

use serde_json::Value;

/// The number of characters of a value that a message repeats.
const SHOWN: usize = 60;

/// Returns the JSON type of `value`, with its article.
pub(crate) const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}

/// Writes `value` as JSON, up to 60 characters.
pub(crate) fn show(value: &Value) -> String {
    match value {
        // Writes no more than it shows, because a value can be of any size.
        Value::String(text) if text.len() > 4 * SHOWN => {
            let head: String = text.chars().take(SHOWN).collect();
            shorten(Value::String(head))
        }
        Value::Array(list) if list.len() > SHOWN => format!("an array of {}", list.len()),
        Value::Object(map) if map.len() > SHOWN => format!("an object of {}", map.len()),
        value => shorten(value),
    }
}

/// Returns the first 60 characters of `text`, with `…` if there are more.
pub(crate) fn shorten(text: impl Display) -> String {
    let text = text.to_string();
    match text.char_indices().nth(SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text,
    }
}
