//! `arguments-boolean-text`.

use super::change::Change;
use super::repair::{Repair, Wrong};

declare_rule! {
    /// A boolean is written as a string.
    ///
    /// ## What it does
    ///
    /// Where the schema takes a boolean and no string, `"true"` becomes `true` and `"false"` becomes
    /// `false`, in upper or lower case: Python writes `True`. Other words, such as `"yes"`, stay as they are.
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

pub(crate) const REPAIR: Repair = Repair {
    rule: &ARGUMENTS_BOOLEAN_TEXT,
    find,
    is_default: true,
    is_last_resort: false,
    done: "read the string as a boolean",
};

fn find(wrong: &Wrong<'_>) -> Vec<Change> {
    let text = wrong.place.value.as_str().unwrap_or_default().trim();
    let meant = [true, false].into_iter().find(|it| text.eq_ignore_ascii_case(&it.to_string()));
    match meant {
        Some(meant) if !wrong.place.allows_own_type() => {
            vec![Change::Replace { value: meant.into(), text: meant.to_string() }]
        }
        _ => Vec::new(),
    }
}
