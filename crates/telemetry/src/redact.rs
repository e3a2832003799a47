//! Values of calls in a form that may be exported: short, and without what looks like a secret by its name.

use serde_json::Value;

/// The most characters of the arguments or the result of one call that are exported.
pub const MAX_VALUE: usize = 4096;

/// The most bytes of a text that is parsed to find secrets in it. A longer one is not exported.
const MAX_PARSED: usize = 64 << 10;

/// What takes the place of a secret.
const REDACTED: &str = "[redacted]";

/// A value below a name that contains one of these is a secret. Case and separators do not count.
const SECRETS: [&str; 13] = [
    "accesskey",
    "apikey",
    "authorization",
    "bearer",
    "cookie",
    "credential",
    "passphrase",
    "passwd",
    "password",
    "privatekey",
    "pwd",
    "secret",
    "token",
];

/// `text`, which is JSON, without its secrets and shortened to [`MAX_VALUE`] characters.
///
/// A text that cannot be read, or is too long to be searched, is only described.
#[must_use]
pub fn exported_value(text: &str) -> String {
    if text.len() > MAX_PARSED {
        return format!("[{} bytes]", text.len());
    }
    match serde_json::from_str::<Value>(text) {
        Ok(mut value) => {
            redact(&mut value);
            crate::attribute::shorten(&value.to_string(), MAX_VALUE)
        }
        Err(_) => format!("[{} bytes that are not JSON]", text.len()),
    }
}

/// Replaces the secrets in `value`. The parser limits its depth.
fn redact(value: &mut Value) {
    match value {
        Value::Object(members) => {
            for (name, value) in members {
                if is_secret(name) {
                    *value = REDACTED.into();
                } else {
                    redact(value);
                }
            }
        }
        Value::Array(items) => items.iter_mut().for_each(redact),
        // Results repeat their structured content as text.
        Value::String(text) if text.trim_start().starts_with(['{', '[']) => {
            if let Ok(mut inside) = serde_json::from_str::<Value>(text) {
                redact(&mut inside);
                *text = inside.to_string();
            }
        }
        _ => {}
    }
}

fn is_secret(name: &str) -> bool {
    let letters = name.chars().filter(|it| it.is_alphanumeric());
    let name: String = letters.flat_map(char::to_lowercase).collect();
    name == "auth" || SECRETS.iter().any(|secret| name.contains(secret))
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{MAX_PARSED, MAX_VALUE, exported_value};

    #[test]
    fn secrets_are_found_by_name_at_any_depth() {
        let value = json!({
            "city": "Oslo",
            "password": "s3cret",
            "login": [{ "API-Key": "s3cret", "user": "a" }, { "x_access_TOKEN": { "a": "s3cret" } }],
            "text": "{\"client_secret\": \"s3cret\", \"n\": 1}",
            "Proxy-Authorization": ["s3cret"],
            "author": "b",
        });
        assert_eq!(
            exported_value(&value.to_string()),
            json!({
                "city": "Oslo",
                "password": "[redacted]",
                "login": [{ "API-Key": "[redacted]", "user": "a" }, { "x_access_TOKEN": "[redacted]" }],
                "text": "{\"client_secret\":\"[redacted]\",\"n\":1}",
                "Proxy-Authorization": "[redacted]",
                "author": "b",
            })
            .to_string()
        );
    }

    #[test]
    fn values_are_bounded() {
        let long = json!({ "a": "ü".repeat(2 * MAX_VALUE) }).to_string();
        assert_eq!(exported_value(&long).chars().count(), MAX_VALUE + 1);
        let huge = json!("a".repeat(MAX_PARSED)).to_string();
        assert_eq!(exported_value(&huge), format!("[{} bytes]", huge.len()));
        assert_eq!(exported_value("{s3cret"), "[7 bytes that are not JSON]");
    }
}
