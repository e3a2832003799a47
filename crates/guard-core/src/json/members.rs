//! The members of an object that the guard reads, as text.

use std::borrow::Cow;
use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, Error, IgnoredAny, MapAccess, Visitor,
};
use serde_json::value::RawValue;

/// Finds the members called `names` in the object `text`.
///
/// Fails where `text` is no object, and where two readers may disagree about it: it repeats one of
/// `names`, or has a member whose name differs from one of them only in case.
pub fn members<'a, const N: usize>(
    text: &'a str,
    names: [&'static str; N],
) -> serde_json::Result<[Option<&'a RawValue>; N]> {
    let mut deserializer = serde_json::Deserializer::from_str(text);
    let found = Members(names).deserialize(&mut deserializer)?;
    deserializer.end()?;
    Ok(found)
}

/// The name in `names` that `name` differs from only in case, if there is one.
///
/// Some decoders ignore case (Go's folds `ſ` and the Kelvin sign, too), so such a member may count.
pub fn case_variant(name: &str, names: &[&'static str]) -> Option<&'static str> {
    let fold = |c: char| match c {
        '\u{17f}' => 's',
        '\u{212a}' => 'k',
        c => c.to_ascii_lowercase(),
    };
    let is_variant = |known: &&&'static str| {
        name != **known && name.chars().map(fold).eq(known.chars().map(fold))
    };
    names.iter().find(is_variant).copied()
}

/// A name, borrowed from the text unless it is written with escapes.
pub struct Name<'a>(pub(crate) Cow<'a, str>);

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

struct Members<const N: usize>([&'static str; N]);

impl<'de, const N: usize> DeserializeSeed<'de> for Members<N> {
    type Value = [Option<&'de RawValue>; N];

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<Self::Value, D::Error> {
        deserializer.deserialize_map(self)
    }
}

impl<'de, const N: usize> Visitor<'de> for Members<N> {
    type Value = [Option<&'de RawValue>; N];

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("an object")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
        let mut found = [None; N];
        while let Some(Name(name)) = map.next_key()? {
            match self.0.iter().position(|known| *known == name) {
                Some(index) if found[index].is_some() => {
                    return Err(A::Error::custom(format!("duplicate key `{name}`")));
                }
                Some(index) => found[index] = Some(map.next_value()?),
                None => {
                    if let Some(known) = case_variant(&name, &self.0) {
                        let name: String = name.chars().take(60).collect();
                        return Err(A::Error::custom(format!(
                            "key `{name}` differs from `{known}` only in case"
                        )));
                    }
                    map.next_value::<IgnoredAny>()?;
                }
            }
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::members;

    fn read(text: &str) -> Result<Vec<Option<String>>, String> {
        members(text, ["id", "task"])
            .map(|found| found.map(|raw| raw.map(|raw| raw.get().to_owned())).to_vec())
            .map_err(|error| error.to_string())
    }

    #[test]
    fn finds_members_however_their_names_are_written() {
        assert_eq!(read(r#"{"a":{"id":1},"\u0069d": 2 }"#).unwrap(), [Some("2".into()), None]);
        assert_eq!(read("{}").unwrap(), [None, None]);
        assert_eq!(read(r#"{"id":null}"#).unwrap(), [Some("null".into()), None]);
    }

    #[test]
    fn refuses_what_two_readers_may_read_in_two_ways() {
        for text in [
            r#"{"id":1,"\u0069d":2}"#,
            r#"{"Id":1}"#,
            r#"{"ta\u017fk":1}"#,
            "{\"tas\u{212a}\":1}",
            "[1]",
            "1",
            "{} {}",
        ] {
            assert!(read(text).is_err(), "{text}");
        }
        assert!(read(r#"{"a":1,"a":2,"ids":3}"#).is_ok());
    }
}
