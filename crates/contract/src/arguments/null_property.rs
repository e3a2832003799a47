//! `arguments-null-property`.

use super::{Change, Repair, Wrong};
use crate::rules::declare;

declare! {
    /// `null` for an optional property that cannot be null is left out.
    ///
    /// ## What it does
    ///
    /// Models and hosts write `null` for "not given". Where the schema declares the property, does not
    /// require it and does not allow `null`, the property is taken out of the arguments.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "city": "Bern", "hours": null }
    /// ```
    ///
    /// ## Becomes
    ///
    /// ```json
    /// { "city": "Bern" }
    /// ```
    ARGUMENTS_NULL_PROPERTY = "arguments-null-property", Info
}

pub(super) const REPAIR: Repair = Repair {
    rule: &ARGUMENTS_NULL_PROPERTY,
    find,
    is_default: true,
    is_last_resort: false,
    done: "left out the null",
};

fn find(wrong: &Wrong<'_>) -> Vec<Change> {
    let is_meant =
        wrong.place.value.is_null() && wrong.place.is_declared && !wrong.place.allows_own_type();
    if is_meant { vec![Change::Remove] } else { Vec::new() }
}
