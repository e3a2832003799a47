//! An object whose members are text, to change some of them and keep the rest as it came.

use std::borrow::Cow;
use std::fmt;

use serde_json::Value;

use super::edit::entries;

/// The members of an object, each value as JSON text.
#[derive(Clone, Debug, Default)]
pub struct Object<'a>(Vec<(String, Cow<'a, str>)>);

/// A text that is no object, or that names a member twice.
#[derive(Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotReadable {
    #[error("expected an object")]
    NoObject,
    #[error("duplicate key `{0}`")]
    Duplicate(String),
}

impl<'a> Object<'a> {
    /// Reads `text`; nothing and `null` are empty objects.
    pub fn read(text: Option<&'a str>) -> Result<Self, NotReadable> {
        let Some(text) = text.filter(|text| *text != "null") else { return Ok(Self::default()) };
        let entries = entries(text).ok_or(NotReadable::NoObject)?;
        let mut names: Vec<_> = entries.iter().map(|(name, ..)| name).collect();
        names.sort_unstable();
        if let Some(pair) = names.windows(2).find(|pair| pair[0] == pair[1]) {
            return Err(NotReadable::Duplicate(pair[0].chars().take(60).collect()));
        }
        let members = entries.into_iter().map(|(name, _, value)| (name, value.into()));
        Ok(Self(members.collect()))
    }

    /// The value of the member `name`.
    pub fn get(&self, name: &str) -> Option<&str> {
        let found = self.0.iter().find(|(known, _)| known == name);
        found.map(|(_, value)| &**value)
    }

    /// The value of the member `name`, if it is a string.
    pub fn string(&self, name: &str) -> Option<String> {
        serde_json::from_str(self.get(name)?).ok()
    }

    /// Whether the member `name` is `true`.
    pub fn is_true(&self, name: &str) -> bool {
        self.get(name) == Some("true")
    }

    /// The object that the member `name` is; an empty one if it is no object.
    pub fn object(&self, name: &str) -> Object<'_> {
        Object::read(self.get(name)).unwrap_or_default()
    }

    /// Sets the member `name`, in its place or at the end.
    pub fn set(&mut self, name: &str, value: impl Into<Cow<'a, str>>) {
        match self.0.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = value.into(),
            None => self.0.push((name.to_owned(), value.into())),
        }
    }

    /// Sets the member `name` unless it is there.
    pub fn set_default(&mut self, name: &str, value: impl Into<Cow<'a, str>>) {
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
    pub fn iter(&self) -> impl Iterator<Item = (&str, &str)> {
        self.0.iter().map(|(name, value)| (name.as_str(), &**value))
    }
}

/// JSON that is written to the end of a message without a copy in between.
pub trait WriteJson {
    /// The most bytes that it has.
    fn max_length(&self) -> usize;

    fn write(&self, text: &mut String);
}

impl WriteJson for str {
    fn max_length(&self) -> usize {
        self.len()
    }

    fn write(&self, text: &mut String) {
        text.push_str(self);
    }
}

impl WriteJson for String {
    fn max_length(&self) -> usize {
        self.as_str().max_length()
    }

    fn write(&self, text: &mut String) {
        self.as_str().write(text);
    }
}

impl WriteJson for Object<'_> {
    fn max_length(&self) -> usize {
        // A character is escaped with at most six.
        2 + self.0.iter().map(|(name, value)| 6 * name.len() + value.len() + 4).sum::<usize>()
    }

    fn write(&self, text: &mut String) {
        text.push('{');
        for (index, (name, value)) in self.0.iter().enumerate() {
            if index > 0 {
                text.push(',');
            }
            text.push_str(&Value::from(name.as_str()).to_string());
            text.push(':');
            text.push_str(value);
        }
        text.push('}');
    }
}

/// The object as JSON.
impl fmt::Display for Object<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut text = String::with_capacity(self.max_length());
        self.write(&mut text);
        f.write_str(&text)
    }
}

#[cfg(test)]
mod tests {
    use super::{NotReadable, Object};

    #[test]
    fn keeps_what_is_not_changed() {
        let mut object = Object::read(Some(r#"{ "a" : 1.50, "b":{"x":  2}, "c":3 }"#)).unwrap();
        object.set("c", "4");
        object.set("d", "5");
        object.remove("a");
        assert_eq!(object.to_string(), r#"{"b":{"x":  2},"c":4,"d":5}"#);
        assert_eq!(object.object("b").get("x"), Some("2"));
    }

    #[test]
    fn refuses_what_two_readers_may_read_in_two_ways() {
        let twice = Object::read(Some(r#"{"a":1,"\u0061":2}"#));
        assert_eq!(twice.unwrap_err(), NotReadable::Duplicate("a".to_owned()));
        assert_eq!(Object::read(Some("[]")).unwrap_err(), NotReadable::NoObject);
        assert!(Object::read(None).unwrap().is_empty());
    }
}
