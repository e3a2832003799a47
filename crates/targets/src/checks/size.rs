//! How large a tool is.

use serde_json::{Map, Value};

/// The bytes of `object` as JSON without spaces.
pub(super) fn bytes(object: &Map<String, Value>) -> usize {
    let mut count = 0;
    let mut pending = Vec::new();
    let open = |object: &Map<String, Value>| {
        let names: usize = object.keys().map(|name| text(name) + 1).sum();
        2 + names + object.len().saturating_sub(1)
    };
    count += open(object);
    pending.extend(object.values());
    while let Some(value) = pending.pop() {
        count += match value {
            Value::Null | Value::Bool(true) => 4,
            Value::Bool(false) => 5,
            Value::Number(number) => number.to_string().len(),
            Value::String(string) => text(string),
            Value::Array(items) => {
                pending.extend(items);
                2 + items.len().saturating_sub(1)
            }
            Value::Object(members) => {
                pending.extend(members.values());
                open(members)
            }
        };
    }
    count
}

/// The bytes of a string with its quotes and escapes.
fn text(string: &str) -> usize {
    let escapes = |byte: u8| match byte {
        b'"' | b'\\' | b'\n' | b'\r' | b'\t' | 8 | 12 => 1,
        0..=31 => 5,
        _ => 0,
    };
    2 + string.len() + string.bytes().map(escapes).sum::<usize>()
}

/// An estimate of the tokens that `bytes` take: four bytes a token, rounded up.
pub(super) const fn tokens(bytes: usize) -> usize {
    bytes.div_ceil(4)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_what_serde_writes() {
        let value = serde_json::json!({
            "a\"\\/": [null, true, false, 1, -2.5, 1e300, "ä\n\u{1}\u{8}\u{c}\u{7f}"], "b": {}, "c": [], "d": {"e": 1}
        });
        assert_eq!(bytes(value.as_object().unwrap()), value.to_string().len());
    }
}
