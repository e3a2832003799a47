//! Where the members of an object stand in a text.

use std::borrow::Cow;

use bytestring::ByteString;
use serde::de::{Deserialize, Deserializer, Error, MapAccess, Visitor};
use serde_json::value::RawValue;
use smallvec::SmallVec;

use super::edit::Span;
use super::members::case_variant;
use super::object::{NotReadable, Object};

/// The members of an object, by where they stand in a text.
#[derive(Clone, Debug)]
pub struct Fields {
    pub span: Span,
    members: SmallVec<[Field; 4]>,
}

#[derive(Clone, Copy, Debug)]
struct Field {
    /// The name with its quotes.
    name: Span,
    value: Span,
}

impl Fields {
    /// Reads `object`, a part of `text`; `None` where it is no object.
    pub fn read(text: &str, object: &str) -> Option<Self> {
        let Raw(all) = serde_json::from_str(object).ok()?;
        let field = |(name, value): &(&str, &str)| {
            Some(Field { name: Span::locate(text, name)?, value: Span::locate(text, value)? })
        };
        let members = all.iter().map(field).collect::<Option<_>>()?;
        Some(Self { span: Span::locate(text, object)?, members })
    }

    /// The values called `names`, in `text`.
    ///
    /// Fails where two readers may disagree about them: one of `names` is there twice, or in another case.
    pub fn find<'t, const N: usize>(
        &self,
        text: &'t str,
        names: [&'static str; N],
    ) -> serde_json::Result<[Option<&'t str>; N]> {
        let mut found = [None; N];
        for (name, value) in self.iter(text) {
            match names.iter().position(|known| *known == name) {
                Some(index) if found[index].is_some() => {
                    return Err(Error::custom(format!("duplicate key `{name}`")));
                }
                Some(index) => found[index] = Some(value),
                None => {
                    if let Some(known) = case_variant(&name, &names) {
                        let name: String = name.chars().take(60).collect();
                        return Err(Error::custom(format!(
                            "key `{name}` differs from `{known}` only in case"
                        )));
                    }
                }
            }
        }
        Ok(found)
    }

    /// The value called `name`, in `text`.
    pub fn get<'t>(&self, text: &'t str, name: &str) -> Option<&'t str> {
        self.iter(text).find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The names and values, in `text`.
    pub fn iter<'a, 't: 'a>(
        &'a self,
        text: &'t str,
    ) -> impl Iterator<Item = (Cow<'t, str>, &'t str)> + use<'a, 't> {
        self.members.iter().map(|field| (name(field.name.text(text)), field.value.text(text)))
    }

    /// The object, whose values are parts of `text`. Fails where a name is there twice.
    pub fn object(&self, text: &ByteString) -> Result<Object, NotReadable> {
        let member =
            |(name, value): (Cow<'_, str>, &str)| (name.into_owned(), text.slice_ref(value));
        Object::new(self.iter(text).map(member).collect())
    }
}

/// The name that is written as `text`, with quotes.
fn name(text: &str) -> Cow<'_, str> {
    let inner = text.get(1..text.len().saturating_sub(1)).unwrap_or_default();
    if memchr::memchr(b'\\', inner.as_bytes()).is_none() {
        return Cow::Borrowed(inner);
    }
    serde_json::from_str(text).map_or(Cow::Borrowed(inner), Cow::Owned)
}

/// The members of an object: the text of the name with its quotes, and that of the value.
struct Raw<'a>(SmallVec<[(&'a str, &'a str); 4]>);

impl<'de> Deserialize<'de> for Raw<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Collect;
        impl<'de> Visitor<'de> for Collect {
            type Value = Raw<'de>;

            fn expecting(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Self::Value, A::Error> {
                let mut all = SmallVec::new();
                while let Some((name, value)) = map.next_entry::<&'de RawValue, &'de RawValue>()? {
                    all.push((name.get(), value.get()));
                }
                Ok(Raw(all))
            }
        }
        deserializer.deserialize_map(Collect)
    }
}

#[cfg(test)]
mod tests {
    use bytestring::ByteString;

    use super::Fields;

    #[test]
    fn members_are_found_where_they_stand() {
        let text = ByteString::from(r#"[ { "a" : 1.50, "\u0062":{"x":  2} } ]"#);
        let fields = Fields::read(&text, text[2..].trim_end_matches([']', ' '])).unwrap();
        assert_eq!(fields.span.text(&text), r#"{ "a" : 1.50, "\u0062":{"x":  2} }"#);
        assert_eq!(fields.find(&text, ["b", "c"]).unwrap(), [Some(r#"{"x":  2}"#), None]);
        assert_eq!(fields.get(&text, "a"), Some("1.50"));
        assert_eq!(fields.object(&text).unwrap().to_string(), r#"{"a":1.50,"b":{"x":  2}}"#);
        assert!(Fields::read(&text, &text).is_none());
    }

    #[test]
    fn two_readers_must_not_disagree() {
        for text in [r#"{"a":1,"\u0061":2}"#, r#"{"A":1}"#] {
            assert!(Fields::read(text, text).unwrap().find(text, ["a"]).is_err(), "{text}");
        }
    }
}
