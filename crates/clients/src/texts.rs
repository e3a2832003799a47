//! The texts of a configuration, by the names of what they are in.

use std::collections::HashSet;
use std::{mem, ptr};

use serde_json::Value;

use crate::server::Server;
use crate::tree::{Document, Kind, Member, Node};

/// A text or a number of a configuration.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct NamedText<'a> {
    /// The members that it is in, from the outermost on; of a server, those in its table.
    pub names: Vec<&'a str>,
    /// What it says.
    pub text: &'a str,
    /// What stands in the file.
    pub raw: &'a str,
}

impl Document<'_> {
    /// All texts and numbers in it; `servers` are those in it.
    #[must_use]
    pub fn named_texts(&self, servers: &[Server]) -> Vec<NamedText<'_>> {
        let servers = servers.iter().filter_map(|it| self.root.at(&it.path)).map(ptr::from_ref);
        self.texts_in(&self.root, servers.collect())
    }

    /// The texts and numbers in the table of `server`.
    #[must_use]
    pub fn texts_of(&self, server: &Server) -> Vec<NamedText<'_>> {
        let node = self.root.at(&server.path);
        node.map(|node| self.texts_in(node, HashSet::new())).unwrap_or_default()
    }

    fn texts_in<'a>(&'a self, node: &'a Node, servers: HashSet<*const Node>) -> Vec<NamedText<'a>> {
        let mut texts = Texts { document: self, servers, names: Vec::new(), found: Vec::new() };
        texts.add(node);
        texts.found
    }
}

struct Texts<'a> {
    document: &'a Document<'a>,
    servers: HashSet<*const Node>,
    names: Vec<&'a str>,
    found: Vec<NamedText<'a>>,
}

impl<'a> Texts<'a> {
    fn add(&mut self, node: &'a Node) {
        match &node.kind {
            // A number is kept as a text.
            Kind::Text(text) | Kind::Other(Value::String(text)) => {
                let (names, raw) = (self.names.clone(), self.document.raw(node));
                self.found.push(NamedText { names, text, raw });
            }
            Kind::Other(_) => {}
            Kind::List(items) => {
                for item in items {
                    self.add(item);
                }
            }
            Kind::Table(members) => {
                let is_server = self.servers.contains(&ptr::from_ref(node));
                let outer = if is_server { mem::take(&mut self.names) } else { Vec::new() };
                for Member { name, value, .. } in members {
                    self.names.push(name);
                    self.add(value);
                    self.names.pop();
                }
                if is_server {
                    self.names = outer;
                }
            }
        }
    }
}
