//! What a model is told about wrong arguments, so that its next call is right.

use std::fmt::Write as _;

use serde_json::Value;
use toolbond_schema::{Mistake, Pointer, Schema, Violation, Violations};

use super::example;

/// From so many mistakes on, an example of a valid call helps more than the list.
const MANY: usize = 3;

/// The most characters of an example.
const LONGEST_EXAMPLE: usize = 1000;

/// The lines for `violations`, which `arguments` commit against `schema`, and an example if there are many or if a line
/// has no room for what is required.
pub(super) fn explain(schema: &Schema, arguments: &Value, violations: &Violations) -> String {
    let mut text = lines(arguments, violations);
    let is_brief = violations.iter().any(|violation| violation.is_brief);
    if violations.as_slice().len() >= MANY || violations.omitted() || is_brief {
        let example = example::call(schema, arguments, violations).map(|call| call.to_string());
        if let Some(example) = example.filter(|it| it.chars().nth(LONGEST_EXAMPLE).is_none()) {
            // Writing to a string does not fail.
            _ = write!(text, "\nexample of valid arguments: {example}");
        }
    }
    text
}

/// The lines for `violations`, which `value` commits.
fn lines(value: &Value, violations: &Violations) -> String {
    let mut text = String::new();
    for violation in violations {
        if !text.is_empty() {
            text.push('\n');
        }
        line(&mut text, value, violation);
    }
    if violations.omitted() {
        text.push_str("\n… and more");
    }
    text
}

/// One line: the place as a model writes it, what is wrong, what to do. Which branch of a union that is about concerns
/// the author of the schema, not the caller.
fn line(text: &mut String, arguments: &Value, violation: &Violation) {
    let at = &violation.instance;
    let message = violation.message_with(|name| place(arguments, &at.join(name)));
    let is_named = matches!(violation.mistake, Mistake::Missing { .. } | Mistake::Unknown { .. });
    match place(arguments, at) {
        place if is_named || place.is_empty() => text.push_str(&message),
        place => text.extend([&place, ": ", &message]),
    }
    if let Some(hint) = &violation.hint {
        text.extend(["; ", hint]);
    }
}

/// `pointer` as a model writes it: `filters[2].name`. The arguments as a whole have no name.
pub(super) fn place(arguments: &Value, pointer: &Pointer) -> String {
    let mut place = String::new();
    let mut value = Some(arguments);
    for token in pointer.tokens() {
        if value.is_some_and(Value::is_array) {
            _ = write!(place, "[{token}]");
            value = token.parse().ok().and_then(|index: usize| value?.get(index));
            continue;
        }
        value = value.and_then(|value| value.get(&token));
        let is_plain = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '$');
        let token: String = token.chars().take(120).collect();
        if token.is_empty() || !token.chars().all(is_plain) {
            _ = write!(place, "[{}]", Value::from(token));
        } else if place.is_empty() {
            place.push_str(&token);
        } else {
            _ = write!(place, ".{token}");
        }
    }
    place
}
