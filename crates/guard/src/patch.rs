//! Changing a JSON text in as few places as a new value needs.

use std::collections::HashMap;

use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};
use serde_json::Value;
use serde_json::value::RawValue;

/// The text of `new`, written with the text of `old` wherever the two agree: member order is that of
/// `new`; numbers, escapes and white space inside what did not change stay as they came.
///
/// A value that went into the envelope or came out of it keeps its text, too.
pub(crate) fn patch(old: &str, new: &Value) -> String {
    let mut out = String::with_capacity(old.len() + 64);
    write(old.trim(), new, &mut out);
    out
}

fn write(old: &str, new: &Value, out: &mut String) {
    match (serde_json::from_str::<Value>(old), new) {
        (Ok(value), _) if same(&value, new) => out.push_str(old),
        (Ok(value), Value::Object(envelope))
            if envelope.len() == 1
                && envelope.get("result").is_some_and(|inside| same(inside, &value)) =>
        {
            out.push_str("{\"result\":");
            out.push_str(old);
            out.push('}');
        }
        (Ok(Value::Object(_)), Value::Object(members)) => {
            let Ok(Members(olds)) = serde_json::from_str::<Members<'_>>(old) else {
                return out.push_str(&new.to_string());
            };
            // Of two members of one name the last one counts, as it does for `Value`.
            let olds: HashMap<_, _> =
                olds.iter().map(|(name, text, old)| (name.as_str(), (*text, *old))).collect();
            out.push('{');
            for (index, (key, value)) in members.iter().enumerate() {
                if index > 0 {
                    out.push(',');
                }
                if let Some((name, old)) = olds.get(key.as_str()) {
                    out.push_str(name);
                    out.push(':');
                    write(old, value, out);
                } else {
                    out.push_str(&Value::from(key.as_str()).to_string());
                    out.push(':');
                    out.push_str(&value.to_string());
                }
            }
            out.push('}');
        }
        (Ok(Value::Object(envelope)), _)
            if envelope.len() == 1
                && envelope.get("result").is_some_and(|inside| same(inside, new)) =>
        {
            match serde_json::from_str::<Members<'_>>(old) {
                Ok(Members(olds)) if olds.len() == 1 => out.push_str(olds[0].2),
                _ => out.push_str(&new.to_string()),
            }
        }
        (Ok(Value::Array(_)), Value::Array(items)) => {
            match serde_json::from_str::<Vec<&RawValue>>(old) {
                Ok(olds) if olds.len() <= items.len() => {
                    out.push('[');
                    for (index, item) in items.iter().enumerate() {
                        if index > 0 {
                            out.push(',');
                        }
                        match olds.get(index) {
                            Some(old) => write(old.get(), item, out),
                            None => out.push_str(&item.to_string()),
                        }
                    }
                    out.push(']');
                }
                _ => out.push_str(&new.to_string()),
            }
        }
        _ => out.push_str(&new.to_string()),
    }
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

/// The members of an object: the name, its text with quotes, and the text of the value.
struct Members<'a>(Vec<(String, &'a str, &'a str)>);

impl<'de: 'a, 'a> Deserialize<'de> for Members<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Members<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut members = Vec::new();
                while let Some(key) = map.next_key::<&'de RawValue>()? {
                    let name = serde_json::from_str(key.get()).map_err(serde::de::Error::custom)?;
                    members.push((name, key.get(), map.next_value::<&'de RawValue>()?.get()));
                }
                Ok(Members(members))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

/// `line` with each of `edits`, parts of it and what takes their place, applied.
///
/// A part that is no part of `line` is left out.
pub(crate) fn splice(line: &str, edits: &[(&str, String)]) -> String {
    let start = line.as_ptr() as usize;
    let mut places: Vec<_> = edits
        .iter()
        .filter_map(|(part, new)| {
            let at = (part.as_ptr() as usize).checked_sub(start)?;
            (at + part.len() <= line.len()).then_some((at, part.len(), new))
        })
        .collect();
    places.sort_unstable_by_key(|place| place.0);
    let mut out = String::with_capacity(line.len() + 256);
    let mut done = 0;
    for (at, len, new) in places {
        if at < done {
            continue;
        }
        out.push_str(&line[done..at]);
        out.push_str(new);
        done = at + len;
    }
    out.push_str(&line[done..]);
    out
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{patch, splice};

    #[test]
    fn keeps_the_text_of_what_stays() {
        let old = r#"{ "a" : 1.50, "\u0062": [1e2, {"x":  2}], "c": "ü" }"#;
        assert_eq!(patch(old, &json!({ "a": 1.5, "b": [100.0, { "x": 2 }], "c": "ü" })), old);
        assert_eq!(
            patch(old, &json!({ "a": 1.5, "b": [100.0, { "x": 3 }], "d": true })),
            r#"{"a":1.50,"\u0062":[1e2,{"x":3}],"d":true}"#
        );
    }

    #[test]
    fn keeps_the_text_of_what_changes_its_envelope() {
        let digits = "[123456789012345678901234567890]";
        let value: serde_json::Value = serde_json::from_str(digits).unwrap();
        let wrapped = format!("{{\"result\":{digits}}}");
        assert_eq!(patch(digits, &json!({ "result": value })), wrapped);
        assert_eq!(patch(&wrapped, &value), digits);
    }

    #[test]
    fn adds_to_arrays_and_writes_anew_what_shrinks() {
        assert_eq!(patch("[ 1.0 ]", &json!([1.0, 2])), "[1.0,2]");
        assert_eq!(patch("[1.0, 2]", &json!([2])), "[2]");
    }

    #[test]
    fn splices_parts() {
        let line = r#"{"a":1,"b":2}"#;
        let edits = [(&line[11..12], "20".to_owned()), (&line[5..6], "10".to_owned())];
        assert_eq!(splice(line, &edits), r#"{"a":10,"b":20}"#);
    }
}
