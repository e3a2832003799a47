//! `arguments-boolean-text`.

use super::text::Parsed;
use super::{Change, Repair, Wrong};
use crate::rules::declare;

declare! {
    /// `"true"` and `"false"` are read as booleans.
    ///
    /// ## What it does
    ///
    /// Where the schema takes a boolean and no string, `"true"` becomes `true` and `"false"` becomes
    /// `false`. Other words, such as `"yes"`, stay as they are.
    ///
    /// ## Why is this bad
    ///
    /// Models write booleans as strings now and then. Some servers take them, others refuse the call, and a
    /// server that does not check takes `"false"` for true.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "inputSchema": { "type": "object", "properties": { "recursive": { "type": "boolean" } } },
    ///   "arguments": { "recursive": "true" }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "inputSchema": { "type": "object", "properties": { "recursive": { "type": "boolean" } } },
    ///   "arguments": { "recursive": true }
    /// }
    /// ```
    ARGUMENTS_BOOLEAN_TEXT = "arguments-boolean-text", Info
}

pub(super) const REPAIR: Repair = Repair {
    rule: &ARGUMENTS_BOOLEAN_TEXT,
    find,
    is_default: true,
    is_last_resort: false,
    done: "read the string as a boolean",
};

fn find(wrong: &Wrong<'_>) -> Vec<Change> {
    match wrong.parsed() {
        Some(Parsed { value, text }) if value.is_boolean() => vec![Change::Replace { value, text }],
        _ => Vec::new(),
    }
}
