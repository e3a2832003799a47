//! `result-boolean-text`.

use crate::arguments::{Change, Repair, Wrong, boolean_text};

declare_rule! {
    /// A boolean in a result is written as a string.
    ///
    /// ## What it does
    ///
    /// Under `repair`, where the output schema takes a boolean and no string, `"true"` becomes `true` and `"false"` becomes
    /// `false`, in upper or lower case. The result has to be valid afterwards, and all other bytes of it stay.
    ///
    /// ## Why is this bad
    ///
    /// Clients that validate results reject the answer, and the model never sees the data.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "outputSchema": { "type": "object", "properties": { "open": { "type": "boolean" } } },
    ///   "result": { "content": [], "structuredContent": { "open": "True" } }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "outputSchema": { "type": "object", "properties": { "open": { "type": "boolean" } } },
    ///   "result": { "content": [], "structuredContent": { "open": true } }
    /// }
    /// ```
    RESULT_BOOLEAN_TEXT = "result-boolean-text", Info
}

pub(super) const REPAIR: Repair =
    Repair { rule: &RESULT_BOOLEAN_TEXT, find, ..boolean_text::REPAIR };

/// Where the schema names strings, a string may be one more of them.
fn find(wrong: &Wrong<'_>) -> Vec<Change> {
    let has_strings = wrong.place.strings().next().is_some();
    if has_strings { Vec::new() } else { (boolean_text::REPAIR.find)(wrong) }
}
