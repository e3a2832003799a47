//! Instances that are read only to be validated.

use std::{borrow::Cow, fmt};

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::{Number, Value};

/// A JSON value that is read only to be validated: its strings are those of its text and its objects
/// are lists, so that it is had for a fraction of what a [`Value`] costs.
///
/// It is read from small values as they are common. Reading fails for others, which have to be read
/// as a [`Value`]: where an object has more than 32 members, or one of them twice.
///
/// ```
/// use serde_json::json;
/// use toolpact_schema::{Instance, Schema};
///
/// let schema = Schema::compile(&json!({ "items": { "type": "integer" } }))?;
/// let instance: Instance = serde_json::from_str("[1, 2]")?;
/// assert!(schema.accepts(&instance, 1000).is_some());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub enum Instance<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(Cow<'a, str>),
    /// An array.
    Array(Vec<Instance<'a>>),
    /// The members of an object, each name once.
    Object(Vec<(Cow<'a, str>, Instance<'a>)>),
}

/// The most members of an object: they are looked through one by one.
const MEMBERS: usize = 32;

impl Instance<'_> {
    /// The arrays and objects that are in each other.
    #[must_use]
    pub fn nesting(&self) -> usize {
        match self {
            Self::Array(items) => 1 + items.iter().map(Self::nesting).max().unwrap_or(0),
            Self::Object(members) => {
                1 + members.iter().map(|(_, value)| value.nesting()).max().unwrap_or(0)
            }
            _ => 0,
        }
    }

    pub(super) fn to_value(&self) -> Value {
        match self {
            Self::Null => Value::Null,
            Self::Bool(boolean) => Value::Bool(*boolean),
            Self::Number(number) => Value::Number(number.clone()),
            Self::String(string) => Value::String(string.clone().into_owned()),
            Self::Array(items) => items.iter().map(Self::to_value).collect(),
            Self::Object(members) => {
                members.iter().map(|(name, value)| (name.clone(), value.to_value())).collect()
            }
        }
    }
}

impl<'de: 'a, 'a> Deserialize<'de> for Instance<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Read)
    }
}

struct Read;

impl<'de> Visitor<'de> for Read {
    type Value = Instance<'de>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_unit<E>(self) -> Result<Self::Value, E> {
        Ok(Instance::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Self::Value, E> {
        Ok(Instance::Bool(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Self::Value, E> {
        Ok(Instance::Number(value.into()))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Self::Value, E> {
        Ok(Instance::Number(value.into()))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Self::Value, E> {
        Ok(Number::from_f64(value).map_or(Instance::Null, Instance::Number))
    }

    fn visit_borrowed_str<E>(self, value: &'de str) -> Result<Self::Value, E> {
        Ok(Instance::String(Cow::Borrowed(value)))
    }

    fn visit_str<E>(self, value: &str) -> Result<Self::Value, E> {
        Ok(Instance::String(Cow::Owned(value.to_owned())))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Self::Value, A::Error> {
        let mut array = Vec::new();
        while let Some(item) = items.next_element()? {
            array.push(item);
        }
        Ok(Instance::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Self::Value, A::Error> {
        let mut object: Vec<(Cow<'de, str>, Instance<'de>)> = Vec::new();
        while let Some(Name(name)) = members.next_key()? {
            if object.len() >= MEMBERS || object.iter().any(|(other, _)| *other == name) {
                return Err(A::Error::custom("an object that is no short list of members"));
            }
            if object.is_empty() {
                // Room for a few, or it grows twice on the way there.
                object.reserve(8);
            }
            object.push((name, members.next_value()?));
        }
        Ok(Instance::Object(object))
    }
}

/// A name that is borrowed where it can be.
struct Name<'a>(Cow<'a, str>);

impl<'de: 'a, 'a> Deserialize<'de> for Name<'a> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Borrow;
        impl<'de> Visitor<'de> for Borrow {
            type Value = Name<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a name")
            }

            fn visit_borrowed_str<E>(self, name: &'de str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Borrowed(name)))
            }

            fn visit_str<E>(self, name: &str) -> Result<Self::Value, E> {
                Ok(Name(Cow::Owned(name.to_owned())))
            }
        }
        deserializer.deserialize_str(Borrow)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::Value;

    use super::{Instance, MEMBERS};

    #[test]
    fn is_the_value_of_its_text() {
        for text in [
            r#"[null, true, -1, 1.50, 1e2, "a\u0062", "ü", {}, {"\u0061": [[]]}]"#,
            "18446744073709551615",
            "123456789012345678901234567890",
        ] {
            let instance: Instance<'_> = serde_json::from_str(text).unwrap();
            let value: Value = serde_json::from_str(text).unwrap();
            assert_eq!(instance.to_value(), value, "{text}");
        }
        let instance: Instance<'_> = serde_json::from_str(r#"[1, {"a": []}, [[]]]"#).unwrap();
        assert_eq!(instance.nesting(), 3);
    }

    #[test]
    fn is_not_read_from_what_is_no_short_list_of_members() {
        let object = |count: usize| {
            let members: Vec<_> = (0..count).map(|n| format!("\"m{n}\":{n}")).collect();
            format!("[{{{}}}]", members.join(","))
        };
        assert!(serde_json::from_str::<Instance<'_>>(&object(MEMBERS)).is_ok());
        assert!(serde_json::from_str::<Instance<'_>>(&object(MEMBERS + 1)).is_err());
        assert!(serde_json::from_str::<Instance<'_>>(r#"{"a":1,"\u0061":1}"#).is_err());
    }
}
