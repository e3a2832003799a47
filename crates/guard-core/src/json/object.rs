//! Objects whose members are text: found where they stand, or changed while the rest stays as it came.

use std::borrow::Cow;
use std::cell::Cell;
use std::fmt;

use bytestring::ByteString;
use serde::de::Error;
use serde_json::Value;
use smallvec::SmallVec;

use super::edit::Span;
use super::members::{duplicate, position, unquoted};
use super::rope::RopeWriter;
use super::scan::Scanner;

/// The most members that are noted of the parameters of one message or batch, or of one other object of a peer.
pub const MAX_MEMBERS: usize = 10_000;

/// How many more members may be noted.
#[derive(Debug)]
pub struct MembersLeft(Cell<Option<usize>>);

impl MembersLeft {
    /// As many as a peer may write.
    pub fn of_peer() -> Self {
        Self(Cell::new(Some(MAX_MEMBERS)))
    }

    /// Any number, for what the guard writes itself.
    pub fn any() -> Self {
        Self(Cell::new(Some(usize::MAX)))
    }

    /// Counts a member. Fails where there are too many.
    fn take(&self) -> Option<()> {
        self.0.set(self.0.get().and_then(|left| left.checked_sub(1)));
        self.0.get().map(drop)
    }

    /// Whether there were too many.
    pub fn is_exceeded(&self) -> bool {
        self.0.get().is_none()
    }
}

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
    /// Reads `object`, a part of `text`; `None` where it is no object, or has too many members.
    pub fn read(text: &str, object: &str) -> Option<Self> {
        Self::read_within(text, object, &MembersLeft::of_peer())
    }

    fn read_within(text: &str, object: &str, left: &MembersLeft) -> Option<Self> {
        let mut scanner = Scanner::new(object);
        let fields = Self::scan(text, &mut scanner, left, |scanner, _| scanner.value())?;
        scanner.finish()?;
        Some(fields)
    }

    /// Reads the object that is next in a part of `text`. `value` passes over the value of a member, with its name.
    pub(crate) fn scan<'a>(
        text: &str,
        scanner: &mut Scanner<'a>,
        left: &MembersLeft,
        mut value: impl FnMut(&mut Scanner<'a>, &'a str) -> Option<&'a str>,
    ) -> Option<Self> {
        scanner.next_byte()?;
        let (mut members, start) = (SmallVec::new(), scanner.at());
        scanner.object(|scanner, name| {
            left.take()?;
            let value = value(scanner, name)?;
            let (name, value) = (Span::locate(text, name)?, Span::locate(text, value)?);
            members.push(Field { name, value });
            Some(())
        })?;
        Some(Self { span: Span::locate(text, scanner.since(start))?, members })
    }

    /// The bytes of its list of members, unless they are few.
    pub fn memory(&self) -> usize {
        if self.members.spilled() { self.members.capacity() * size_of::<Field>() } else { 0 }
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
        for (name, value) in self.members(text) {
            match position(name, &names).map_err(Error::custom)? {
                Some(index) if found[index].is_some() => {
                    return Err(Error::custom(duplicate(names[index])));
                }
                Some(index) => found[index] = Some(value),
                None => {}
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
        self.members(text).map(|(name, value)| (unquoted(name), value))
    }

    /// The names, as they are written, and the values.
    fn members<'a, 't: 'a>(
        &'a self,
        text: &'t str,
    ) -> impl Iterator<Item = (&'t str, &'t str)> + use<'a, 't> {
        self.members.iter().map(|field| (field.name.text(text), field.value.text(text)))
    }

    /// The object, whose values are parts of `text`. Fails where a name is there twice.
    pub fn object(&self, text: &ByteString) -> Result<Object, NotReadable> {
        let member =
            |(name, value): (Cow<'_, str>, &str)| (name.into_owned(), text.slice_ref(value));
        Object::new(self.iter(text).map(member).collect())
    }
}

/// The members of an object, each value as JSON text. Values that were read share the bytes of their message.
#[derive(Clone, Debug, Default)]
pub struct Object(Vec<(String, ByteString)>);

/// An object of these members, whose names differ.
impl<const N: usize> From<[(&str, String); N]> for Object {
    fn from(members: [(&str, String); N]) -> Self {
        Self(members.map(|(name, value)| (name.to_owned(), value.into())).into())
    }
}

/// A text that is no object, names a member twice, or has too many of them.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReadable {
    #[error("expected an object")]
    NoObject,
    #[error("duplicate key `{0}`")]
    Duplicate(String),
    #[error("more than {MAX_MEMBERS} members")]
    TooMany,
}

impl Object {
    /// An object of these members. Fails where a name is there twice.
    pub fn new(members: Vec<(String, ByteString)>) -> Result<Self, NotReadable> {
        let mut names: Vec<_> = members.iter().map(|(name, _)| name).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(NotReadable::Duplicate(pair[0].chars().take(60).collect()));
        }
        Ok(Self(members))
    }

    /// Reads `text`; nothing and `null` are empty objects.
    pub fn read(text: Option<&ByteString>) -> Result<Self, NotReadable> {
        let Some(text) = text.filter(|text| **text != *"null") else { return Ok(Self::default()) };
        let left = MembersLeft::of_peer();
        match Fields::read_within(text, text, &left) {
            Some(fields) => fields.object(text),
            None if left.is_exceeded() => Err(NotReadable::TooMany),
            None => Err(NotReadable::NoObject),
        }
    }

    /// Reads `text`, whose values are copied; an empty object where it cannot be read.
    pub fn copied(text: &str) -> Self {
        Self::read(Some(&ByteString::from(text))).unwrap_or_default()
    }

    /// The value of the member `name`.
    pub fn get(&self, name: &str) -> Option<&ByteString> {
        self.0.iter().find(|(known, _)| known == name).map(|(_, value)| value)
    }

    /// The value of the member `name`, if it is a string.
    pub fn string(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.get(name)?).ok()
    }

    /// Whether the member `name` is `true`.
    pub fn is_true(&self, name: &str) -> bool {
        self.get(name).is_some_and(|value| **value == *"true")
    }

    /// The object that the member `name` is; an empty one if it is no object.
    pub fn object(&self, name: &str) -> Self {
        Self::read(self.get(name)).unwrap_or_default()
    }

    /// Sets the member `name`, in its place or at the end.
    pub fn set(&mut self, name: &str, value: impl Into<ByteString>) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value.into(),
            None => self.0.push((name.to_owned(), value.into())),
        }
    }

    /// Sets the member `name` unless it is there.
    pub fn set_default(&mut self, name: &str, value: impl Into<ByteString>) {
        if self.get(name).is_none() {
            self.0.push((name.to_owned(), value.into()));
        }
    }

    /// Removes the member `name`.
    pub fn remove(&mut self, name: &str) {
        self.0.retain(|(known, _)| known != name);
    }

    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The members: name and value.
    pub fn iter(&self) -> impl Iterator<Item = (&str, &ByteString)> {
        self.0.iter().map(|(name, value)| (name.as_str(), value))
    }

    /// Writes the object to the end of `rope`, without a copy of its long values.
    pub fn write(&self, rope: &mut RopeWriter) {
        rope.write("{");
        for (index, (name, value)) in self.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            rope.write(&format!("{comma}{}:", Value::from(name)));
            rope.append(value);
        }
        rope.write("}");
    }
}

/// The object as JSON.
impl fmt::Display for Object {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("{")?;
        for (index, (name, value)) in self.iter().enumerate() {
            let comma = if index > 0 { "," } else { "" };
            write!(f, "{comma}{}:{value}", Value::from(name))?;
        }
        f.write_str("}")
    }
}

#[cfg(test)]
mod tests {
    use bytestring::ByteString;

    use super::{Fields, MAX_MEMBERS, NotReadable, Object};

    fn read(text: &str) -> Result<Object, NotReadable> {
        Object::read(Some(&text.into()))
    }

    #[test]
    fn keeps_what_is_not_changed() {
        let mut object = read(r#"{ "a" : 1.50, "b":{"x":  2}, "c":3 }"#).unwrap();
        object.set("c", "4");
        object.set("d", "5");
        object.remove("a");
        assert_eq!(object.to_string(), r#"{"b":{"x":  2},"c":4,"d":5}"#);
        assert_eq!(object.object("b").get("x").unwrap(), "2");
    }

    #[test]
    fn refuses_what_two_readers_may_read_in_two_ways() {
        let twice = read(r#"{"a":1,"\u0061":2}"#);
        assert_eq!(twice.unwrap_err(), NotReadable::Duplicate("a".to_owned()));
        assert_eq!(read("[]").unwrap_err(), NotReadable::NoObject);
        assert!(Object::read(None).unwrap().is_empty());
    }

    #[test]
    fn members_are_bounded() {
        let object = |count: usize| {
            let members: Vec<_> = (0..count).map(|n| format!("\"{n}\":0")).collect();
            read(&format!("{{{}}}", members.join(",")))
        };
        assert_eq!(object(MAX_MEMBERS).unwrap().iter().count(), MAX_MEMBERS);
        assert_eq!(object(MAX_MEMBERS + 1).unwrap_err(), NotReadable::TooMany);
    }

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
