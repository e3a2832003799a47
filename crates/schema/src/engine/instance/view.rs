//! Looking at an instance.

use serde_json::Number;

use super::tape::{Cursor, Elements, Members};

/// A value in an [`Instance`](super::Instance).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum ValueRef<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(&'a str),
    /// The elements of an array.
    Array(ElementsRef<'a>),
    /// The members of an object.
    Object(MembersRef<'a>),
}

impl<'a> ValueRef<'a> {
    pub(super) fn new(cursor: Cursor<'a>) -> Self {
        if let Some(elements) = cursor.elements() {
            return Self::Array(ElementsRef(elements));
        }
        if let Some(members) = cursor.members() {
            return Self::Object(MembersRef(members));
        }
        if let Some(text) = cursor.text() {
            return Self::String(text);
        }
        match cursor.number() {
            Some(number) => Self::Number(number),
            None => cursor.boolean().map_or(Self::Null, Self::Bool),
        }
    }
}

/// The elements of an array, in order.
#[derive(Clone, Debug)]
pub struct ElementsRef<'a>(Elements<'a>);

impl<'a> Iterator for ElementsRef<'a> {
    type Item = ValueRef<'a>;

    fn next(&mut self) -> Option<ValueRef<'a>> {
        self.0.next().map(ValueRef::new)
    }
}

/// The members of an object, in order.
#[derive(Clone, Debug)]
pub struct MembersRef<'a>(Members<'a>);

impl<'a> Iterator for MembersRef<'a> {
    type Item = (&'a str, ValueRef<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(name, value)| (name, ValueRef::new(value)))
    }
}
