//! Values as JSON and Python write them inside of text.

use serde_json::{Value, json};

/// The JSON value at the start of `text`, and what follows it.
pub(super) fn json(text: &str) -> Option<(Value, &str)> {
    if !text.starts_with(['"', '[', '{']) {
        // A number or a word may be followed by any mark, such as a parenthesis.
        let is_end = |c: char| !(c.is_ascii_alphanumeric() || "+-.".contains(c));
        let (word, rest) = text.split_at(text.find(is_end).unwrap_or(text.len()));
        return Some((serde_json::from_str(word).ok()?, rest));
    }
    let mut stream = serde_json::Deserializer::from_str(text).into_iter();
    let value: Value = stream.next()?.ok()?;
    Some((value, &text[stream.byte_offset()..]))
}

/// The Python value at the start of `text`, a scalar, and what follows it.
pub(super) fn python(text: &str) -> Option<(Value, &str)> {
    for (word, value) in [("None", Value::Null), ("True", json!(true)), ("False", json!(false))] {
        if let Some(rest) = text.strip_prefix(word) {
            return Some((value, rest));
        }
    }
    let quote = text.chars().next()?;
    if quote != '\'' && quote != '"' {
        let end = text.find(|c: char| !(c.is_ascii_digit() || "+-.e".contains(c)));
        let (number, rest) = text.split_at(end.unwrap_or(text.len()));
        return Some((serde_json::from_str(number).ok()?, rest));
    }
    let mut string = String::new();
    let mut letters = text.char_indices().skip(1);
    while let Some((at, letter)) = letters.next() {
        match letter {
            '\\' => string.push(match letters.next()?.1 {
                'n' => '\n',
                't' => '\t',
                other => other,
            }),
            letter if letter == quote => return Some((string.into(), &text[at + 1..])),
            letter => string.push(letter),
        }
    }
    None
}

/// All scalars of a Python list such as `'a', 'b' or 3`, with or without brackets.
pub(super) fn python_list(text: &str) -> Vec<Value> {
    let mut values = Vec::new();
    let mut rest = text.trim_start_matches(['[', '(']);
    while let Some((value, after)) = python(rest) {
        values.push(value);
        let separators = [", ", " or ", " and "];
        match separators.iter().find_map(|separator| after.strip_prefix(separator)) {
            Some(next) => rest = next,
            None => break,
        }
    }
    values
}
