//! `result-json-text`.

use crate::arguments::{Repair, json_text};

declare_rule! {
    /// Structured content, or an array or object in it, is JSON text.
    ///
    /// ## What it does
    ///
    /// Under `repair`, where the output schema takes no strings, a string that is JSON becomes the value it stands for, if the
    /// result is valid afterwards. The text has at most 1 MiB, and no object in it has a key twice.
    ///
    /// ## Why is this bad
    ///
    /// Servers serialise their data twice now and then. Clients that validate results reject the answer.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "outputSchema": { "type": "object", "properties": { "hours": { "type": "integer" } } },
    ///   "result": { "content": [], "structuredContent": "{ \"hours\": 7 }" }
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
    RESULT_JSON_TEXT = "result-json-text", Info
}

pub(super) const REPAIR: Repair = Repair { rule: &RESULT_JSON_TEXT, ..json_text::REPAIR };
