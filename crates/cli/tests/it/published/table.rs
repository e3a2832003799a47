//! The table in `docs/published.md`. With `UPDATE=1`, tests write it instead of comparing.

use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::PathBuf;

use super::case::Case;
use super::variants::Kind;

const HEAD: &str = "\
# Published servers with and without the guard

Each server gets right calls, and variants of them: each number, boolean, array and object as a string, and `null` for each optional argument. It also gets each call with an extra property, `reason_for_call`, and each with the name of one optional argument misspelt. The guard runs with its default settings. Right calls are answered byte for byte as without the guard, except where the answer contains the time.

A variant *works* if it gets an answer that is no error, or the same answer as the right call. Most of these servers have no account and no network in the tests, and some answer every call with the same error. Their variants count as *work either way*: that column says that the guard breaks nothing, not that the call did what it should.

A server has no variants (0) if its calls pass only strings and its called tools have no optional arguments.

An *extra* property is left out where the schema refuses it, so that strict servers answer as well. A *misspelt* one works directly if the server ignores it, and answers as if the argument had not been given. There the guard is worse if only an answer counts: where the schema refuses other names, it answers with \"did you mean\", and the model can call again with the name that it meant.

The versions are pinned in [peers/package.json](../peers/package.json) and [peers/python](../peers/python); the calls are in [peers/published/servers](../peers/published/servers). `cargo xtask setup && UPDATE=1 cargo nextest run -p toolbond-cli --run-ignored all published` writes this page; without the variable, the same tests check it.

| server | tools | right calls | variants | work either way | only with the guard | only without | neither way | extra | work directly | with the guard | misspelt | work directly | with the guard |
| --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- | --- |
";

const REFUSED: &str = "
## What the guard refuses and the server takes

No variant of a value and no call with an extra property works only without the guard. Misspelt names do, by the difference of the last two columns. So do these calls: they break the tool's own schema in a way that no repair fixes without guessing. `arguments = \"warn\"` for the tool, in [toolbond.toml](guard.md), lets them through.

| server | call | why |
| --- | --- | --- |
";

/// The counts of one server.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Row {
    package: String,
    /// Tools, right calls, variants; of the variants: either way, only with, only without, neither way. Then calls with
    /// an extra property, how many work directly and with the guard, and the same for misspelt names.
    counts: [usize; COLUMNS],
}

const COLUMNS: usize = 13;

impl Row {
    pub(super) fn new(package: &str, tools: usize, calls: usize) -> Self {
        let mut counts = [0; COLUMNS];
        counts[..2].copy_from_slice(&[tools, calls]);
        Self { package: format!("`{package}`"), counts }
    }

    /// Counts a variant that works without the guard, and with it.
    pub(super) fn count(&mut self, kind: Kind, works: (bool, bool)) {
        let first = match kind {
            Kind::Value => 2,
            Kind::Extra => 7,
            Kind::Misspelt => 10,
        };
        self.counts[first] += 1;
        match (kind, works) {
            (Kind::Value, (true, true)) => self.counts[3] += 1,
            (Kind::Value, (false, true)) => self.counts[4] += 1,
            (Kind::Value, (true, false)) => self.counts[5] += 1,
            (Kind::Value, (false, false)) => self.counts[6] += 1,
            (_, (direct, guarded)) => {
                self.counts[first + 1] += usize::from(direct);
                self.counts[first + 2] += usize::from(guarded);
            }
        }
    }

    fn parse(line: &str) -> Option<Self> {
        let mut cells = line.trim_matches('|').split('|').map(str::trim);
        let package = cells.next().filter(|name| name.starts_with('`'))?.to_owned();
        let counts: Vec<_> = cells.map(str::parse).collect::<Result<_, _>>().ok()?;
        Some(Self { package, counts: counts.try_into().ok()? })
    }

    fn line(&self) -> String {
        let counts = self.counts.map(|count| count.to_string()).join(" | ");
        format!("| {} | {counts} |\n", self.package)
    }
}

fn path() -> PathBuf {
    PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/published.md"))
}

fn is_update() -> bool {
    std::env::var_os("UPDATE").is_some()
}

fn rows(text: &str) -> Vec<Row> {
    text.lines().filter_map(Row::parse).collect()
}

/// The page with `rows`, and what follows them.
fn page(rows: &[Row], rest: &str) -> String {
    let mut total = Row { package: format!("**{} servers**", rows.len()), counts: [0; COLUMNS] };
    let mut page = HEAD.to_owned();
    for row in rows {
        page += &row.line();
        for (sum, count) in total.counts.iter_mut().zip(row.counts) {
            *sum += count;
        }
    }
    page + &total.line() + rest
}

/// Changes the page while no other test does.
fn update(change: impl FnOnce(&str) -> String) {
    let path = path();
    let file = File::options().create(true).append(true).open(&path).unwrap();
    file.lock().unwrap();
    let text = fs::read_to_string(&path).unwrap();
    fs::write(&path, change(&text)).unwrap();
}

/// Compares the row of one server with the page.
pub(super) fn check_row(row: &Row) {
    if is_update() {
        return update(|text| {
            let mut rows = rows(text);
            rows.retain(|other| other.package != row.package);
            rows.push(row.clone());
            rows.sort_by(|a, b| a.package.cmp(&b.package));
            page(&rows, text.find(REFUSED).map_or("", |at| &text[at..]))
        });
    }
    let text = fs::read_to_string(path()).unwrap();
    let found = rows(&text).into_iter().find(|other| other.package == row.package);
    assert_eq!(found.as_ref(), Some(row), "docs/published.md");
}

/// Compares all of the page but the counts with what is known of the servers.
pub(super) fn check(cases: impl Iterator<Item = Case>) {
    let mut packages = Vec::new();
    let mut refused = REFUSED.to_owned();
    for case in cases {
        for call in &case.refused {
            let reason = call.note.as_deref().unwrap();
            let (package, tool, arguments) = (&case.package, &call.tool, &call.arguments);
            writeln!(refused, "| `{package}` | `{tool}` with `{arguments}` | {reason} |").unwrap();
        }
        packages.push(format!("`{}`", case.package));
    }
    let known = |text: &str| {
        let mut rows = rows(text);
        rows.retain(|row| packages.contains(&row.package));
        page(&rows, &refused)
    };
    if is_update() {
        return update(known);
    }
    let text = fs::read_to_string(path()).unwrap();
    assert_eq!(rows(&text).len(), packages.len(), "docs/published.md");
    assert_eq!(text, known(&text));
}
