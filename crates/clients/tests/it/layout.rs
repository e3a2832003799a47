//! Configurations in many layouts.

use std::fmt::Write as _;

use proptest::prelude::*;
use toolbond_clients::Syntax;

/// How a text is laid out.
#[derive(Clone, Debug)]
pub(crate) struct Layout {
    newline: &'static str,
    indent: &'static str,
    /// What stands before and after a colon or an equals sign.
    around: (&'static str, &'static str),
    /// A byte order mark, or nothing.
    mark: &'static str,
    has_comments: bool,
    /// Elements of arrays each in their own line.
    is_tall: bool,
    has_trailing_comma: bool,
    /// What stands at the end of the text: a line break, or nothing.
    end: &'static str,
}

/// A server of a configuration.
#[derive(Clone, Debug)]
pub(crate) struct Server {
    name: String,
    start: Start,
    has_env: bool,
    is_args_first: bool,
    /// For TOML: as an inline table, with dotted keys, or as a table of its own.
    form: u8,
}

#[derive(Clone, Debug)]
enum Start {
    Command { program: String, args: Option<Vec<String>> },
    Remote { kind: Option<&'static str>, headers: Option<Vec<(String, String)>> },
}

impl Server {
    pub(crate) fn is_remote(&self) -> bool {
        matches!(self.start, Start::Remote { .. })
    }
}

/// A word that would stand in a list of arguments.
fn word() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-z@/-]{1,8}",
        Just("--".to_owned()),
        Just(String::new()),
        Just("a \"quoted\" \\ word".to_owned()),
        Just("größe ${VAR} # no // comment".to_owned()),
        Just("C:\\Program Files\\x.exe".to_owned()),
        Just("tab\tand\u{7f}".to_owned()),
    ]
}

fn server() -> impl Strategy<Value = Server> {
    let command = (word(), prop::option::of(prop::collection::vec(word(), 0..4)))
        .prop_map(|(program, args)| Start::Command { program, args });
    let headers = prop::collection::btree_map("[A-Z][a-z]{1,3}-[A-Z]", word(), 0..3);
    let headers = headers.prop_map(|it| it.into_iter().collect::<Vec<_>>());
    let kind = prop::sample::select(vec![None, Some("http"), Some("sse")]);
    let remote = (kind, prop::option::of(headers))
        .prop_map(|(kind, headers)| Start::Remote { kind, headers });
    let start = prop_oneof![3 => command, 1 => remote];
    let name = prop_oneof!["[a-z][a-z-]{0,6}", Just("with space.and \"dot".to_owned())];
    (name, start, any::<bool>(), any::<bool>(), 0..3_u8).prop_map(
        |(name, start, has_env, is_args_first, form)| Server {
            name,
            start,
            has_env,
            is_args_first,
            form,
        },
    )
}

/// Servers with different names.
pub(crate) fn servers() -> impl Strategy<Value = Vec<Server>> {
    prop::collection::vec(server(), 1..5).prop_map(|mut servers| {
        servers.sort_by(|a, b| a.name.cmp(&b.name));
        servers.dedup_by(|a, b| a.name == b.name);
        servers
    })
}

pub(crate) fn layout() -> impl Strategy<Value = Layout> {
    let around = [(" ", " "), ("", " "), ("", ""), ("  ", "\t")];
    (
        prop::sample::select(vec!["\n", "\r\n", " "]),
        prop::sample::select(vec!["  ", "    ", "\t", ""]),
        prop::sample::select(around.to_vec()),
        any::<[bool; 5]>(),
    )
        .prop_map(|(newline, indent, around, [mark, comments, tall, trailing, ends])| Layout {
            newline,
            indent,
            around,
            mark: if mark { "\u{feff}" } else { "" },
            has_comments: comments,
            is_tall: tall,
            has_trailing_comma: trailing,
            end: if ends { newline } else { "" },
        })
}

fn quote(text: &str) -> String {
    serde_json::Value::from(text).to_string().replace('\u{7f}', "\\u007f")
}

impl Layout {
    fn line(&self, depth: usize) -> String {
        format!("{}{}", self.newline, self.indent.repeat(depth))
    }

    fn comment(&self, text: &str) -> String {
        if self.has_comments { format!("/* {text} \"x\": [ */") } else { String::new() }
    }

    fn comma(&self) -> &'static str {
        if self.has_trailing_comma { "," } else { "" }
    }

    fn object(&self, depth: usize, members: &[(String, String)]) -> String {
        let mut text = "{".to_owned();
        for (index, (name, value)) in members.iter().enumerate() {
            let comma = if index + 1 < members.len() { "," } else { self.comma() };
            let (before, after) = self.around;
            _ = write!(
                text,
                "{}{}{}{before}:{after}{value}{comma}",
                self.line(depth + 1),
                self.comment("MARK"),
                quote(name)
            );
        }
        text + &self.line(depth) + "}"
    }

    fn array(&self, depth: usize, items: &[String], is_json: bool) -> String {
        let items: Vec<_> = items.iter().map(|it| quote(it)).collect();
        let is_tall = self.is_tall && (is_json || self.newline != " ");
        if items.is_empty() {
            return if is_tall { format!("[{}]", self.line(depth)) } else { "[ ]".to_owned() };
        }
        if !is_tall {
            return format!("[{}]", items.join(if self.around.1.is_empty() { "," } else { ", " }));
        }
        let lines = items.join(&format!(",{}", self.line(depth + 1)));
        format!("[{}{lines}{}{}]", self.line(depth + 1), self.comma(), self.line(depth))
    }

    fn json_server(&self, depth: usize, server: &Server) -> String {
        let mut members = vec![];
        match &server.start {
            Start::Command { program, args } => {
                members.push(("command".to_owned(), quote(program)));
                if let Some(args) = args {
                    let args = ("args".to_owned(), self.array(depth + 1, args, true));
                    members.insert(usize::from(!server.is_args_first), args);
                }
                if server.has_env {
                    let env = [("KEY".to_owned(), quote("secret"))];
                    members.push(("env".to_owned(), self.object(depth + 1, &env)));
                }
            }
            Start::Remote { kind, headers } => {
                if let Some(kind) = kind {
                    members.push(("type".to_owned(), quote(kind)));
                }
                members.push(("url".to_owned(), quote("https://tools.example/mcp")));
                if let Some(headers) = headers {
                    let headers: Vec<_> =
                        headers.iter().map(|(name, value)| (name.clone(), quote(value))).collect();
                    members.push(("headers".to_owned(), self.object(depth + 1, &headers)));
                }
            }
        }
        members.push(("note".to_owned(), "[1.50, 1e2, null]".to_owned()));
        self.object(depth, &members)
    }

    /// A configuration of Claude Code with these servers for the user and for projects.
    pub(crate) fn json(&self, servers: &[Server], of_projects: &[Vec<Server>]) -> String {
        let table = |depth: usize, servers: &[Server]| {
            let members: Vec<_> = servers
                .iter()
                .map(|server| (server.name.clone(), self.json_server(depth + 1, server)))
                .collect();
            self.object(depth, &members)
        };
        let mut members = vec![("numStartups".to_owned(), "1".to_owned())];
        let projects: Vec<_> = of_projects
            .iter()
            .enumerate()
            .map(|(index, servers)| {
                let servers = [("mcpServers".to_owned(), table(3, servers))];
                (format!("/home/ada/{index}"), self.object(2, &servers))
            })
            .collect();
        members.push(("projects".to_owned(), self.object(1, &projects)));
        members.push(("mcpServers".to_owned(), table(1, servers)));
        members.push(("last".to_owned(), quote("x")));
        self.finish(&self.object(0, &members))
    }

    fn finish(&self, text: &str) -> String {
        format!("{}{text}{}", self.mark, self.end)
    }

    /// A configuration of Codex with these servers.
    pub(crate) fn toml(&self, servers: &[Server]) -> String {
        let newline = if self.newline == " " { "\n" } else { self.newline };
        let (before, after) = self.around;
        let mut text = String::new();
        // Keys with dots come before the first table.
        let mut servers: Vec<_> = servers.iter().collect();
        servers.sort_by_key(|server| server.form);
        let comment = if self.has_comments { " # MARK \"x\" = [" } else { "" };
        _ = write!(text, "model{before}={after}'x'{comment}{newline}");
        for server in servers {
            let name = quote(&server.name);
            let mut lines = self.toml_server(server);
            let is_inline = server.form == 0;
            if server.form == 2 {
                lines.push(("note".to_owned(), "1.50".to_owned()));
            }
            let equals = |(key, value): &(String, String)| format!("{key}{before}={after}{value}");
            match server.form {
                _ if is_inline => {
                    let members: Vec<_> = lines.iter().map(equals).collect();
                    let members = members.join(", ");
                    _ = write!(
                        text,
                        "mcp_servers.{name}{before}={after}{{{members}}}{comment}{newline}"
                    );
                }
                1 => {
                    for line in &lines {
                        _ = write!(text, "mcp_servers.{name}.{}{comment}{newline}", equals(line));
                    }
                }
                _ => {
                    _ = write!(text, "{newline}[mcp_servers.{name}]{comment}{newline}");
                    for line in &lines {
                        _ = write!(text, "{}{}{comment}{newline}", self.indent, equals(line));
                    }
                }
            }
        }
        let text = if self.end.is_empty() { text.trim_end() } else { &text };
        format!("{}{text}", self.mark)
    }

    fn toml_server(&self, server: &Server) -> Vec<(String, String)> {
        // A line break inside of an inline table is new.
        let flat = Self { is_tall: self.is_tall && server.form != 0, ..self.clone() };
        let mut lines = vec![];
        match &server.start {
            Start::Command { program, args } => {
                let has_quote = program.contains(['\'', '\t', '\u{7f}']);
                let program = if has_quote { quote(program) } else { format!("'{program}'") };
                lines.push(("command".to_owned(), program));
                if let Some(args) = args {
                    let args = ("args".to_owned(), flat.array(0, args, false));
                    lines.insert(usize::from(!server.is_args_first), args);
                }
                if server.has_env {
                    lines.push(("env".to_owned(), "{ KEY = \"secret\" }".to_owned()));
                }
            }
            Start::Remote { headers, .. } => {
                lines.push(("url".to_owned(), quote("https://tools.example/mcp")));
                if let Some(headers) = headers {
                    let members: Vec<_> = headers
                        .iter()
                        .map(|(name, value)| format!("{name} = {}", quote(value)))
                        .collect();
                    lines.push(("http_headers".to_owned(), format!("{{{}}}", members.join(", "))));
                }
            }
        }
        lines
    }

    /// The text of `servers` in `syntax`.
    pub(crate) fn text(&self, syntax: Syntax, servers: &[Server]) -> String {
        match syntax {
            Syntax::Json => self.json(servers, &[servers.to_vec(), Vec::new()]),
            Syntax::Toml => self.toml(servers),
        }
    }
}
