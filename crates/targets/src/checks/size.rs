//! How large a tool is.

use serde_json::{Map, Value};

/// Members of a tool that hosts do not send to the model.
const NOT_SENT: [&str; 2] = ["_meta", "icons"];

/// The bytes of `tool` as JSON without spaces, apart from what hosts do not send to the model.
pub(super) fn tool_bytes(tool: &Map<String, Value>) -> usize {
    object(tool.iter().filter(|(name, _)| !NOT_SENT.contains(&name.as_str())))
}

/// The bytes of `map` as JSON without spaces.
pub(super) fn bytes(map: &Map<String, Value>) -> usize {
    object(map.iter())
}

fn object<'a>(members: impl Iterator<Item = (&'a String, &'a Value)>) -> usize {
    let mut pending = Vec::new();
    let mut count = open(members, &mut pending);
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
            Value::Object(members) => open(members.iter(), &mut pending),
        };
    }
    count
}

/// The bytes of an object apart from its values, which are left in `pending`.
fn open<'a>(
    members: impl Iterator<Item = (&'a String, &'a Value)>,
    pending: &mut Vec<&'a Value>,
) -> usize {
    let before = pending.len();
    let mut count = 2;
    for (name, value) in members {
        count += text(name) + 1;
        pending.push(value);
    }
    count + (pending.len() - before).saturating_sub(1)
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
        let tool = serde_json::json!({ "name": "t", "icons": [{ "src": "data:" }], "_meta": {} });
        assert_eq!(tool_bytes(tool.as_object().unwrap()), r#"{"name":"t"}"#.len());
    }
}
