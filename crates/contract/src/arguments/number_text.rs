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
    /// number as JSON writes it: `"10 apples"`, `"010"`, `"0x0a"` and `"1,000"` stay as they are.
    ///
    /// So does a number that some readers round: JavaScript reads `9007199254740993` as
    /// `9007199254740992`. An integer has to be within ±(2^53 − 1), and any other number has to be
    /// what a double holds in its shortest form: `"0.1"` is, `"1e-400"` is not.
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
        Some(Parsed { value, text }) if value.is_number() && is_exact(&text) => {
            vec![Change::Replace { value, text }]
        }
        _ => Vec::new(),
    }
}

/// The largest integer that every reader holds exactly, as those do for which all numbers are doubles.
const MAX_INTEGER: u64 = (1 << 53) - 1;

/// Whether every reader takes the number `text` for the same one.
fn is_exact(text: &str) -> bool {
    if text.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit()) {
        return text.trim_start_matches('-').parse().is_ok_and(|it: u64| it <= MAX_INTEGER);
    }
    let shortest = text.parse().map(|it: f64| format!("{it:e}"));
    shortest.is_ok_and(|it| decimal(text).is_some_and(|own| decimal(&it) == Some(own)))
}

/// The number `text` without its sign: its digits without zeros around them, and its power of ten.
fn decimal(text: &str) -> Option<(String, i64)> {
    let (number, power) = text.split_once(['e', 'E']).unwrap_or((text, "0"));
    let number = number.trim_start_matches('-');
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = [whole, fraction].concat();
    let significant = digits.trim_end_matches('0');
    let zeros = i64::try_from(digits.len() - significant.len()).ok()?;
    let digits = significant.trim_start_matches('0').to_owned();
    if digits.is_empty() {
        return Some((digits, 0));
    }
    let power = power.parse::<i64>().ok()?.checked_sub(i64::try_from(fraction.len()).ok()?)?;
    Some((digits, power.checked_add(zeros)?))
}

#[cfg(test)]
mod tests {
    use super::is_exact;

    #[test]
    fn a_number_that_some_reader_rounds_is_not_exact() {
        let exact = [
            "0",
            "-7",
            "9007199254740991",
            "-9007199254740991",
            "1.10",
            "0.1",
            "-0.0",
            "0.000",
            "0e9",
            "1e3",
            "1E+3",
            "100.00",
            "2.5e-3",
            "1e300",
            "5e-324",
            "0e99999999999999999999",
            "1.7976931348623157e308",
        ];
        let rounded = [
            "9007199254740992",
            "9007199254740993",
            "-9007199254740992",
            "18446744073709551616",
            "1e-400",
            "-1e-400",
            "1e400",
            "0.1000000000000000055511151231257827",
            "1.00000000000000000001",
            "9007199254740993.0",
            "1e-99999999999999999999",
            "2e-324",
        ];
        assert_eq!(exact.into_iter().filter(|it| !is_exact(it)).collect::<Vec<_>>(), [""; 0]);
        assert_eq!(rounded.into_iter().filter(|it| is_exact(it)).collect::<Vec<_>>(), [""; 0]);
    }
}
