//! `arguments-null-property`.

use super::change::Change;
use super::repair::{Repair, Wrong};

declare_rule! {
    /// An optional property that cannot be null is `null`.
    ///
    /// ## What it does
    ///
    /// Where the schema declares the property, does not require it and does not allow `null`, the property
    /// is taken out of the arguments, unless the schema says `nullable` (OpenAPI 3.0): `null` means something there.
    ///
    /// ## Why is this bad
    ///
    /// Models and hosts write `null` for what is not given. Servers that check their arguments refuse it.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "inputSchema": { "type": "object", "properties": { "hours": { "type": "integer" } } },
    ///   "arguments": { "hours": null }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "inputSchema": { "type": "object", "properties": { "hours": { "type": "integer" } } },
    ///   "arguments": {}
    /// }
    /// ```
    ARGUMENTS_NULL_PROPERTY = "arguments-null-property", Info
}

pub(crate) const REPAIR: Repair = Repair {
    rule: &ARGUMENTS_NULL_PROPERTY,
    find,
    is_default: true,
    is_last_resort: false,
    done: "left out the null",
};

fn find(wrong: &Wrong<'_>) -> Vec<Change> {
    let place = &wrong.place;
    let is_meant = place.value.is_null()
        && place.is_declared
        && !place.allows_own_type()
        && !place.is_nullable();
    if is_meant { vec![Change::Remove] } else { Vec::new() }
}
