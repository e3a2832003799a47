//! The members of an object that the guard reads, as text.

use std::borrow::Cow;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;
use smallvec::SmallVec;

/// Finds the values called `names` in the object `text`.
///
/// Fails where `text` is no object, and where two readers may disagree about it: it repeats one of
/// `names`, or has a member whose name differs from one of them only in case.
pub fn members<'a, const N: usize>(
    text: &'a str,
    names: [&'static str; N],
) -> serde_json::Result<[Option<&'a str>; N]> {
    let Written(all) = serde_json::from_str(text)?;
    let found = all.into_iter().map(|(name, value)| Ok((string(name)?, value)));
    pick(found.collect::<serde_json::Result<SmallVec<[_; 6]>>>()?, names)
}

/// Finds the values called `names` among `members`. Fails as [`members`] does.
pub(super) fn pick<'a, const N: usize>(
    members: impl IntoIterator<Item = (Cow<'a, str>, &'a str)>,
    names: [&'static str; N],
) -> serde_json::Result<[Option<&'a str>; N]> {
    let mut found = [None; N];
    for (name, value) in members {
        match names.iter().position(|known| *known == name) {
            Some(index) if found[index].is_some() => {
                return Err(Error::custom(format!("duplicate key `{name}`")));
            }
            Some(index) => found[index] = Some(value),
            None => {
                if let Some(known) = case_variant(&name, &names) {
                    return Err(Error::custom(differs_in_case(&name, known)));
                }
            }
        }
    }
    Ok(found)
}

/// The entries of the object `text`: the name, its text with quotes, and the text of the value.
pub fn entries(text: &str) -> Option<Vec<(Cow<'_, str>, &str, &str)>> {
    let Written(all) = serde_json::from_str(text).ok()?;
    all.into_iter().map(|(name, value)| Some((string(name).ok()?, name, value))).collect()
}

/// The string that `json` is.
pub fn string(json: &str) -> serde_json::Result<Cow<'_, str>> {
    serde_json::from_str::<Name<'_>>(json).map(|name| name.0)
}

/// What is wrong with an object that has the member `name` beside or in place of `known`.
pub(crate) fn differs_in_case(name: &str, known: &str) -> String {
    let name: String = name.chars().take(60).collect();
    format!("key `{name}` differs from `{known}` only in case")
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
pub(crate) struct Name<'a>(pub(crate) Cow<'a, str>);

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

/// The members of an object as they are written: the text of the name with its quotes, and that of the value.
pub(super) struct Written<'a>(pub(super) SmallVec<[(&'a str, &'a str); 4]>);

impl<'de> Deserialize<'de> for Written<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Written<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut all = SmallVec::new();
                while let Some((name, value)) = map.next_entry::<&'de RawValue, &'de RawValue>()? {
                    all.push((name.get(), value.get()));
                }
                Ok(Written(all))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

#[cfg(test)]
mod tests {
    use super::members;

    fn read(text: &str) -> Result<Vec<Option<String>>, String> {
        members(text, ["id", "task"])
            .map(|found| found.map(|raw| raw.map(str::to_owned)).to_vec())
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
