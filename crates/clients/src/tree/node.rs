//! Values and their places.

use std::ops::Range;

use serde_json::{Map, Value};

/// A value and its place.
#[derive(Clone, Debug)]
pub(crate) struct Node {
    pub(crate) range: Range<usize>,
    pub(crate) kind: Kind,
}

/// What a value is.
#[derive(Clone, Debug)]
pub(crate) enum Kind {
    Text(String),
    List(Vec<Node>),
    Table(Vec<Member>),
    /// A number, a truth value, a date or nothing.
    Other(Value),
}

/// A member of a table.
#[derive(Clone, Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    /// The place of the name, with its quotes.
    pub(crate) key: Range<usize>,
    pub(crate) value: Node,
}

impl Node {
    pub(crate) fn members(&self) -> &[Member] {
        if let Kind::Table(members) = &self.kind { members } else { &[] }
    }

    /// The member of this name; the last one, if there are several, as clients read it.
    pub(crate) fn member(&self, name: &str) -> Option<&Member> {
        self.members().iter().rev().find(|member| member.name == name)
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Self> {
        self.member(name).map(|member| &member.value)
    }

    pub(crate) fn as_text(&self) -> Option<&str> {
        if let Kind::Text(text) = &self.kind { Some(text) } else { None }
    }

    pub(crate) fn as_list(&self) -> Option<&[Self]> {
        if let Kind::List(items) = &self.kind { Some(items) } else { None }
    }

    /// The value at `path`.
    pub(crate) fn at(&self, path: &[String]) -> Option<&Self> {
        path.iter().try_fold(self, |node, name| node.get(name))
    }

    pub(crate) fn to_value(&self) -> Value {
        match &self.kind {
            Kind::Text(text) => Value::from(text.as_str()),
            Kind::List(items) => items.iter().map(Self::to_value).collect(),
            Kind::Table(members) => {
                let members = members.iter().map(|it| (it.name.clone(), it.value.to_value()));
                Value::Object(members.collect::<Map<_, _>>())
            }
            Kind::Other(value) => value.clone(),
        }
    }

    /// Moves everything by `by` bytes.
    pub(super) fn shift(&mut self, by: usize) {
        self.range = self.range.start + by..self.range.end + by;
        match &mut self.kind {
            Kind::List(items) => items.iter_mut().for_each(|item| item.shift(by)),
            Kind::Table(members) => members.iter_mut().for_each(|member| {
                member.key = member.key.start + by..member.key.end + by;
                member.value.shift(by);
            }),
            Kind::Text(_) | Kind::Other(_) => {}
        }
    }
}
