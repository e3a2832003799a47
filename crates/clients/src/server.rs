//! The servers in a configuration.

use std::collections::{BTreeMap, HashSet};

use crate::behind::{Behind, behind, verb};
use crate::client::Client;
use crate::tree::{Document, Node};

/// A server in a configuration.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Server {
    /// Its name.
    pub name: String,
    /// The folder of the project that it is for, where one file is for several projects.
    pub project: Option<String>,
    /// How a client gets to it.
    pub start: Start,
    pub(crate) path: Vec<String>,
    pub(crate) client: &'static Client,
}

/// How a client gets to a server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Start {
    /// It starts a command.
    Command {
        /// The program.
        program: String,
        /// Its arguments.
        arguments: Vec<String>,
        /// What a guard in it stands before.
        guard: Option<Behind>,
    },
    /// It connects to a URL.
    Remote {
        /// The URL.
        url: String,
        /// The headers of each request.
        headers: BTreeMap<String, String>,
    },
    /// It does not say, or not in a form that is known. Says what is wrong.
    Unknown(&'static str),
}

impl Server {
    /// Whether a guard stands before it.
    #[must_use]
    pub fn is_guarded(&self) -> bool {
        matches!(self.start, Start::Command { guard: Some(_), .. })
    }

    /// Whether a guard stands before it as [`wrap`](crate::wrap) writes it, without options.
    #[must_use]
    pub fn is_wrapped(&self) -> bool {
        let Start::Command { arguments, guard: Some(guard), .. } = &self.start else {
            return false;
        };
        let Some(words) = self.verb().and_then(|verb| arguments.get(verb + 1..)) else {
            return false;
        };
        match guard {
            Behind::Command(_) => words.first().is_some_and(|it| it == "--"),
            Behind::Upstream(_) => {
                words.first().is_some_and(|it| it == "--upstream")
                    && words
                        .get(2..)
                        .unwrap_or_default()
                        .chunks(2)
                        .all(|pair| pair[0] == "--header")
            }
            Behind::Other(_) => false,
        }
    }

    /// The argument `guard` of its guard, if it is known how that is started.
    #[must_use]
    pub fn verb(&self) -> Option<usize> {
        let Start::Command { program, arguments, .. } = &self.start else { return None };
        verb(program, arguments)
    }

    /// The environment variables that the client sets for it.
    #[must_use]
    pub fn env(&self, document: &Document<'_>) -> BTreeMap<String, String> {
        document.root.at(&self.path).and_then(|node| node.get("env")).map(texts).unwrap_or_default()
    }

    /// The folder that the client starts it in.
    #[must_use]
    pub fn cwd(&self, document: &Document<'_>) -> Option<String> {
        document.root.at(&self.path)?.get("cwd")?.as_text().map(str::to_owned)
    }

    /// Whether the client reads environment variables for it from a file.
    #[must_use]
    pub fn has_env_file(&self, document: &Document<'_>) -> bool {
        document.root.at(&self.path).is_some_and(|node| node.get("envFile").is_some())
    }

    /// Whether the client does not use it.
    #[must_use]
    pub fn is_disabled(&self, document: &Document<'_>) -> bool {
        let node = document.root.at(&self.path);
        let has = |name: &str, value: bool| {
            node.and_then(|node| node.get(name)).is_some_and(|it| it.to_value() == value)
        };
        has("disabled", true) || has("enabled", false)
    }
}

/// The members of a table, as texts.
fn texts(table: &Node) -> BTreeMap<String, String> {
    let text = |node: &Node| match node.to_value() {
        serde_json::Value::String(text) => Some(text),
        serde_json::Value::Bool(value) => Some(value.to_string()),
        _ => None,
    };
    let members = table.members().iter();
    members.filter_map(|member| Some((member.name.clone(), text(&member.value)?))).collect()
}

impl Document<'_> {
    /// The servers that `client` finds in it, in its order.
    #[must_use]
    pub fn servers(&self, client: &'static Client) -> Vec<Server> {
        servers(self, client)
    }
}

fn servers(document: &Document<'_>, client: &'static Client) -> Vec<Server> {
    let (mut found, mut known) = (Vec::new(), HashSet::new());
    for pattern in client.servers {
        for path in tables(&document.root, pattern) {
            let Some(table) = document.root.at(&path) else { continue };
            for member in table.members() {
                let at = [&path[..], std::slice::from_ref(&member.name)].concat();
                if !known.insert(at.clone()) {
                    continue;
                }
                // Of duplicate keys the last one counts.
                let Some(node) = table.get(&member.name) else { continue };
                let wildcard = pattern.iter().position(|key| *key == "*");
                found.push(Server {
                    name: member.name.clone(),
                    project: wildcard.map(|index| path[index].clone()),
                    start: start(node, client),
                    path: at,
                    client,
                });
            }
        }
    }
    found
}

/// The places that `pattern` stands for.
fn tables(root: &Node, pattern: &[&str]) -> Vec<Vec<String>> {
    let mut paths = vec![Vec::new()];
    for key in pattern {
        let (mut next, mut known) = (Vec::new(), HashSet::new());
        for path in paths {
            let Some(node) = root.at(&path) else { continue };
            for member in node.members() {
                let path = [&path[..], std::slice::from_ref(&member.name)].concat();
                if (*key == "*" || member.name == *key) && known.insert(path.clone()) {
                    next.push(path);
                }
            }
        }
        paths = next;
    }
    paths
}

/// What `node` says of a server.
fn start(node: &Node, client: &Client) -> Start {
    let mut urls = client.url.iter().filter_map(|key| node.get(key));
    match (node.get("command"), urls.next()) {
        (None, Some(_)) if urls.next().is_some() => Start::Unknown("it has two URLs"),
        (Some(command), None) => {
            let Some(program) = command.as_text() else {
                return Start::Unknown("its `command` is no string");
            };
            let Some(arguments) = arguments(node) else {
                return Start::Unknown("its `args` is no array of strings");
            };
            let guard = behind(program, &arguments);
            Start::Command { program: program.to_owned(), arguments, guard }
        }
        (None, Some(url)) => match url.as_text() {
            Some(url) => {
                let headers = node.get(client.headers).map(texts).unwrap_or_default();
                Start::Remote { url: url.to_owned(), headers }
            }
            None => Start::Unknown("its URL is no string"),
        },
        (Some(_), Some(_)) => Start::Unknown("it has both a command and a URL"),
        (None, None) => Start::Unknown("it has neither a command nor a URL"),
    }
}

/// The arguments of a command; `None` if they are no texts.
pub(crate) fn arguments(node: &Node) -> Option<Vec<String>> {
    let Some(arguments) = node.get("args") else { return Some(Vec::new()) };
    arguments.as_list()?.iter().map(|it| it.as_text().map(str::to_owned)).collect()
}
