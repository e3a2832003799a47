//! The clients, as data.

use std::path::Path;

use crate::tree::Syntax;

/// A client, and how it configures servers.
#[derive(Debug)]
#[non_exhaustive]
pub struct Client {
    /// The name on the command line, which is also that of its target.
    pub name: &'static str,
    /// The name for people.
    pub title: &'static str,
    /// The syntax of its files.
    pub syntax: Syntax,
    /// Its files, by who they are for.
    pub paths: ConfigPaths,
    /// Where servers are in a file: keys, where `*` stands for any.
    pub servers: &'static [&'static [&'static str]],
    /// The keys of the URL of a server on HTTP.
    pub url: &'static [&'static str],
    /// The key of the headers for it.
    pub headers: &'static str,
    /// Which variables it replaces.
    pub variables: Variables,
    /// Whether it was seen to offer no tool of a server that speaks only 2026-07-28 (`docs/hosts.md`).
    pub is_legacy: bool,
}

/// The variables that a client replaces in the configuration of a server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variables {
    /// None.
    Nothing,
    /// `${NAME}`, and `${NAME:-default}`.
    Braced,
    /// `${env:NAME}`, and others that the editor knows.
    Editor,
    /// `$NAME` and `${NAME}`, if it is set.
    Shell,
    /// It is not known.
    Unknown,
}

/// The files of a client. `{home}` and other words in braces are folders that [`Folders`](crate::Folders) knows.
#[derive(Debug)]
pub struct ConfigPaths {
    /// The files of the user, on Linux.
    pub linux: &'static [&'static str],
    /// The files of the user, on macOS.
    pub macos: &'static [&'static str],
    /// The files of the user, on Windows.
    pub windows: &'static [&'static str],
    /// The files of a project, in its folder.
    pub project: &'static [&'static str],
}

impl ConfigPaths {
    /// The same files of the user on every system.
    const fn same(user: &'static [&'static str], project: &'static [&'static str]) -> Self {
        Self { linux: user, macos: user, windows: user, project }
    }
}

/// The key of servers in most clients.
const MCP_SERVERS: &[&str] = &["mcpServers"];

/// All clients. Another one is another row.
pub static CLIENTS: [Client; 6] = [
    Client {
        name: "claude-desktop",
        title: "Claude Desktop",
        syntax: Syntax::Json,
        paths: ConfigPaths {
            linux: &["{config}/Claude/claude_desktop_config.json"],
            macos: &["{home}/Library/Application Support/Claude/claude_desktop_config.json"],
            windows: &[
                "{roaming}/Claude/claude_desktop_config.json",
                // Installed from the store.
                "{local}/Packages/Claude_pzs8sxrjxfjjc/LocalCache/Roaming/Claude/claude_desktop_config.json",
            ],
            project: &[],
        },
        servers: &[MCP_SERVERS],
        url: &["url"],
        headers: "headers",
        variables: Variables::Nothing,
        is_legacy: false,
    },
    Client {
        name: "claude-code",
        title: "Claude Code",
        syntax: Syntax::Json,
        paths: ConfigPaths::same(&["{claude}/.claude.json"], &[".mcp.json"]),
        servers: &[MCP_SERVERS, &["projects", "*", "mcpServers"]],
        url: &["url"],
        headers: "headers",
        variables: Variables::Braced,
        is_legacy: true,
    },
    Client {
        name: "cursor",
        title: "Cursor",
        syntax: Syntax::Json,
        paths: ConfigPaths::same(&["{home}/.cursor/mcp.json"], &[".cursor/mcp.json"]),
        servers: &[MCP_SERVERS],
        url: &["url"],
        headers: "headers",
        variables: Variables::Editor,
        is_legacy: false,
    },
    Client {
        name: "vscode",
        title: "VS Code",
        syntax: Syntax::Json,
        paths: ConfigPaths {
            linux: &["{config}/Code/User/mcp.json"],
            macos: &["{home}/Library/Application Support/Code/User/mcp.json"],
            windows: &["{roaming}/Code/User/mcp.json"],
            project: &[".vscode/mcp.json"],
        },
        servers: &[&["servers"]],
        url: &["url"],
        headers: "headers",
        variables: Variables::Editor,
        is_legacy: false,
    },
    Client {
        name: "codex",
        title: "Codex",
        syntax: Syntax::Toml,
        paths: ConfigPaths::same(&["{codex}/config.toml"], &[".codex/config.toml"]),
        servers: &[&["mcp_servers"]],
        url: &["url"],
        headers: "http_headers",
        variables: Variables::Nothing,
        is_legacy: true,
    },
    Client {
        name: "gemini-cli",
        title: "Gemini CLI",
        syntax: Syntax::Json,
        paths: ConfigPaths::same(&["{home}/.gemini/settings.json"], &[".gemini/settings.json"]),
        servers: &[MCP_SERVERS],
        url: &["httpUrl", "url"],
        headers: "headers",
        variables: Variables::Shell,
        is_legacy: true,
    },
];

/// A file that none of the clients is known to have.
static OTHER: Client = Client {
    name: "other",
    title: "the client",
    syntax: Syntax::Json,
    paths: ConfigPaths::same(&[], &[]),
    servers: &[MCP_SERVERS, &["servers"], &["projects", "*", "mcpServers"]],
    url: &["url", "httpUrl"],
    headers: "headers",
    variables: Variables::Unknown,
    is_legacy: false,
};

/// There is no client or server of this name.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no {kind} `{found}`; {}", match similar {
    Some(similar) => format!("did you mean `{similar}`?"),
    None if known.is_empty() => format!("there are no {kind}s"),
    None => format!("expected {}", known.iter().map(|it| format!("`{it}`")).collect::<Vec<_>>().join(", ")),
})]
#[non_exhaustive]
pub struct UnknownName {
    /// What it should be: a client or a server.
    pub kind: &'static str,
    /// The name given.
    pub found: String,
    /// A name that is spelled similarly.
    pub similar: Option<String>,
    /// The names that there are, or the first of them.
    pub known: Vec<String>,
}

impl UnknownName {
    /// The most names that the message lists.
    const MAX_KNOWN: usize = 20;

    /// Says what there is in place of `found`.
    pub fn new<'a>(
        kind: &'static str,
        found: &str,
        known: impl IntoIterator<Item = &'a str>,
    ) -> Self {
        let known: Vec<&str> = known.into_iter().collect();
        // Case is no difference.
        let lower = found.to_lowercase();
        let distance = |name: &str| strsim::damerau_levenshtein(&lower, &name.to_lowercase());
        let near = known.iter().filter(|name| distance(name) <= 1 + name.chars().count() / 4);
        let near = near.min_by_key(|name| distance(name));
        // `claude` may be several.
        let longer = || known.iter().find(|name| !found.is_empty() && name.starts_with(found));
        let near = near.or_else(longer);
        Self {
            kind,
            found: found.to_owned(),
            similar: near.map(|name| (*name).to_owned()),
            known: known.into_iter().take(Self::MAX_KNOWN).map(str::to_owned).collect(),
        }
    }
}

/// Returns the client of this name.
///
/// Fails if there is none.
pub fn client(name: &str) -> Result<&'static Client, UnknownName> {
    let found = CLIENTS.iter().find(|client| client.name == name);
    found.ok_or_else(|| UnknownName::new("client", name, CLIENTS.iter().map(|it| it.name)))
}

/// The client whose files are called like `path`.
#[must_use]
pub fn client_of_file(path: &Path) -> &'static Client {
    let has_it = |client: &&Client| {
        let ConfigPaths { linux, macos, windows, project } = &client.paths;
        let all = [linux, macos, windows, project].into_iter().copied().flatten();
        // Without the folder of the user.
        all.map(|known| known.rsplit_once('}').map_or(*known, |(_, rest)| &rest[1..]))
            .any(|known| path.ends_with(known))
    };
    let codex = || CLIENTS.iter().find(|client| client.syntax == Syntax::of_file(path));
    match CLIENTS.iter().find(has_it) {
        Some(client) => client,
        None if Syntax::of_file(path) == Syntax::Toml => codex().unwrap_or(&OTHER),
        None => &OTHER,
    }
}
