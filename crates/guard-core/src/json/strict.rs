//! JSON parsing that rejects duplicate keys.

use std::fmt;

use serde::de::{
    Deserialize as _, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess,
    Visitor,
};
use serde_json::{Map, Number, Value};

use super::members::Name;

/// Parses `text`.
///
/// Fails where it is not JSON, nests too deeply, or an object has a duplicate key: one reader takes
/// the first value, another the last, so the value that was checked might not be the one that is used.
pub fn parse(text: &str) -> serde_json::Result<Value> {
    parse_as(Extent::Whole, text)
}

/// Parses the result of a call. The text of its content may hold what no `String` can, such as half
/// of a surrogate pair; such content is left empty.
pub fn parse_result(text: &str) -> serde_json::Result<Value> {
    parse(text).or_else(|error| parse_as(Extent::Result, text).map_err(|_| error))
}

fn parse_as(extent: Extent<'_>, text: &str) -> serde_json::Result<Value> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = extent.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// Parses the part of `text` that `schema` describes with `properties` alone: the text can be large. An array is empty.
pub fn parse_described(schema: &Value, text: &str) -> serde_json::Result<Value> {
    parse_as(Extent::Described(schema), text)
}

/// An upper bound of the bytes that `text` takes once parsed into a [`Value`].
pub fn value_bytes(text: &str) -> usize {
    // Vectors grow by doubling, so that the old and the new half are there at the same time.
    const EACH: usize = 3 * size_of::<Value>() + 64;
    let opens = |byte: &u8| matches!(byte, b',' | b'[' | b'{' | b':');
    let values = 1 + text.bytes().filter(opens).count();
    text.len().saturating_add(values.saturating_mul(EACH))
}

/// How much of a value is parsed.
#[derive(Clone, Copy)]
enum Extent<'a> {
    /// All of it.
    Whole,
    /// A result: the text of its content is skipped.
    Result,
    /// The content of a result: `text`, `data` and `blob` are skipped and become empty strings.
    Content,
    /// What this schema describes.
    Described(&'a Value),
    /// Nothing: it becomes an empty string.
    Skipped,
}

impl Extent<'_> {
    /// How much of the member `name` is parsed; `None` leaves it out.
    fn member(self, name: &str) -> Option<Self> {
        match (self, name) {
            (Self::Content, "text" | "data" | "blob") => Some(Self::Skipped),
            (Self::Result, "content") | (Self::Content, "resource") => Some(Self::Content),
            (Self::Described(schema), name) => {
                schema.get("properties")?.as_object()?.get(name).map(Self::Described)
            }
            _ => Some(Self::Whole),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Extent<'_> {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        if matches!(self, Self::Skipped) {
            return IgnoredAny::deserialize(deserializer).map(|_| String::new().into());
        }
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Extent<'_> {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Number::from_f64(value).map_or(Value::Null, Value::Number))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_string<E>(self, value: String) -> Result<Value, E> {
        Ok(value.into())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let mut array = Vec::new();
        if matches!(self, Self::Described(_)) {
            while items.next_element::<IgnoredAny>()?.is_some() {}
        }
        while let Some(item) = items.next_element_seed(self)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(Name(name)) = members.next_key()? {
            if object.is_empty() {
                // Reserves for a few members, or the map grows twice on the way there.
                object = Map::with_capacity(4);
            }
            let Some(extent) = self.member(&name) else {
                members.next_value::<IgnoredAny>()?;
                continue;
            };
            match object.entry(name.into_owned()) {
                serde_json::map::Entry::Vacant(vacant) => {
                    vacant.insert(members.next_value_seed(extent)?);
                }
                serde_json::map::Entry::Occupied(taken) => {
                    let name: String = taken.key().chars().take(60).collect();
                    return Err(Error::custom(format!("duplicate key `{name}`")));
                }
            }
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::{parse, value_bytes};

    #[test]
    fn parses_what_serde_json_parses() {
        for text in [
            r#"{"a":[1,-2,3.50,1e400e]}"#,
            r#"{"a":[1,-2,3.50,"x\u0061",null,true,{}],"b":{"a":18446744073709551615}}"#,
            " [1] ",
            "[1] x",
            "12345678901234567890123456789",
            "1e999",
            "{\"a\":}",
            "",
        ] {
            let plain = serde_json::from_str::<serde_json::Value>(text);
            assert_eq!(parse(text).ok(), plain.ok(), "{text}");
        }
    }

    #[test]
    fn refuses_a_duplicate_key() {
        let error = parse(r#"[{"a":{"b":1,"\u0062":1}}]"#).unwrap_err();
        assert!(error.to_string().starts_with("duplicate key `b` at line 1"), "{error}");
    }

    #[test]
    fn values_cost_more_than_their_text() {
        assert!(value_bytes("[0,0]") > 3 * size_of::<serde_json::Value>());
        assert!(value_bytes(&"a".repeat(1000)) < 2000);
    }
}
