//! A JSON value without the meter: a [`Value`], or a place in an [`Instance`](super::Instance).
//!
//! The engine is instantiated for this one type. With one instantiation for each, this crate takes 1.7 times as long to
//! compile.

use std::{borrow::Cow, slice};

use jsonschema::JsonType;
use serde_json::{Map, Number, Value, map};

use super::instance::{Cursor, Elements, Members};

/// A JSON value.
#[derive(Clone, Copy)]
pub(crate) enum Raw<'a> {
    Value(&'a Value),
    Instance(Cursor<'a>),
}

/// Members that are looked through one by one: that is faster than hashing the name.
pub(crate) const FEW_MEMBERS: usize = 8;

impl<'a> Raw<'a> {
    #[inline]
    pub(crate) fn kind(self) -> JsonType {
        match self {
            Self::Value(Value::Null) => JsonType::Null,
            Self::Value(Value::Bool(_)) => JsonType::Boolean,
            Self::Value(Value::Number(_)) => JsonType::Number,
            Self::Value(Value::String(_)) => JsonType::String,
            Self::Value(Value::Array(_)) => JsonType::Array,
            Self::Value(Value::Object(_)) => JsonType::Object,
            Self::Instance(cursor) => cursor.kind(),
        }
    }

    #[inline]
    pub(crate) fn boolean(self) -> Option<bool> {
        match self {
            Self::Value(value) => value.as_bool(),
            Self::Instance(cursor) => cursor.boolean(),
        }
    }

    #[inline]
    pub(crate) fn number(self) -> Option<Number> {
        match self {
            Self::Value(value) => value.as_number().cloned(),
            Self::Instance(cursor) => cursor.number(),
        }
    }

    #[inline]
    pub(crate) fn text(self) -> Option<&'a str> {
        match self {
            Self::Value(value) => value.as_str(),
            Self::Instance(cursor) => cursor.text(),
        }
    }

    #[inline]
    pub(crate) fn object(self) -> Option<RawObject<'a>> {
        match self {
            Self::Value(value) => value.as_object().map(RawObject::Map),
            Self::Instance(cursor) => cursor.members().map(RawObject::Members),
        }
    }

    #[inline]
    pub(crate) fn array(self) -> Option<RawArray<'a>> {
        match self {
            Self::Value(value) => value.as_array().map(|items| RawArray::Slice(items)),
            Self::Instance(cursor) => cursor.elements().map(RawArray::Elements),
        }
    }

    pub(crate) fn value(self) -> Cow<'a, Value> {
        match self {
            Self::Value(value) => Cow::Borrowed(value),
            Self::Instance(cursor) => Cow::Owned(cursor.to_value()),
        }
    }

    /// What tells it from all other values.
    #[inline]
    pub(crate) fn address(self) -> usize {
        match self {
            Self::Value(value) => std::ptr::from_ref(value) as usize,
            Self::Instance(cursor) => cursor.address(),
        }
    }
}

/// An object.
#[derive(Clone, Copy)]
pub(crate) enum RawObject<'a> {
    Map(&'a Map<String, Value>),
    Members(Members<'a>),
}

impl<'a> RawObject<'a> {
    #[inline]
    pub(crate) fn count(self) -> usize {
        match self {
            Self::Map(map) => map.len(),
            Self::Members(members) => members.count(),
        }
    }

    #[inline]
    pub(crate) fn members(self) -> RawMembers<'a> {
        match self {
            Self::Map(map) => RawMembers::Map(map.iter()),
            Self::Members(members) => RawMembers::Members(members),
        }
    }

    /// The member called `name`; `hash` gives the hash of the name.
    #[inline]
    pub(crate) fn find(self, name: &str, hash: impl FnOnce() -> u64) -> Option<Raw<'a>> {
        match self {
            Self::Map(map) if map.len() > FEW_MEMBERS => map.get(name).map(Raw::Value),
            Self::Map(map) => {
                map.iter().find(|(other, _)| *other == name).map(|(_, value)| Raw::Value(value))
            }
            Self::Members(members) => members.find(name, hash).map(Raw::Instance),
        }
    }
}

/// The members of an object, in order.
pub(crate) enum RawMembers<'a> {
    Map(map::Iter<'a>),
    Members(Members<'a>),
}

impl<'a> Iterator for RawMembers<'a> {
    type Item = (&'a str, Raw<'a>);

    #[inline]
    fn next(&mut self) -> Option<Self::Item> {
        match self {
            Self::Map(map) => map.next().map(|(name, value)| (name.as_str(), Raw::Value(value))),
            Self::Members(members) => members.next().map(|(name, it)| (name, Raw::Instance(it))),
        }
    }
}

/// An array.
#[derive(Clone, Copy)]
pub(crate) enum RawArray<'a> {
    Slice(&'a [Value]),
    Elements(Elements<'a>),
}

impl<'a> RawArray<'a> {
    #[inline]
    pub(crate) fn count(self) -> usize {
        match self {
            Self::Slice(items) => items.len(),
            Self::Elements(elements) => elements.count(),
        }
    }

    #[inline]
    pub(crate) fn elements(self) -> RawElements<'a> {
        match self {
            Self::Slice(items) => RawElements::Slice(items.iter()),
            Self::Elements(elements) => RawElements::Elements(elements),
        }
    }
}

/// The elements of an array, in order.
pub(crate) enum RawElements<'a> {
    Slice(slice::Iter<'a, Value>),
    Elements(Elements<'a>),
}

impl<'a> Iterator for RawElements<'a> {
    type Item = Raw<'a>;

    #[inline]
    fn next(&mut self) -> Option<Raw<'a>> {
        match self {
            Self::Slice(items) => items.next().map(Raw::Value),
            Self::Elements(elements) => elements.next().map(Raw::Instance),
        }
    }
}
