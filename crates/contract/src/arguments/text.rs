//! Strings that are JSON text.

use serde_json::Value;
use toolbond_schema::Instance;

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
    // A larger integer would be compared as another number.
    if large_integers(text).next().is_some() {
        return None;
    }
    Some(Parsed { value, text: text.to_owned() })
}

/// Reads `text` as JSON, also as a JSON string. Returns `None` if it is not JSON, is longer than 1 MiB, has a key twice, or
/// has an integer of more than 64 bits.
///
/// ```
/// use serde_json::json;
/// use toolbond_contract::arguments::read_json_text;
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

/// The integers of more than 64 bits in the JSON `text`: a [`Value`] holds them as other numbers.
///
/// ```
/// use toolbond_contract::arguments::large_integers;
///
/// let text = r#"[18446744073709551615, 18446744073709551616, "18446744073709551616"]"#;
/// assert_eq!(large_integers(text).collect::<Vec<_>>(), ["18446744073709551616"]);
/// ```
pub fn large_integers(text: &str) -> impl Iterator<Item = &str> {
    let mut rest = text;
    let tokens = std::iter::from_fn(move || {
        // The next string or number, whichever comes first.
        rest = &rest[rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit())?..];
        let end = if rest.starts_with('"') { string_end(rest) } else { number_end(rest) };
        let (token, after) = rest.split_at(end);
        rest = after;
        Some(token)
    });
    tokens.filter(|token| {
        let is_integer = token.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
        is_integer && token.parse::<i64>().is_err() && token.parse::<u64>().is_err()
    })
}

/// Where the number that `text` starts with ends.
fn number_end(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_digit() && !"+-.eE".contains(c)).unwrap_or(text.len())
}

/// Where the string that `text` starts with ends.
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
    use super::{large_integers, parse};

    #[test]
    fn integers_of_more_than_64_bits_are_found() {
        let text = r#"{"18446744073709551616":[18446744073709551615,-9223372036854775808,1e30,0.12345678901234567890123],
            "a\"99999999999999999999":-9223372036854775809,"b\\\"12345678901234567890123":18446744073709551616}"#;
        let found: Vec<_> = large_integers(text).collect();
        assert_eq!(found, ["-9223372036854775809", "18446744073709551616"]);
        assert!(parse("[100000000000000000001]").is_none());
        assert!(parse("[1]").is_some() && parse("\"[1]\"").is_none());
    }
}
