//! `arguments-single-value`.

use serde_json::Value;

use super::{Change, Repair, Wrong};
use crate::rules::declare;

declare! {
    /// A single value where an array of such values is expected becomes an array.
    ///
    /// ## What it does
    ///
    /// Where the schema takes an array and not the value itself, and the array with this one value is
    /// valid, the value is put into an array. `null` is not, and neither is a string that is an array
    /// written as JSON text: it is read as that array ([arguments-json-text]).
    ///
    /// ## Example
    ///
    /// ```json
    /// { "tags": "news" }
    /// ```
    ///
    /// ## Becomes
    ///
    /// ```json
    /// { "tags": ["news"] }
    /// ```
    ARGUMENTS_SINGLE_VALUE = "arguments-single-value", Info
}

pub(super) const REPAIR: Repair = Repair {
    rule: &ARGUMENTS_SINGLE_VALUE,
    find,
    is_default: true,
    is_last_resort: false,
    done: "put the single value into an array",
};

fn find(wrong: &Wrong<'_>) -> Vec<Change> {
    let value = wrong.place.value;
    let is_array = |parsed: super::text::Parsed| parsed.value.is_array();
    if value.is_null()
        || value.is_array()
        || wrong.place.allows_own_type()
        || wrong.parsed().is_some_and(is_array)
    {
        return Vec::new();
    }
    vec![Change::Wrap(Value::Array(vec![value.clone()]))]
}
