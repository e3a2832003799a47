//! `result-null-property`.

use crate::arguments::{Repair, null_property};

declare_rule! {
    /// An optional property of a result that cannot be null is `null`.
    ///
    /// ## What it does
    ///
    /// Under `repair`, where the output schema declares the property, does not require it and does not allow `null`, the
    /// property is left out. That deletes something, so it is done only for a client that has this schema; clients that
    /// have a relaxed one, or never listed the tool, get the `null`.
    ///
    /// ## Why is this bad
    ///
    /// Serialisers write `null` for what is not there. Clients that validate results reject the answer, and the model never
    /// sees the rest of the data.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "outputSchema": { "type": "object", "properties": { "hours": { "type": "integer" } } },
    ///   "result": { "content": [], "structuredContent": { "hours": null } }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "outputSchema": { "type": "object", "properties": { "hours": { "type": "integer" } } },
    ///   "result": { "content": [], "structuredContent": {} }
    /// }
    /// ```
    RESULT_NULL_PROPERTY = "result-null-property", Info
}

pub(super) const REPAIR: Repair = Repair { rule: &RESULT_NULL_PROPERTY, ..null_property::REPAIR };
