//! `arguments-json-text`.

use super::change::Change;
use super::repair::{Repair, Wrong};
use super::text::Parsed;

declare_rule! {
    /// An array, an object or `null` is written as JSON text.
    ///
    /// ## What it does
    ///
    /// Some hosts send `"[1, 2]"` where a tool takes `[1, 2]`. Where the schema does not take strings,
    /// the text is JSON, and the value it stands for is valid, the value takes the place of the text.
    /// `"null"` is read in the same way where `null` is allowed.
    ///
    /// The text has at most 1 MiB, no object in it has a key twice, and it nests at most 127 levels.
    /// Numbers in it keep their digits: they were numbers before, and a server that reads the text itself gets the same.
    /// A string that the schema takes as a string is never changed.
    ///
    /// ## Why is this bad
    ///
    /// Some hosts write arrays and objects as text when they pass a call on. Servers that read them as their
    /// schema says refuse the call, and the model tries the same again.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "inputSchema": { "type": "object", "properties": { "ids": { "type": "array" } } },
    ///   "arguments": { "ids": "[1, 2]" }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "inputSchema": { "type": "object", "properties": { "ids": { "type": "array" } } },
    ///   "arguments": { "ids": [1, 2] }
    /// }
    /// ```
    ARGUMENTS_JSON_TEXT = "arguments-json-text", Info
}

pub(crate) const REPAIR: Repair = Repair {
    rule: &ARGUMENTS_JSON_TEXT,
    find,
    is_default: true,
    is_last_resort: false,
    done: "read from its JSON text",
};

fn find(wrong: &Wrong<'_>) -> Vec<Change> {
    match wrong.parsed() {
        Some(Parsed { value, text })
            if value.is_array() || value.is_object() || value.is_null() =>
        {
            vec![Change::Replace { value, text }]
        }
        _ => Vec::new(),
    }
}
