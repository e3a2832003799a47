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
    Some(Parsed { value, text: text.to_owned() })
}
