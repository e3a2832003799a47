//! Text of results: a value from the text of a result that has no structured content, and values in messages.

use serde::de::{DeserializeOwned, Deserializer, Visitor};
use serde_json::{Error, Value};

/// Reads `text` as a `T`. A string is the text itself, even if it is JSON; anything else is read as JSON.
pub(crate) fn read<T: DeserializeOwned>(text: &str) -> Result<T, Error> {
    T::deserialize(Text(text)).or_else(|error| {
        // A string as JSON, with its quotes, for a type that is made of a string.
        let value: Value = serde_json::from_str(text).map_err(|_| error)?;
        serde_json::from_value(value)
    })
}

/// Reads `text` as JSON, or as a string if it is none.
pub(crate) fn value(text: &str) -> Value {
    serde_json::from_str(text).unwrap_or_else(|_| Value::String(text.to_owned()))
}

/// The most characters of a value in a message.
const MAX_SHOWN: usize = 60;

/// Returns `text` as a message shows it.
pub(crate) fn shorten(text: &str) -> String {
    match text.char_indices().nth(MAX_SHOWN) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// Deserializes a text by what a type asks for.
struct Text<'a>(&'a str);

macro_rules! read_as_json {
    ($($method:ident($($parameter:ident: $kind:ty),*)),+ $(,)?) => {
        $(fn $method<V: Visitor<'de>>(self, $($parameter: $kind,)* visitor: V) -> Result<V::Value, Error> {
            value(self.0).$method($($parameter,)* visitor)
        })+
    };
}

impl<'de> Deserializer<'de> for Text<'_> {
    type Error = Error;

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.0)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.0)
    }

    fn deserialize_char<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        visitor.visit_str(self.0)
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Error> {
        if value(self.0).is_null() { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        _: &'static str,
        visitor: V,
    ) -> Result<V::Value, Error> {
        visitor.visit_newtype_struct(self)
    }

    read_as_json! {
        deserialize_any(), deserialize_bool(),
        deserialize_i8(), deserialize_i16(), deserialize_i32(), deserialize_i64(), deserialize_i128(),
        deserialize_u8(), deserialize_u16(), deserialize_u32(), deserialize_u64(), deserialize_u128(),
        deserialize_f32(), deserialize_f64(),
        deserialize_bytes(), deserialize_byte_buf(), deserialize_unit(),
        deserialize_unit_struct(name: &'static str),
        deserialize_seq(), deserialize_tuple(length: usize),
        deserialize_tuple_struct(name: &'static str, length: usize),
        deserialize_map(),
        deserialize_struct(name: &'static str, fields: &'static [&'static str]),
        deserialize_enum(name: &'static str, variants: &'static [&'static str]),
        deserialize_identifier(), deserialize_ignored_any(),
    }
}

#[cfg(test)]
mod tests {
    use serde::Deserialize;
    use serde_json::{Value, json};

    use super::read;

    #[derive(Debug, Deserialize, PartialEq)]
    #[serde(rename_all = "lowercase")]
    enum Unit {
        Celsius,
    }

    #[derive(Debug, Deserialize, PartialEq)]
    struct Name(String);

    #[test]
    fn a_string_is_the_text_as_it_is() {
        for text in ["42", "true", "null", "\"quoted\"", "[1]", "plain", ""] {
            assert_eq!(read::<String>(text).unwrap(), text);
            assert_eq!(read::<Name>(text).unwrap(), Name(text.to_owned()));
        }
        assert_eq!(read::<Option<String>>("42").unwrap().as_deref(), Some("42"));
        assert_eq!(read::<Option<String>>("null").unwrap(), None);
        assert_eq!(read::<char>("4").unwrap(), '4');
    }

    #[test]
    fn anything_else_is_json() {
        assert_eq!(read::<i64>("42").unwrap(), 42);
        assert!(read::<bool>("true").unwrap());
        assert_eq!(read::<Vec<u8>>("[1, 2]").unwrap(), [1, 2]);
        assert_eq!(read::<Value>("{\"a\": 1}").unwrap(), json!({ "a": 1 }));
        assert_eq!(read::<Value>("plain").unwrap(), "plain");
        for text in ["celsius", "\"celsius\""] {
            assert_eq!(read::<Unit>(text).unwrap(), Unit::Celsius);
        }
        let error = read::<u8>("many").unwrap_err().to_string();
        assert!(error.contains("string \"many\""), "{error}");
    }
}
