//! JSON values in messages.

use serde_json::Value;

/// The most characters of a value that a message echoes.
const ECHO: usize = 60;

/// `text`, cut to what a message may echo.
pub(crate) fn shorten(text: &str) -> String {
    match text.char_indices().nth(ECHO) {
        Some(_) => {
            let kept = text.char_indices().nth(ECHO - 1).map_or(0, |(end, _)| end);
            format!("{}…", &text[..kept])
        }
        None => text.to_owned(),
    }
}

/// `value` as JSON, or what it is where it is large.
pub(crate) fn echo(value: &Value) -> String {
    match value {
        Value::Array(items) if items.is_empty() => "[]".to_owned(),
        Value::Array(items) => count(items.len(), "an array of", "item"),
        Value::Object(members) if members.is_empty() => "{}".to_owned(),
        Value::Object(members) => count(members.len(), "an object with", "member"),
        // No more of the string than is shown is escaped.
        Value::String(text) => {
            let head: String = text.chars().take(ECHO).collect();
            let quoted = Value::String(head).to_string();
            shorten(if text.chars().nth(ECHO).is_some() {
                quoted.trim_end_matches('"')
            } else {
                &quoted
            })
        }
        scalar => shorten(&scalar.to_string()),
    }
}

/// `value` with its type in front, where the JSON does not show it.
pub(crate) fn echo_typed(value: &Value) -> String {
    match value {
        Value::String(_) => format!("string {}", echo(value)),
        Value::Number(_) => format!("number {}", echo(value)),
        Value::Bool(_) => format!("boolean {}", echo(value)),
        _ => echo(value),
    }
}

fn count(count: usize, what: &str, noun: &str) -> String {
    format!("{what} {count} {noun}{}", if count == 1 { "" } else { "s" })
}

/// The most alternatives that a message names.
pub(crate) const MOST: usize = 12;

/// One of `options`, in words.
pub(crate) fn either(options: &[Value]) -> String {
    let named: Vec<_> = options.iter().take(MOST).map(echo).collect();
    alternatives(&named, options.len())
}

/// `a`, `a or b`, `a, b or c`, cut after a dozen of `count`.
pub(crate) fn alternatives(named: &[String], count: usize) -> String {
    match named {
        [] => String::new(),
        [only] => only.clone(),
        [first @ .., last] if count <= MOST => format!("{} or {last}", first.join(", ")),
        _ => {
            let named = &named[..MOST.min(named.len())];
            format!("{} or {} others", named.join(", "), count - named.len())
        }
    }
}
