//! The text of a configuration, with the place of everything in it.

mod json;
mod node;
mod syntax;
mod toml;

pub(crate) use node::{Kind, Member, Node};
pub use syntax::{ParseError, Syntax};

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
}
