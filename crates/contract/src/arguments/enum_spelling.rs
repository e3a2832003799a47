//! `arguments-enum-spelling`.

use super::change::Change;
use super::repair::{Repair, Wrong};

declare_rule! {
    /// A value differs from a member of an `enum` only in case or surrounding space.
    ///
    /// ## What it does
    ///
    /// Where the schema lists the strings it takes and exactly one of them is the given one but for
    /// upper and lower case and white space around it, the listed one takes its place.
    ///
    /// ## Why is this bad
    ///
    /// Models spell such values as they would in a sentence, and servers refuse the call.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "inputSchema": { "type": "object", "properties": { "unit": { "enum": ["celsius", "fahrenheit"] } } },
    ///   "arguments": { "unit": "Celsius" }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "inputSchema": { "type": "object", "properties": { "unit": { "enum": ["celsius", "fahrenheit"] } } },
    ///   "arguments": { "unit": "celsius" }
    /// }
    /// ```
    ARGUMENTS_ENUM_SPELLING = "arguments-enum-spelling", Info
}

pub(super) const REPAIR: Repair = Repair {
    rule: &ARGUMENTS_ENUM_SPELLING,
    find,
    is_default: true,
    is_last_resort: false,
    done: "spelled the value as the enum does",
};

/// Longer strings are not compared.
const MAX_BYTES: usize = 256;

fn find(wrong: &Wrong<'_>) -> Vec<Change> {
    let Some(given) = wrong.place.value.as_str().filter(|text| text.len() <= MAX_BYTES) else {
        return Vec::new();
    };
    let plain = |text: &str| text.trim().to_lowercase();
    let given = plain(given);
    let mut alike: Vec<_> = wrong.place.strings().filter(|member| plain(member) == given).collect();
    alike.sort_unstable();
    alike.dedup();
    alike.into_iter().map(|member| Change::replace(member.into())).collect()
}
