//! An object whose members are text, to change some of them and keep the rest as it came.

use std::fmt;

use bytestring::ByteString;
use serde_json::Value;

use super::fields::Fields;
use super::rope::RopeWriter;

/// The members of an object, each value as JSON text. Values that were read share the bytes of their message.
#[derive(Clone, Debug, Default)]
pub struct Object(Vec<(String, ByteString)>);

/// A text that is no object, or that names a member twice.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReadable {
    #[error("expected an object")]
    NoObject,
    #[error("duplicate key `{0}`")]
    Duplicate(String),
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
        Fields::read(text, text).ok_or(NotReadable::NoObject)?.object(text)
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
    use super::{NotReadable, Object};

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
}
