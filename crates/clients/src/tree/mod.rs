//! The text of a configuration, with the place of everything in it.

mod json;
mod toml;

use std::ops::Range;
use std::path::Path;

use serde_json::{Map, Value};

use crate::client::Client;
use crate::server::{self, Server};

/// The syntax of a configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Syntax {
    /// JSON, with comments and trailing commas.
    Json,
    /// TOML.
    Toml,
}

impl Syntax {
    /// The syntax of the file at `path`, by its extension.
    #[must_use]
    pub fn of_file(path: &Path) -> Self {
        if path.extension().is_some_and(|it| it == "toml") { Self::Toml } else { Self::Json }
    }
}

/// A text cannot be parsed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{line}:{column}: invalid {}: {message}", match syntax { Syntax::Json => "JSON", Syntax::Toml => "TOML" })]
#[non_exhaustive]
pub struct ParseError {
    /// The syntax that was expected.
    pub syntax: Syntax,
    /// The line, from 1.
    pub line: usize,
    /// The column, from 1.
    pub column: usize,
    /// What is wrong.
    pub message: String,
}

impl ParseError {
    fn at(syntax: Syntax, text: &str, offset: usize, message: String) -> Self {
        let before = text.get(..offset).unwrap_or(text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        Self { syntax, line, column, message }
    }
}

/// A configuration: its text, and where everything is.
#[derive(Debug)]
pub struct Document<'a> {
    pub(crate) text: &'a str,
    pub(crate) syntax: Syntax,
    pub(crate) root: Node,
}

impl<'a> Document<'a> {
    /// Parses `text`, which may start with a byte order mark. An empty one is an empty object.
    pub fn parse(text: &'a str, syntax: Syntax) -> Result<Self, ParseError> {
        let mark = text.len() - text.trim_start_matches('\u{feff}').len();
        let rest = &text[mark..];
        let mut root = match syntax {
            Syntax::Json => json::parse(rest)?,
            Syntax::Toml => toml::parse(rest)?,
        };
        root.shift(mark);
        Ok(Self { text, syntax, root })
    }

    /// The text.
    #[must_use]
    pub fn text(&self) -> &'a str {
        self.text
    }

    /// The servers that `client` finds in it.
    #[must_use]
    pub fn servers(&self, client: &'static Client) -> Vec<Server> {
        server::servers(self, client)
    }
}

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
    fn shift(&mut self, by: usize) {
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
