//! `arguments-number-text`.

use super::change::Change;
use super::repair::{Repair, Wrong};
use super::text::Parsed;

declare_rule! {
    /// A number is written as a string.
    ///
    /// ## What it does
    ///
    /// Where the schema takes a number and no string, `"10"` becomes `10`. The string has to be one
    /// number as JSON writes it: `"10 apples"`, `"010"`, `"0x0a"` and `"1,000"` stay as they are, and
    /// so does an integer of more than 64 bits.
    ///
    /// ## Why is this bad
    ///
    /// Models write numbers as strings now and then. Some servers take them, others refuse the call.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "inputSchema": { "type": "object", "properties": { "limit": { "type": "integer" } } },
    ///   "arguments": { "limit": "10" }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "inputSchema": { "type": "object", "properties": { "limit": { "type": "integer" } } },
    ///   "arguments": { "limit": 10 }
    /// }
    /// ```
    ARGUMENTS_NUMBER_TEXT = "arguments-number-text", Info
}

pub(crate) const REPAIR: Repair = Repair {
    rule: &ARGUMENTS_NUMBER_TEXT,
    find,
    is_default: true,
    is_last_resort: false,
    done: "read the string as a number",
};

fn find(wrong: &Wrong<'_>) -> Vec<Change> {
    match wrong.parsed() {
        // It is the same number, and some readers take `-0` for a number with a fraction.
        Some(Parsed { text, .. }) if text == "-0" => {
            vec![Change::Replace { value: 0.into(), text: "0".to_owned() }]
        }
        Some(Parsed { value, text }) if value.is_number() => vec![Change::Replace { value, text }],
        _ => Vec::new(),
    }
}
