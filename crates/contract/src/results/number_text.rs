//! `result-number-text`.

use crate::arguments::{Change, Repair, Wrong, number_text};

declare_rule! {
    /// A number in a result is written as a string.
    ///
    /// ## What it does
    ///
    /// Under `repair`, where the output schema takes a number and no string, `"7"` becomes `7`. The string has to be one
    /// number as JSON writes it, and one that no reader rounds: an integer within ±(2^53 − 1), or what a double holds in
    /// its shortest form. The id `"1234567890123456789"` stays a string, and the schema is relaxed. The result has to be
    /// valid afterwards, and all other bytes of it stay.
    ///
    /// ## Why is this bad
    ///
    /// Clients that validate results reject the answer, and the model never sees the data.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "outputSchema": { "type": "object", "properties": { "hours": { "type": "integer" } } },
    ///   "result": { "content": [], "structuredContent": { "hours": "7" } }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "outputSchema": { "type": "object", "properties": { "hours": { "type": "integer" } } },
    ///   "result": { "content": [], "structuredContent": { "hours": 7 } }
    /// }
    /// ```
    RESULT_NUMBER_TEXT = "result-number-text", Info
}

pub(super) const REPAIR: Repair = Repair { rule: &RESULT_NUMBER_TEXT, find, ..number_text::REPAIR };

/// Where the schema names strings, a string may be one more of them.
fn find(wrong: &Wrong<'_>) -> Vec<Change> {
    let has_strings = wrong.place.strings().next().is_some();
    if has_strings { Vec::new() } else { (number_text::REPAIR.find)(wrong) }
}
