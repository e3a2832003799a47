//! Reading values in which no object names a member twice.

use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, SeqAccess, Visitor,
};
use serde_json::{Map, Number, Value};

/// Reads `text`. Fails where it is no JSON, too deep, and where an object names a member twice: one
/// reader takes the first, another the last, so that what was judged might not be what is used.
pub(crate) fn read(text: &str) -> serde_json::Result<Value> {
    read_as(Read::Whole, text)
}

/// [`read`], for the result of a call. What its content says may be what no reader of text takes, such as half a character.
pub(crate) fn read_result(text: &str) -> serde_json::Result<Value> {
    read(text).or_else(|error| read_as(Read::Result, text).map_err(|_| error))
}

fn read_as(read: Read, text: &str) -> serde_json::Result<Value> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let value = read.deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(value)
}

/// How a value is read.
#[derive(Clone, Copy)]
pub(crate) enum Read {
    /// All of it.
    Whole,
    /// All of it but what its member `content` says.
    Result,
    /// As the content of a result: what it says is passed over, and empty.
    Content,
}

impl Read {
    /// How the member `name` is read; nothing where it is passed over.
    fn member(self, name: &str) -> Option<Self> {
        match (self, name) {
            (Self::Content, "text" | "data" | "blob") => None,
            (Self::Result, "content") | (Self::Content, "resource") => Some(Self::Content),
            _ => Some(Self::Whole),
        }
    }
}

impl<'de> DeserializeSeed<'de> for Read {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Value, D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for Read {
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
        while let Some(item) = items.next_element_seed(self)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let mut object = Map::new();
        while let Some(Name(name)) = members.next_key()? {
            if object.is_empty() {
                // Room for a few, or it grows twice on the way there.
                object = Map::with_capacity(4);
            }
            let read = self.member(&name);
            match object.entry(name) {
                serde_json::map::Entry::Vacant(vacant) => {
                    vacant.insert(match read {
                        Some(read) => members.next_value_seed(read)?,
                        None => members.next_value::<IgnoredAny>().map(|_| String::new().into())?,
                    });
                }
                serde_json::map::Entry::Occupied(taken) => {
                    let name: String = taken.key().chars().take(60).collect();
                    return Err(Error::custom(format!("member `{name}` is there twice")));
                }
            }
        }
        Ok(Value::Object(object))
    }
}

struct Name(String);

impl<'de> Deserialize<'de> for Name {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        String::deserialize(deserializer).map(Self)
    }
}

#[cfg(test)]
mod tests {
    use super::read;

    #[test]
    fn reads_what_serde_json_reads() {
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
            assert_eq!(read(text).ok(), plain.ok(), "{text}");
        }
    }

    #[test]
    fn refuses_a_member_that_is_there_twice() {
        let error = read(r#"[{"a":{"b":1,"\u0062":1}}]"#).unwrap_err();
        assert!(error.to_string().starts_with("member `b` is there twice at line 1"), "{error}");
    }
}
