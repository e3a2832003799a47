//! A JSON value without the meter, however it is represented.

use std::{borrow::Cow, slice};

use jsonschema::JsonType;
use serde_json::{Map, Number, Value, map};

use super::instance::{Cursor, Elements, Instance, Members};

/// A way to represent JSON values.
pub(crate) trait Representation: Send + Sync + 'static {
    /// A value.
    type Raw<'a>: Raw<'a>;
    /// What holds a string for [`Representation::with_string`], to be used again.
    type Buffer: Default;

    /// Calls `f` with a value that is `string`.
    fn with_string<T>(
        buffer: &mut Self::Buffer,
        string: &str,
        f: impl FnOnce(Self::Raw<'_>) -> T,
    ) -> T;
}

/// [`Value`]s.
pub(crate) struct Values;

impl Representation for Values {
    type Raw<'a> = &'a Value;
    type Buffer = Value;

    fn with_string<T>(buffer: &mut Value, string: &str, f: impl FnOnce(&Value) -> T) -> T {
        if let Value::String(existing) = buffer {
            existing.clear();
            existing.push_str(string);
        } else {
            *buffer = Value::String(string.to_owned());
        }
        f(buffer)
    }
}

/// Values that were parsed to be validated.
pub(crate) struct Instances;

impl Representation for Instances {
    type Raw<'a> = Cursor<'a>;
    type Buffer = ();

    fn with_string<T>((): &mut (), string: &str, f: impl FnOnce(Cursor<'_>) -> T) -> T {
        f(Instance::from_string(string).root())
    }
}

/// A JSON value.
pub(crate) trait Raw<'a>: Copy {
    /// What it has where it is an object.
    type Object: RawObject<'a, Raw = Self>;
    /// What it has where it is an array.
    type Array: RawArray<Raw = Self>;

    fn kind(self) -> JsonType;
    fn boolean(self) -> Option<bool>;
    fn number(self) -> Option<Number>;
    fn text(self) -> Option<&'a str>;
    fn object(self) -> Option<Self::Object>;
    fn array(self) -> Option<Self::Array>;
    fn value(self) -> Cow<'a, Value>;

    /// What tells it from all other values.
    fn address(self) -> usize;
}

/// The members of an object.
pub(crate) trait RawObject<'a>: Copy {
    type Raw;
    type Members: Iterator<Item = (&'a str, Self::Raw)>;

    fn count(self) -> usize;
    fn members(self) -> Self::Members;

    /// The member called `name`; `hash` gives the hash of the name.
    fn find(self, name: &str, hash: impl FnOnce() -> u64) -> Option<Self::Raw>;
}

/// The elements of an array.
pub(crate) trait RawArray: Copy {
    type Raw;
    type Elements: Iterator<Item = Self::Raw>;

    fn count(self) -> usize;
    fn elements(self) -> Self::Elements;
}

/// Members that are looked through one by one: that is faster than hashing the name.
pub(crate) const FEW_MEMBERS: usize = 8;

impl<'a> Raw<'a> for &'a Value {
    type Object = &'a Map<String, Value>;
    type Array = &'a [Value];

    #[inline]
    fn kind(self) -> JsonType {
        match self {
            Value::Null => JsonType::Null,
            Value::Bool(_) => JsonType::Boolean,
            Value::Number(_) => JsonType::Number,
            Value::String(_) => JsonType::String,
            Value::Array(_) => JsonType::Array,
            Value::Object(_) => JsonType::Object,
        }
    }

    #[inline]
    fn boolean(self) -> Option<bool> {
        self.as_bool()
    }

    #[inline]
    fn number(self) -> Option<Number> {
        self.as_number().cloned()
    }

    #[inline]
    fn text(self) -> Option<&'a str> {
        self.as_str()
    }

    #[inline]
    fn object(self) -> Option<&'a Map<String, Value>> {
        self.as_object()
    }

    #[inline]
    fn array(self) -> Option<&'a [Value]> {
        match self {
            Value::Array(items) => Some(items),
            _ => None,
        }
    }

    fn value(self) -> Cow<'a, Value> {
        Cow::Borrowed(self)
    }

    #[inline]
    fn address(self) -> usize {
        std::ptr::from_ref(self) as usize
    }
}

impl<'a> RawObject<'a> for &'a Map<String, Value> {
    type Raw = &'a Value;
    type Members = MapMembers<'a>;

    #[inline]
    fn count(self) -> usize {
        self.len()
    }

    #[inline]
    fn members(self) -> MapMembers<'a> {
        MapMembers(self.iter())
    }

    #[inline]
    fn find(self, name: &str, _: impl FnOnce() -> u64) -> Option<&'a Value> {
        if self.len() > FEW_MEMBERS {
            return self.get(name);
        }
        self.iter().find(|(other, _)| *other == name).map(|(_, value)| value)
    }
}

/// The members of a map, in order.
pub(crate) struct MapMembers<'a>(map::Iter<'a>);

impl<'a> Iterator for MapMembers<'a> {
    type Item = (&'a str, &'a Value);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(name, value)| (name.as_str(), value))
    }
}

impl<'a> RawArray for &'a [Value] {
    type Raw = &'a Value;
    type Elements = slice::Iter<'a, Value>;

    #[inline]
    fn count(self) -> usize {
        self.len()
    }

    #[inline]
    fn elements(self) -> slice::Iter<'a, Value> {
        self.iter()
    }
}

impl<'a> Raw<'a> for Cursor<'a> {
    type Object = Members<'a>;
    type Array = Elements<'a>;

    #[inline]
    fn kind(self) -> JsonType {
        self.kind()
    }

    #[inline]
    fn boolean(self) -> Option<bool> {
        self.boolean()
    }

    #[inline]
    fn number(self) -> Option<Number> {
        self.number()
    }

    #[inline]
    fn text(self) -> Option<&'a str> {
        self.text()
    }

    #[inline]
    fn object(self) -> Option<Members<'a>> {
        self.members()
    }

    #[inline]
    fn array(self) -> Option<Elements<'a>> {
        self.elements()
    }

    fn value(self) -> Cow<'a, Value> {
        Cow::Owned(self.to_value())
    }

    #[inline]
    fn address(self) -> usize {
        self.address()
    }
}

impl<'a> RawObject<'a> for Members<'a> {
    type Raw = Cursor<'a>;
    type Members = Self;

    #[inline]
    fn count(self) -> usize {
        Members::count(self)
    }

    #[inline]
    fn members(self) -> Self {
        self
    }

    #[inline]
    fn find(self, name: &str, hash: impl FnOnce() -> u64) -> Option<Cursor<'a>> {
        Members::find(self, name, hash)
    }
}

impl<'a> RawArray for Elements<'a> {
    type Raw = Cursor<'a>;
    type Elements = Self;

    #[inline]
    fn count(self) -> usize {
        Elements::count(self)
    }

    #[inline]
    fn elements(self) -> Self {
        self
    }
}
