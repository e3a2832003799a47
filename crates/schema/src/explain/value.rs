//! JSON values in messages.

use std::fmt::Write as _;

use serde_json::Value;

use crate::text::{ECHO, shorten};

/// `value` as JSON, or what it is where it is large.
pub(crate) fn echo(value: &Value) -> String {
    match value {
        Value::Array(_) | Value::Object(_) if is_small(value) => {
            let json = value.to_string();
            if json.chars().nth(ECHO).is_none() { shorten(&json) } else { describe(value) }
        }
        Value::Array(_) | Value::Object(_) => describe(value),
        Value::String(text) if is_plain(text) => ["\"", text, "\""].concat(),
        // No more of the string than is shown is escaped.
        Value::String(text) => {
            let head: String = text.chars().take(ECHO).collect();
            let quoted = Value::String(head).to_string();
            let is_cut = text.chars().nth(ECHO).is_some();
            shorten(if is_cut { quoted.trim_end_matches('"') } else { &quoted })
        }
        scalar => shorten(&scalar.to_string()),
    }
}

/// Whether a string is short and stands for itself in JSON and in a message.
fn is_plain(text: &str) -> bool {
    let is_plain = |byte| matches!(byte, b' '..=b'~') && byte != b'"' && byte != b'\\';
    text.len() <= ECHO - 2 && text.bytes().all(is_plain)
}

fn describe(value: &Value) -> String {
    match value {
        Value::Array(items) => count(items.len(), "an array of", "item"),
        Value::Object(members) => count(members.len(), "an object with", "member"),
        scalar => shorten(&scalar.to_string()),
    }
}

/// Whether `value` can be written in a few characters.
pub(crate) fn is_small(value: &Value) -> bool {
    let mut left = ECHO;
    let mut pending = vec![value];
    while let Some(value) = pending.pop() {
        let size = match value {
            Value::String(text) => text.len(),
            Value::Array(items) => items.len(),
            Value::Object(members) if members.len() > ECHO => return false,
            Value::Object(members) => members.keys().map(String::len).sum(),
            _ => 1,
        };
        match left.checked_sub(size + 1) {
            Some(rest) => left = rest,
            None => return false,
        }
        match value {
            Value::Array(items) => pending.extend(items),
            Value::Object(members) => pending.extend(members.values()),
            _ => {}
        }
    }
    true
}

/// `value` with its type in front, where the JSON does not show it.
pub(crate) fn echo_typed(value: &Value) -> String {
    match value {
        Value::String(_) => ["string ", &echo(value)].concat(),
        Value::Number(_) => ["number ", &echo(value)].concat(),
        Value::Bool(_) => ["boolean ", &echo(value)].concat(),
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
    let mut text = String::with_capacity(options.len().min(MOST) * 16);
    for (index, option) in options.iter().take(MOST).enumerate() {
        if index > 0 {
            text.push_str(if index + 1 == options.len() { " or " } else { ", " });
        }
        match option {
            Value::String(string) if is_plain(string) => {
                text.push('"');
                text.push_str(string);
                text.push('"');
            }
            option => text.push_str(&echo(option)),
        }
    }
    if options.len() > MOST {
        // Writing to a `String` does not fail.
        _ = write!(text, " or {} others", options.len() - MOST);
    }
    text
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

/// As many of `options` as fit into `most` characters, in words, or with bars inside of a description.
pub(crate) fn some_of(options: &[Value], most: usize, is_inside: bool) -> Option<String> {
    let named: Vec<String> = options.iter().take(MOST).map(echo).collect();
    let write = |count: usize| match (options.len() - count, is_inside) {
        (0, true) => named[..count].join("|"),
        (0, false) => alternatives(&named[..count], count),
        (_, true) => format!("{}|…", named[..count].join("|")),
        (others, false) => format!("{} or {others} others", named[..count].join(", ")),
    };
    (1..=named.len()).rev().map(write).find(|text| text.chars().nth(most).is_none())
}
