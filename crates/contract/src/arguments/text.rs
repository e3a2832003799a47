//! Strings that are JSON text.

use serde_json::Value;
use toolpact_schema::Instance;

/// The longest string that is read as JSON text.
pub(crate) const MAX_BYTES: usize = 1 << 20;

/// What a string stands for.
#[derive(Clone, Debug)]
pub(crate) struct Parsed {
    pub(crate) value: Value,
    /// The text, without white space around it.
    pub(crate) text: String,
}

/// Reads `text` as JSON, unless it is too long, has a key twice, or stands for another string.
pub(crate) fn parse(text: &str) -> Option<Parsed> {
    let text = text.trim_matches([' ', '\t', '\n', '\r']);
    let starts_well = matches!(text.as_bytes().first()?, b'[' | b'{' | b'-' | b'0'..=b'9')
        || ["true", "false", "null"].contains(&text);
    if !starts_well || text.len() > MAX_BYTES {
        return None;
    }
    let value = Instance::parse(text).ok()?.to_value();
    if !integers_fit(text) {
        return None;
    }
    Some(Parsed { value, text: text.to_owned() })
}

/// Reads `text` as JSON, also as a JSON string. Returns `None` if it is not JSON, is longer than 1 MiB, has a key twice, or
/// has an integer of more than 64 bits.
///
/// ```
/// use serde_json::json;
/// use toolpact_contract::read_json_text;
///
/// assert_eq!(read_json_text(r#"{ "a": [1] }"#), Some(json!({ "a": [1] })));
/// assert_eq!(read_json_text(r#""a""#), Some(json!("a")));
/// assert_eq!(read_json_text("a"), None);
/// assert_eq!(read_json_text(r#"{ "a": 1, "a": 2 }"#), None);
/// ```
#[must_use]
pub fn read_json_text(text: &str) -> Option<Value> {
    if text.starts_with('"') && text.len() <= MAX_BYTES {
        return serde_json::from_str(text).ok();
    }
    Some(parse(text)?.value)
}

/// Whether every integer in the JSON `text` has 64 bits: a larger one would be compared as another number.
fn integers_fit(text: &str) -> bool {
    let mut rest = text;
    loop {
        // The next string or number, whichever comes first.
        let Some(at) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) else {
            return true;
        };
        rest = &rest[at..];
        let end = if rest.starts_with('"') {
            string_end(rest)
        } else {
            let is_number =
                |c: char| c.is_ascii_digit() || matches!(c, '-' | '+' | '.' | 'e' | 'E');
            let end = rest.find(|c| !is_number(c)).unwrap_or(rest.len());
            let number = &rest[..end];
            let is_integer = !number.contains(['.', 'e', 'E']);
            if is_integer && number.parse::<i64>().is_err() && number.parse::<u64>().is_err() {
                return false;
            }
            end
        };
        rest = &rest[end..];
    }
}

/// The bytes of the string that `text` starts with.
fn string_end(text: &str) -> usize {
    let mut is_escaped = false;
    let inside = text.bytes().skip(1).position(|byte| {
        let ends = byte == b'"' && !is_escaped;
        is_escaped = byte == b'\\' && !is_escaped;
        ends
    });
    inside.map_or(text.len(), |at| at + 2)
}

#[cfg(test)]
mod tests {
    use super::{integers_fit, parse};

    #[test]
    fn integers_have_64_bits() {
        assert!(integers_fit(
            r#"[18446744073709551615, -9223372036854775808, 1e30, "1234567890123456789012"]"#
        ));
        assert!(integers_fit(r#"{"a\\\"12345678901234567890123": 1}"#));
        assert!(!integers_fit("[18446744073709551616]"));
        assert!(!integers_fit(r#"{"a": {"b": -12345678901234567890}}"#));
        assert!(parse("[100000000000000000001]").is_none());
        assert!(parse("[1]").is_some() && parse("\"[1]\"").is_none());
    }
}
