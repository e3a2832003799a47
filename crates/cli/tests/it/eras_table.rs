//! What comes of each client with each server, and `docs/eras.md`, the page that says so.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::path::PathBuf;

use toolbond_harness::files::root;

use crate::eras::NAMES;

/// The steps of a visit, in their order.
const STEPS: [&str; 11] = [
    "list", "answer", "elicit", "sample", "progress", "cancel", "read", "prompt", "change",
    "roots", "log",
];

/// What became of the steps of one visit: nothing where they worked, the reason where they failed.
#[derive(Default)]
pub(crate) struct Visit(BTreeMap<String, Option<String>>);

impl Visit {
    pub(crate) fn add(&mut self, step: &str, error: Option<&str>) {
        self.0.insert(step.to_owned(), error.map(summary));
    }

    /// Whether each step has been taken, or none because the client could not connect.
    fn is_complete(&self) -> bool {
        STEPS.iter().all(|step| self.0.contains_key(*step))
            || self.0.keys().eq(["connect"]) && self.0.values().all(Option::is_some)
    }
}

/// The first words of an error, without ports.
fn summary(error: &str) -> String {
    let mut text = String::new();
    for word in error.split_whitespace() {
        let word = match word.split_once("127.0.0.1:") {
            Some((head, tail)) => {
                let tail = tail.trim_start_matches(|digit: char| digit.is_ascii_digit());
                format!("{head}127.0.0.1{tail}")
            }
            None => word.to_owned(),
        };
        // The first word may be a whole message in JSON.
        if !text.is_empty() && text.len() + word.len() >= 120 {
            break;
        }
        text.extend((!text.is_empty()).then_some(' '));
        text.push_str(&word);
    }
    text
}

/// Steps that failed, and why. `connect` stands for all of them.
type Failures = BTreeMap<String, String>;

/// What comes of one client and one server: `without` or `with` the guard, by transport.
#[derive(Default)]
pub(crate) struct Pair(BTreeMap<String, BTreeMap<String, Failures>>);

impl Pair {
    pub(crate) fn set(&mut self, way: &str, transport: &str, visit: Visit) {
        assert!(visit.is_complete(), "{way} {transport}: only {:?}", visit.0);
        let failures = visit.0.into_iter().filter_map(|(step, error)| Some((step, error?)));
        let transports = self.0.entry(way.to_owned()).or_default();
        transports.insert(transport.to_owned(), failures.collect());
    }

    /// How the pair fares, in a word; in two where the guard makes a difference.
    pub(crate) fn word(&self) -> String {
        match (self.word_of("without"), self.word_of("with")) {
            (without, with) if without == with => with.to_owned(),
            (without, with) => format!("{without} → **{with}**"),
        }
    }

    fn word_of(&self, way: &str) -> &'static str {
        let is_total = |failures: &Failures| {
            failures.contains_key("connect")
                || STEPS.iter().all(|step| failures.contains_key(*step))
        };
        let mut failures = self.0[way].values();
        if failures.clone().all(BTreeMap::is_empty) {
            "works"
        } else if failures.all(is_total) {
            "fails"
        } else {
            "partly"
        }
    }

    /// A row for each failure; transports and steps that fail for the same reason share it.
    pub(crate) fn rows(&self, client: &str, server: &str) -> Vec<String> {
        let mut lines = Vec::new();
        for (way, transports) in self.0.iter().rev() {
            let mut rows: BTreeMap<(Vec<&str>, &str), Vec<&str>> = BTreeMap::new();
            for (transport, failures) in transports {
                let mut reasons: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
                for step in ["connect"].iter().chain(&STEPS) {
                    if let Some(reason) = failures.get(*step) {
                        reasons.entry(reason).or_default().push(step);
                    }
                }
                for (reason, steps) in reasons {
                    rows.entry((steps, reason)).or_default().push(transport);
                }
            }
            for ((steps, reason), transports) in rows {
                let is_total = steps == ["connect"] || steps.len() == STEPS.len();
                let steps = if is_total { "everything".to_owned() } else { steps.join(", ") };
                let (transports, reason) = (transports.join(", "), reason.replace('|', "\\|"));
                lines.push(format!(
                    "| {client} | {server} | {way} | {transports} | {steps} | `{reason}` |"
                ));
            }
        }
        lines
    }
}

/// The page: a table with a word for each pair, and one with a row for each failure.
pub(crate) struct Page {
    before: String,
    words: BTreeMap<(String, String), String>,
    rows: Vec<String>,
    after: String,
}

const START: &str = "<!-- table -->\n";
const END: &str = "<!-- end of the table -->";
const ROWS: &str = "\n| client | server | guard | transport | what fails | why |\n| --- | --- | --- | --- | --- | --- |\n";

impl Page {
    fn path() -> PathBuf {
        root().join("docs/eras.md")
    }

    pub(crate) fn read() -> Self {
        let text = fs::read_to_string(Self::path()).unwrap();
        let (before, rest) = text.split_once(START).unwrap();
        let (tables, after) = rest.split_once(END).unwrap();
        let (table, rows) = tables.split_once(ROWS).unwrap();
        let mut words = BTreeMap::new();
        for line in table.lines().skip(2) {
            let cells: Vec<&str> = line.trim_matches(['|', ' ']).split(" | ").collect();
            for (server, word) in NAMES.iter().zip(&cells[1..]) {
                words.insert((cells[0].to_owned(), (*server).to_owned()), (*word).to_owned());
            }
        }
        let rows = rows.lines().map(str::to_owned).collect();
        Self { before: before.to_owned(), words, rows, after: after.to_owned() }
    }

    /// The word of a pair.
    pub(crate) fn word(&self, client: &str, server: &str) -> &str {
        &self.words[&(client.to_owned(), server.to_owned())]
    }

    /// The rows of a pair.
    pub(crate) fn rows(&self, client: &str, server: &str) -> Vec<&str> {
        let start = format!("| {client} | {server} | ");
        self.rows.iter().map(String::as_str).filter(|row| row.starts_with(&start)).collect()
    }

    /// Writes what was found of a pair; tests that run at the same time wait for each other.
    pub(crate) fn update(client: &str, server: &str, found: &Pair) {
        let lock = File::open(root().join("Cargo.toml")).unwrap();
        lock.lock().unwrap();
        let mut page = Self::read();
        page.words.insert((client.to_owned(), server.to_owned()), found.word());
        let mut rows = Vec::new();
        for one in NAMES {
            for other in NAMES {
                if (*one, *other) == (client, server) {
                    rows.extend(found.rows(client, server));
                } else {
                    rows.extend(page.rows(one, other).into_iter().map(str::to_owned));
                }
            }
        }
        page.rows = rows;
        fs::write(Self::path(), page.text()).unwrap();
    }

    fn text(&self) -> String {
        let line = |cells: Vec<&str>| format!("| {} |\n", cells.join(" | "));
        let mut table = line([&["client \\ server"], NAMES].concat());
        table += &line(vec!["---"; NAMES.len() + 1]);
        for client in NAMES {
            let words = NAMES.iter().map(|server| self.word(client, server));
            table += &line([*client].into_iter().chain(words).collect());
        }
        let rows = self.rows.join("\n");
        format!("{}{START}{table}{ROWS}{rows}\n{END}{}", self.before, self.after)
    }
}

#[test]
fn the_page_is_written_as_it_is_read() {
    assert_eq!(Page::read().text(), fs::read_to_string(Page::path()).unwrap());
}
