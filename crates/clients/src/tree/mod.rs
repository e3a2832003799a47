//! The text of a configuration, with the place of everything in it.

mod json;
mod node;
mod syntax;
mod toml;

use std::collections::HashSet;
use std::ptr;

use crate::server::Server;

pub use node::NamedText;
pub(crate) use node::{Member, Node};
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

    /// All texts and numbers in it; `servers` are those in it.
    #[must_use]
    pub fn named_texts(&self, servers: &[Server]) -> Vec<NamedText<'_>> {
        let roots = servers.iter().filter_map(|it| self.root.at(&it.path)).map(ptr::from_ref);
        let mut texts = Vec::new();
        self.root.add_texts(self.text, &mut Vec::new(), &roots.collect(), &mut texts);
        texts
    }

    /// The texts and numbers in the table of `server`.
    #[must_use]
    pub fn texts_of(&self, server: &Server) -> Vec<NamedText<'_>> {
        let mut texts = Vec::new();
        if let Some(node) = self.root.at(&server.path) {
            node.add_texts(self.text, &mut Vec::new(), &HashSet::new(), &mut texts);
        }
        texts
    }
}
