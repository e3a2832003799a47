//! Strings.

use serde_json::Value;

use super::{Feature, Hit, Side, declare_feature};
use crate::node::Node;

declare_feature! {
    /// `format`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "at": { "type": "string", "format": "date-time" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "at": { "type": "string", "description": "Date and time, ISO 8601." } } }
    /// ```
    FORMAT = "format-keyword", keywords ["format"]
}

declare_feature! {
    /// `maxLength`, `maxItems`, `minLength` or `minItems` above 2000.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "text": { "type": "string", "maxLength": 100000 } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "text": { "type": "string" } } }
    /// ```
    LONG_REPETITION = "long-repetition", keywords ["maxLength", "maxItems", "minLength", "minItems"], |node| {
        ["maxLength", "maxItems", "minLength", "minItems"].into_iter().find_map(|keyword| {
            let found = node.get(keyword)?.as_f64().filter(|it| *it > LONGEST_REPETITION)?;
            Some(Hit::at(keyword, format!("`{keyword}` is {found}")))
        })
    }
}

/// The same rule as that of good practice.
pub(crate) static LOOK_AROUND: Feature = Feature {
    rule: &crate::checks::PATTERN_BACKTRACKING,
    side: Side::Input,
    check: look_around,
    keywords: &["pattern"],
};

declare_feature! {
    /// `maxLength`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "code": { "type": "string", "maxLength": 3 } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "code": { "type": "string", "description": "At most 3 characters." } } }
    /// ```
    MAX_LENGTH = "max-length", keywords ["maxLength"]
}

declare_feature! {
    /// `pattern`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "code": { "type": "string", "pattern": "^[A-Z]{3}$" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "code": { "type": "string", "description": "Three capital letters." } } }
    /// ```
    PATTERN = "pattern-keyword", keywords ["pattern"]
}

declare_feature! {
    /// `minLength` or `maxLength`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "code": { "type": "string", "maxLength": 3 } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "code": { "type": "string", "description": "At most 3 characters." } } }
    /// ```
    STRING_LENGTH = "string-length", keywords ["minLength", "maxLength"]
}

declare_feature! {
    /// A pattern that does not start with `^` or does not end with `$`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "code": { "type": "string", "pattern": "[A-Z]" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "code": { "type": "string", "pattern": "^.*[A-Z].*$" } } }
    /// ```
    UNANCHORED_PATTERN = "unanchored-pattern", keywords ["pattern"], |node| {
        let pattern = node.get("pattern")?.as_str()?;
        (!(pattern.starts_with('^') && pattern.ends_with('$'))).then(|| Hit::at("pattern", "a pattern without `^` and `$`"))
    }
}

declare_feature! {
    /// A `format` that strict APIs do not know.
    ///
    /// They know `date-time`, `time`, `date`, `duration`, `email`, `hostname`, `ipv4`, `ipv6`, `uuid` and mostly `uri`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "count": { "type": "integer", "format": "uint64" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "count": { "type": "integer", "minimum": 0 } } }
    /// ```
    UNKNOWN_FORMAT = "unknown-format", keywords ["format"], unknown_format
}

declare_feature! {
    /// A `format` that grammar engines do not know.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "colour": { "type": "string", "format": "colour" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "colour": { "type": "string", "pattern": "^#[0-9a-f]{6}$" } } }
    /// ```
    CUSTOM_FORMAT = "custom-format", keywords ["format"], |node| {
        let format = node.get("format").and_then(Value::as_str)?;
        (!REGISTERED.contains(&format)).then(|| Hit::at("format", format!("the format {format:?}")))
    }
}

/// Formats that grammar engines know.
const REGISTERED: [&str; 22] = [
    "date-time",
    "time",
    "date",
    "duration",
    "email",
    "hostname",
    "ipv4",
    "ipv6",
    "uuid",
    "uri",
    "uri-reference",
    "int32",
    "int64",
    "uint8",
    "uint16",
    "uint32",
    "uint64",
    "uint",
    "int8",
    "int16",
    "float",
    "double",
];

/// What llama.cpp repeats at most.
const LONGEST_REPETITION: f64 = 2000.0;

/// The formats that strict APIs know.
pub(crate) const FORMATS: [&str; 9] =
    ["date-time", "time", "date", "duration", "email", "hostname", "ipv4", "ipv6", "uuid"];

fn unknown_format(node: &Node<'_>) -> Option<Hit> {
    let format = node.get("format").and_then(Value::as_str)?;
    (!FORMATS.contains(&format)).then(|| Hit::at("format", format!("the format {format:?}")))
}

/// Whether `pattern` has look-around or a back-reference.
pub(crate) fn needs_backtracking(pattern: &str) -> bool {
    has_look_around(pattern)
        || unescaped(pattern).any(|(at, c)| {
            c == '\\' && matches!(pattern.as_bytes().get(at + 1), Some(b'1'..=b'9' | b'k'))
        })
}

fn has_look_around(pattern: &str) -> bool {
    unescaped(pattern).any(|(at, c)| {
        c == '('
            && ["?=", "?!", "?<=", "?<!"].iter().any(|start| pattern[at + 1..].starts_with(start))
    })
}

/// The characters of `pattern` outside of classes that are not escaped, with their places. A backslash stands for what it
/// escapes.
fn unescaped(pattern: &str) -> impl Iterator<Item = (usize, char)> {
    let mut in_class = false;
    let mut is_escaped = false;
    pattern.char_indices().filter(move |(_, c)| {
        if std::mem::take(&mut is_escaped) {
            return false;
        }
        is_escaped = *c == '\\';
        match c {
            '[' => in_class = true,
            ']' => in_class = false,
            _ => return !in_class,
        }
        false
    })
}

fn look_around(node: &Node<'_>) -> Option<Hit> {
    let pattern = node.get("pattern")?.as_str()?;
    needs_backtracking(pattern)
        .then(|| Hit::at("pattern", "a pattern with look-around or a back-reference"))
}
