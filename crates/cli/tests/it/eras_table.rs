//! What comes of each client with each server: the table in `data/eras.json`, and the page that shows it.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs::{self, File};
use std::path::Path;

use serde::{Deserialize, Serialize};

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

/// Steps that failed, and why. `connect` stands for all of them.
type Failures = BTreeMap<String, String>;

/// What comes of one client and one server: `without` or `with` the guard, by transport.
#[derive(Debug, Default, PartialEq, Clone, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Pair(BTreeMap<String, BTreeMap<String, Failures>>);

impl Pair {
    pub(crate) fn set(&mut self, way: &str, transport: &str, visit: Visit) {
        assert!(visit.is_complete(), "{way} {transport}: only {:?}", visit.0);
        let failures = visit.0.into_iter().filter_map(|(step, error)| Some((step, error?)));
        let transports = self.0.entry(way.to_owned()).or_default();
        transports.insert(transport.to_owned(), failures.collect());
    }

    /// The same on one transport.
    pub(crate) fn on(mut self, transport: &str) -> Self {
        self.0.values_mut().for_each(|transports| transports.retain(|name, _| name == transport));
        self
    }

    /// How one way fares, in a word.
    fn word(&self, way: &str) -> &'static str {
        let Some(transports) = self.0.get(way) else { return "not tried" };
        let failures = || transports.values();
        if failures().all(BTreeMap::is_empty) {
            "works"
        } else if failures().all(is_total) {
            "fails"
        } else {
            "partly"
        }
    }
}

fn is_total(failures: &Failures) -> bool {
    failures.contains_key("connect") || STEPS.iter().all(|step| failures.contains_key(*step))
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

/// All pairs, by client and server.
#[derive(Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(crate) struct Table(BTreeMap<String, BTreeMap<String, Pair>>);

impl Table {
    pub(crate) fn read(path: &Path) -> Self {
        serde_json::from_str(&fs::read_to_string(path).unwrap()).unwrap()
    }

    pub(crate) fn get(&self, client: &str, server: &str) -> Pair {
        let pair = self.0.get(client).and_then(|servers| servers.get(server));
        pair.cloned().unwrap_or_default()
    }

    pub(crate) fn set(&mut self, client: &str, server: &str, pair: Pair) {
        self.0.entry(client.to_owned()).or_default().insert(server.to_owned(), pair);
    }

    /// Changes the table and the page; tests that run at the same time wait for each other.
    pub(crate) fn update(data: &Path, page: &Path, change: impl FnOnce(&mut Self)) {
        let lock = File::open(page).unwrap();
        lock.lock().unwrap();
        let mut table = if data.exists() { Self::read(data) } else { Self::default() };
        change(&mut table);
        fs::write(data, serde_json::to_string_pretty(&table).unwrap() + "\n").unwrap();
        let text = table.put_into(&fs::read_to_string(page).unwrap());
        fs::write(page, text).unwrap();
    }

    /// The text of the page with this table in it.
    pub(crate) fn put_into(&self, page: &str) -> String {
        let (before, rest) = page.split_once("<!-- table -->\n").unwrap();
        let (_, after) = rest.split_once("<!-- end of the table -->").unwrap();
        format!("{before}<!-- table -->\n{}<!-- end of the table -->{after}", self.markdown())
    }

    fn markdown(&self) -> String {
        let mut text = format!("| client \\ server | {} |\n", NAMES.join(" | "));
        writeln!(text, "| --- |{}", " --- |".repeat(NAMES.len())).unwrap();
        for client in NAMES {
            let cells = NAMES.iter().map(|server| {
                let pair = self.get(client, server);
                match (pair.word("without"), pair.word("with")) {
                    (without, with) if without == with => with.to_owned(),
                    (without, with) => format!("{without} → **{with}**"),
                }
            });
            writeln!(text, "| {client} | {} |", cells.collect::<Vec<_>>().join(" | ")).unwrap();
        }
        let rows = self.rows();
        if !rows.is_empty() {
            text.push_str("\n| client | server | guard | transport | what fails | why |\n");
            text.push_str("| --- | --- | --- | --- | --- | --- |\n");
            text.push_str(&rows);
        }
        text
    }

    /// A row for each failure; transports and steps that fail for the same reason share it.
    fn rows(&self) -> String {
        let mut text = String::new();
        for client in NAMES {
            for server in NAMES {
                for (way, transports) in self.get(client, server).0.iter().rev() {
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
                        let steps = if steps == ["connect"] || steps.len() == STEPS.len() {
                            "everything".to_owned()
                        } else {
                            steps.join(", ")
                        };
                        let transports = transports.join(", ");
                        let reason = reason.replace('|', "\\|");
                        writeln!(
                            text,
                            "| {client} | {server} | {way} | {transports} | {steps} | `{reason}` |"
                        )
                        .unwrap();
                    }
                }
            }
        }
        text
    }
}
