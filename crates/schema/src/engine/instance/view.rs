//! Looking at an instance.

use serde_json::Number;

use super::tape::{Cursor, Elements, Members};

/// A value in an [`Instance`](super::Instance).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub enum View<'a> {
    /// `null`.
    Null,
    /// `true` or `false`.
    Bool(bool),
    /// A number.
    Number(Number),
    /// A string.
    String(&'a str),
    /// The elements of an array.
    Array(ViewElements<'a>),
    /// The members of an object.
    Object(ViewMembers<'a>),
}

impl<'a> View<'a> {
    pub(super) fn new(cursor: Cursor<'a>) -> Self {
        if let Some(elements) = cursor.elements() {
            return Self::Array(ViewElements(elements));
        }
        if let Some(members) = cursor.members() {
            return Self::Object(ViewMembers(members));
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
pub struct ViewElements<'a>(Elements<'a>);

impl<'a> Iterator for ViewElements<'a> {
    type Item = View<'a>;

    fn next(&mut self) -> Option<View<'a>> {
        self.0.next().map(View::new)
    }
}

/// The members of an object, in order.
#[derive(Clone, Debug)]
pub struct ViewMembers<'a>(Members<'a>);

impl<'a> Iterator for ViewMembers<'a> {
    type Item = (&'a str, View<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        self.0.next().map(|(name, value)| (name, View::new(value)))
    }
}
