//! `result-boolean-text`.

use crate::arguments::{Repair, boolean_text};

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

pub(super) const REPAIR: Repair = Repair { rule: &RESULT_BOOLEAN_TEXT, ..boolean_text::REPAIR };
