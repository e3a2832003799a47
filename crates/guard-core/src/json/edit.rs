//! Changing a JSON text in as few places as a new value needs.

use std::collections::HashMap;

use serde_json::Value;

use super::members::entries;
use super::scan::elements;

/// The text of `new`, written with `old`, the text of `value`, wherever the two agree: member order is that of
/// `new`; numbers, escapes and white space inside what did not change stay as they came.
///
/// A value that went into the envelope or came out of it keeps its text, and so does one that got another name.
pub fn patch_value(old: &str, value: &Value, new: &Value) -> String {
    let mut out = String::with_capacity(old.len() + 128);
    write(old.trim(), value, new, &mut out);
    out
}

fn write(old: &str, value: &Value, new: &Value, out: &mut String) {
    let anew = |out: &mut String| out.push_str(&new.to_string());
    if same(value, new) {
        return out.push_str(old);
    }
    if inside(new).is_some_and(|inside| same(inside, value)) {
        out.push_str("{\"result\":");
        out.push_str(old);
        return out.push('}');
    }
    match (value, new) {
        (Value::Object(_), _) if inside(value).is_some_and(|inside| same(inside, new)) => {
            match entries(old).as_deref() {
                Some([(_, _, inside)]) => out.push_str(inside),
                _ => anew(out),
            }
        }
        (Value::Object(values), Value::Object(news)) => {
            let Some(olds) = entries(old) else { return anew(out) };
            // Of two members of one name the last one counts, as it does for `Value`.
            let olds: HashMap<_, _> =
                olds.iter().map(|(name, text, old)| (&**name, (*text, *old))).collect();
            let mut renamed: Vec<_> =
                values.iter().filter(|(name, _)| !news.contains_key(*name)).collect();
            out.push('{');
            for (index, (key, new)) in news.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                if let (Some((name, old)), Some(value)) = (olds.get(key.as_str()), values.get(key))
                {
                    out.push_str(name);
                    out.push(':');
                    write(old, value, new, out);
                } else {
                    out.push_str(&Value::from(key.as_str()).to_string());
                    out.push(':');
                    let is_it = |(_, value): &(&String, &Value)| same(value, new);
                    let found = renamed.iter().position(is_it).map(|at| renamed.remove(at).0);
                    match found.and_then(|name| olds.get(name.as_str())) {
                        Some((_, old)) => out.push_str(old),
                        None => out.push_str(&new.to_string()),
                    }
                }
            }
            out.push('}');
        }
        (Value::Array(values), Value::Array(items)) if values.len() <= items.len() => {
            let Some(olds) = elements(old) else { return anew(out) };
            out.push('[');
            for (index, item) in items.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                match (olds.get(index), values.get(index)) {
                    (Some(old), Some(value)) => write(old, value, item, out),
                    _ => out.push_str(&item.to_string()),
                }
            }
            out.push(']');
        }
        _ => anew(out),
    }
}

/// What is in the envelope that `value` is.
fn inside(value: &Value) -> Option<&Value> {
    value.as_object().filter(|members| members.len() == 1)?.get("result")
}

/// `text` without the white space between its tokens.
pub fn minify(text: &str) -> String {
    let (mut in_string, mut escaped) = (false, false);
    text.chars()
        .filter(|&character| {
            if !in_string {
                in_string = character == '"';
                return !character.is_ascii_whitespace();
            }
            (in_string, escaped) = match character {
                _ if escaped => (true, false),
                '\\' => (true, true),
                other => (other != '"', false),
            };
            true
        })
        .collect()
}

/// Equal, the order of members included: `Value` compares objects without it.
fn same(left: &Value, right: &Value) -> bool {
    match (left, right) {
        (Value::Object(left), Value::Object(right)) => {
            left.len() == right.len()
                && left.iter().zip(right).all(|(l, r)| l.0 == r.0 && same(l.1, r.1))
        }
        (Value::Array(left), Value::Array(right)) => {
            left.len() == right.len() && left.iter().zip(right).all(|(l, r)| same(l, r))
        }
        _ => left == right,
    }
}

/// A part of a text, by its bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Span {
    pub start: usize,
    pub end: usize,
}

impl Span {
    /// The bytes of `text` from `start` on.
    pub fn from(start: usize, text: &str) -> Self {
        Self { start, end: text.len() }
    }

    /// Where `part`, a slice of `whole`, stands in it; `None` where it is not a slice of it.
    pub fn locate(whole: &str, part: &str) -> Option<Self> {
        let start = (part.as_ptr() as usize).checked_sub(whole.as_ptr() as usize)?;
        let end = start.checked_add(part.len())?;
        (end <= whole.len()).then_some(Self { start, end })
    }

    /// The part itself.
    pub fn text(self, whole: &str) -> &str {
        whole.get(self.start..self.end).unwrap_or_default()
    }

    /// The length of the part in bytes.
    #[expect(clippy::len_without_is_empty, reason = "a part, not a collection")]
    pub fn len(self) -> usize {
        self.end - self.start
    }
}

/// An edit that does not fit the text it is meant for.
#[derive(Debug, PartialEq, Eq)]
pub struct EditError;

/// The part `part` of `whole` with new text in some places.
///
/// Fails where an edit lies outside of `part` or overlaps another one.
pub fn apply(whole: &str, part: Span, edits: Vec<(Span, String)>) -> Result<String, EditError> {
    let added: usize = edits.iter().map(|(_, text)| text.len()).sum();
    let mut out = String::with_capacity(part.len() + added);
    let mut done = part.start;
    for (span, text) in in_order(part, edits)? {
        out.push_str(whole.get(done..span.start).ok_or(EditError)?);
        out.push_str(&text);
        done = span.end;
    }
    out.push_str(whole.get(done..part.end).ok_or(EditError)?);
    Ok(out)
}

/// The edits in the order of their places.
///
/// Fails where one lies outside of `part` or overlaps another one.
pub(super) fn in_order(
    part: Span,
    mut edits: Vec<(Span, String)>,
) -> Result<Vec<(Span, String)>, EditError> {
    edits.sort_unstable_by_key(|(span, _)| span.start);
    let mut done = part.start;
    for (span, _) in &edits {
        if span.start < done || span.end > part.end || span.end < span.start {
            return Err(EditError);
        }
        done = span.end;
    }
    Ok(edits)
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::{EditError, Span, apply, minify, patch_value};

    fn patch(old: &str, new: &Value) -> String {
        patch_value(old, &serde_json::from_str(old).unwrap(), new)
    }

    #[test]
    fn keeps_the_text_of_what_stays() {
        let old = r#"{ "a" : 1.50, "\u0062": [1e2, {"x":  2}], "c": "ü" }"#;
        assert_eq!(patch(old, &json!({ "a": 1.5, "b": [100.0, { "x": 2 }], "c": "ü" })), old);
        assert_eq!(
            patch(old, &json!({ "a": 1.5, "b": [100.0, { "x": 3 }], "d": true })),
            r#"{"a":1.50,"\u0062":[1e2,{"x":3}],"d":true}"#
        );
        assert_eq!(
            patch(r#"{"a":1.50,"b":2,"c":1.5}"#, &json!({ "x": 1.5, "b": 3, "y": 1.5 })),
            r#"{"x":1.50,"b":3,"y":1.5}"#
        );
    }

    #[test]
    fn keeps_the_text_of_what_changes_its_envelope() {
        let digits = "[123456789012345678901234567890]";
        let value: serde_json::Value = serde_json::from_str(digits).unwrap();
        let wrapped = format!("{{\"result\":{digits}}}");
        assert_eq!(patch(digits, &json!({ "result": value })), wrapped);
        assert_eq!(patch(&wrapped, &value), digits);
        let object = r#"{"result":{"n":123456789012345678901234567890}}"#;
        let value: serde_json::Value = serde_json::from_str(object).unwrap();
        assert_eq!(patch(object, &value["result"]), r#"{"n":123456789012345678901234567890}"#);
    }

    #[test]
    fn adds_to_arrays_and_writes_anew_what_shrinks() {
        assert_eq!(patch("[ 1.0 ]", &json!([1.0, 2])), "[1.0,2]");
        assert_eq!(patch("[1.0, 2]", &json!([2])), "[2]");
    }

    #[test]
    fn minifies() {
        assert_eq!(minify(" [ \"a \\\" b\" ,\n1.50 ] "), "[\"a \\\" b\",1.50]");
    }

    #[test]
    fn applies_edits_and_refuses_those_that_do_not_fit() {
        let text = r#"{"a":1,"b":2}"#;
        let all = Span::from(0, text);
        let (one, two) = (Span { start: 5, end: 6 }, Span { start: 11, end: 12 });
        let edits = vec![(two, "20".to_owned()), (one, "10".to_owned())];
        assert_eq!(apply(text, all, edits).unwrap(), r#"{"a":10,"b":20}"#);
        let part = Span { start: 7, end: 12 };
        assert_eq!(apply(text, part, vec![(two, "3".into())]).unwrap(), r#""b":3"#);
        assert_eq!(apply(text, one, vec![(two, String::new())]), Err(EditError));
        let overlap = vec![(Span { start: 4, end: 7 }, String::new()), (one, String::new())];
        assert_eq!(apply(text, all, overlap), Err(EditError));
        assert_eq!(Span::locate(text, &text[5..6]), Some(one));
        assert_eq!(Span::locate(&text[6..], &text[5..6]), None);
    }
}
