//! `docs/hosts.md`: tables with a column for each host. A cell has what comes directly, and what the guard makes of it.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use toolbond_harness::files::root;

use super::run::{Call, HOSTS, Pair, Run, Server};

/// The most characters of a text that a cell quotes.
const QUOTED: usize = 80;

/// A cell of a table.
#[derive(Debug, PartialEq)]
pub(crate) struct Cell {
    table: &'static str,
    row: String,
    host: &'static str,
    text: String,
}

impl std::fmt::Display for Cell {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}: {}, {}: {}", self.table, self.row, self.host, self.text)
    }
}

/// The cells of a host and a server.
pub(crate) fn cells(server: &Server, pair: &Pair) -> Vec<Cell> {
    let mut cells = Vec::new();
    let mut add = |table, row: &str, of: &dyn Fn(&Run) -> String| {
        let text = in_all_ways(pair.runs.each_ref().map(of));
        cells.push(Cell { table, row: row.to_owned(), host: pair.host, text });
    };
    let hello = |run: &Run| {
        let hello = run.hello.as_ref().unwrap_or(&serde_json::Value::Null);
        let modern = |name: &str| &hello["_meta"][format!("io.modelcontextprotocol/{name}")];
        let (revision, client) = match &hello["protocolVersion"] {
            serde_json::Value::Null => (modern("protocolVersion"), modern("clientInfo")),
            revision => (revision, &hello["clientInfo"]),
        };
        [revision, &client["name"]].map(|it| it.as_str().unwrap_or("?").to_owned())
    };
    let row = format!("**{}**: {}", server.name, server.title);
    let total = |run: &Run| server.calls.as_ref().map_or(run.listed.len(), Vec::len);
    add("servers", &row, &|run| match (run.tools.len(), run.listed.len()) {
        (0, _) => "no tools".to_owned(),
        (offered, listed) => {
            let right = run.calls.iter().filter(|call| !call.is_error).count();
            format!("{offered} of {listed} tools, {right} of {} calls", total(run))
        }
    });
    add("schemas", &server.name, &|run| match (run.tools.len(), run.differences.join("; ")) {
        (0, _) => "no tools".to_owned(),
        (_, none) if none.is_empty() => "as listed".to_owned(),
        (_, differences) => differences,
    });
    match server.name.as_str() {
        // One server tells what there is to say of the host.
        "legacy" => {
            add("hosts", "package", &|run| {
                let host = HOSTS.iter().find(|host| host.name == pair.host).unwrap();
                format!("`{}` {}", host.package, run.version)
            });
            add("hosts", "`clientInfo.name`", &|run| format!("`{}`", hello(run)[1]));
            add("hosts", "a tool `log` of a server `s` is", &|run| {
                let is_log = |tool: &&super::run::Tool| tool.of.as_deref() == Some("log");
                match run.tools.iter().find(is_log) {
                    Some(tool) => format!(
                        "`{}`",
                        [tool.namespace.as_deref().unwrap_or_default(), &tool.name]
                            .join(" ")
                            .trim()
                    ),
                    None => "not offered".to_owned(),
                }
            });
        }
        "hostile-names" => {
            let [direct, ..] = &pair.runs;
            for name in &direct.listed {
                add("names", &code(name), &|run| {
                    let is_it = |tool: &&super::run::Tool| tool.of.as_ref() == Some(name);
                    run.tools
                        .iter()
                        .find(is_it)
                        .map_or("not offered".to_owned(), |it| code(&it.name))
                });
            }
        }
        _ => {}
    }
    let table = match server.name.as_str() {
        "results" => "results",
        "results-modern" => "results-modern",
        "hostile-names" => return cells,
        _ => "calls",
    };
    for (tool, arguments) in calls(server, pair) {
        let row = match table {
            "calls" => format!("{}: {}", server.name, code(&format!("{tool} {arguments}"))),
            _ => tool.clone(),
        };
        add(table, &row, &|run| {
            let is_it = |call: &&Call| {
                let told = call.arguments.to_string();
                call.of.as_ref() == Some(&tool) && told == arguments
            };
            match run.calls.iter().find(is_it) {
                Some(call) if call.is_error => format!("✗ {}", code(&call.text)),
                Some(call) => code(&call.text),
                None if run.tools.is_empty() => "no tools".to_owned(),
                None => "not offered".to_owned(),
            }
        });
    }
    cells
}

/// The calls of a server.
fn calls(server: &Server, pair: &Pair) -> Vec<(String, String)> {
    match &server.calls {
        Some(calls) => {
            calls.iter().map(|(tool, arguments)| (tool.clone(), arguments.to_string())).collect()
        }
        None => {
            let listed = pair.runs.iter().map(|run| &run.listed).find(|listed| !listed.is_empty());
            listed.into_iter().flatten().map(|tool| (tool.clone(), "{}".to_owned())).collect()
        }
    }
}

/// What comes directly, through the guard, and with `--for auto`.
fn in_all_ways([direct, guarded, viewed]: [String; 3]) -> String {
    let mut text = direct.clone();
    if guarded != direct {
        _ = write!(text, " → **{guarded}**");
    }
    if viewed != guarded {
        _ = write!(text, "; with `--for auto`: **{viewed}**");
    }
    text
}

/// The start of a text, as code in a table.
fn code(text: &str) -> String {
    let text =
        text.split_whitespace().collect::<Vec<_>>().join(" ").replace('`', "'").replace('|', "\\|");
    match text.char_indices().nth(QUOTED) {
        Some((end, _)) => format!("`{}…`", &text[..end]),
        None if text.is_empty() => "nothing".to_owned(),
        None => format!("`{text}`"),
    }
}

/// The tables, by name.
pub(crate) fn tables(servers: &[Server], pairs: &[Pair]) -> Vec<(&'static str, String)> {
    let mut all: Vec<Cell> = Vec::new();
    for server in servers {
        let of_server =
            |host: &str| pairs.iter().find(|it| it.host == host && it.server == server.name);
        all.extend(
            HOSTS
                .iter()
                .filter_map(|host| of_server(host.name))
                .flat_map(|pair| cells(server, pair)),
        );
    }
    let mut names: Vec<_> = all.iter().map(|cell| cell.table).collect();
    names.sort_unstable();
    names.dedup();
    let text = |name: &'static str| {
        let cells: Vec<_> = all.iter().filter(|cell| cell.table == name).collect();
        let mut rows: Vec<&str> = Vec::new();
        for cell in &cells {
            if !rows.contains(&cell.row.as_str()) {
                rows.push(&cell.row);
            }
        }
        let titles: Vec<_> = HOSTS.iter().map(|host| host.title).collect();
        let mut text =
            format!("| | {} |\n| --- |{}\n", titles.join(" | "), " --- |".repeat(titles.len()));
        for row in rows {
            let cell = |host: &str| {
                cells
                    .iter()
                    .find(|it| it.row == row && it.host == host)
                    .map_or("–", |it| it.text.as_str())
            };
            let columns: Vec<_> = HOSTS.iter().map(|host| cell(host.name)).collect();
            _ = writeln!(text, "| {row} | {} |", columns.join(" | "));
        }
        text
    };
    names.into_iter().map(|name| (name, text(name))).collect()
}

/// Whether the page says why something is worse through the guard.
pub(crate) fn names_the_reason(reason: &str) -> bool {
    Page::read().0.contains(reason)
}

/// The page.
pub(crate) struct Page(String);

impl Page {
    fn path() -> PathBuf {
        root().join("docs/hosts.md")
    }

    pub(crate) fn read() -> Self {
        Self(fs::read_to_string(Self::path()).unwrap())
    }

    /// What is before a table, the table, and what follows.
    fn parts(&self, table: &str) -> (&str, &str, &str) {
        let (begin, end) = (format!("<!-- {table} -->\n"), format!("<!-- end of {table} -->"));
        let at = self.0.find(&begin).unwrap_or_else(|| panic!("docs/hosts.md has no {begin}"))
            + begin.len();
        let length =
            self.0[at..].find(&end).unwrap_or_else(|| panic!("docs/hosts.md has no {end}"));
        (&self.0[..at], &self.0[at..at + length], &self.0[at + length..])
    }

    pub(crate) fn has(&self, cell: &Cell) -> bool {
        let column = HOSTS.iter().position(|host| host.name == cell.host).unwrap();
        let start = format!("| {} | ", cell.row);
        let mut lines = self.parts(cell.table).1.lines();
        lines.any(|line| {
            let cells = line.strip_prefix(&start).and_then(|rest| rest.strip_suffix(" |"));
            cells.and_then(|cells| cells.split(" | ").nth(column)) == Some(&cell.text)
        })
    }

    /// Compares the tables, or writes them where `UPDATE` is set.
    pub(crate) fn compare(mut self, tables: &[(&'static str, String)]) {
        let mut different = Vec::new();
        for (name, found) in tables {
            let (before, known, after) = self.parts(name);
            if known == found {
                continue;
            }
            let lost = known
                .lines()
                .filter(|line| !found.lines().any(|one| one == *line))
                .map(|it| format!("- {it}"));
            let new = found
                .lines()
                .filter(|line| !known.lines().any(|one| one == *line))
                .map(|it| format!("+ {it}"));
            different.extend(lost.chain(new));
            self.0 = format!("{before}{found}{after}");
        }
        if std::env::var_os("UPDATE").is_some() {
            fs::write(Self::path(), self.0).unwrap();
        } else {
            assert!(different.is_empty(), "docs/hosts.md differs:\n{}", different.join("\n"));
        }
    }
}
