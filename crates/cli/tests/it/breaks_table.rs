//! What became of data that a server sent, and `docs/results.md`, the page that says so.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;

use serde_json::{Map, Value};
use toolbond_harness::files::root;

use crate::breaks::{CLIENTS, Round, Runs, SERVERS, TRANSPORTS};

/// What became of the data of a result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Fate {
    /// The model gets none, or not all of it.
    Lost,
    /// An error holds it.
    InError,
    /// It is a result, with all texts of the server.
    Arrived,
}

impl Fate {
    fn sign(self) -> &'static str {
        match self {
            Self::Lost => "✗",
            Self::InError => "(✓)",
            Self::Arrived => "✓",
        }
    }
}

/// What the server answers a call of a tool with.
pub(crate) struct Answer {
    pub(crate) tool: String,
    texts: Vec<String>,
    data: Value,
    pub(crate) is_error: bool,
}

/// All of them; the last one keeps its schema.
pub(crate) fn answers() -> Vec<Answer> {
    let file: Value =
        serde_json::from_str(include_str!("../../../../peers/servers/breaks.json")).unwrap();
    let tools = file["tools"].as_array().unwrap().iter();
    let answer = |tool: &Value| {
        let tool = tool["name"].as_str().unwrap().to_owned();
        let result = &file["answers"][&tool]["result"];
        let texts = result["content"].as_array().unwrap().iter();
        let texts: Vec<_> = texts.map(|it| it["text"].as_str().unwrap().to_owned()).collect();
        let data = match &result["structuredContent"] {
            Value::Null => texts[0].clone().into(),
            data => data.clone(),
        };
        Answer { tool, texts, data, is_error: result["isError"] == true }
    };
    tools.map(answer).collect()
}

impl Answer {
    /// Whether a text has all of its numbers and texts.
    pub(crate) fn is_in(&self, text: &str) -> bool {
        scalars(&self.data).iter().all(|leaf| text.contains(leaf))
    }

    /// What became of it, by what a client gives to its model.
    pub(crate) fn fate(&self, seen: &Value) -> Fate {
        let said = |text: &str| if self.is_in(text) { Fate::InError } else { Fate::Lost };
        if let Some(thrown) = seen["thrown"].as_str() {
            return said(thrown);
        }
        let texts: Vec<_> =
            seen["texts"].as_array().unwrap().iter().filter_map(Value::as_str).collect();
        let mut values =
            texts.iter().map(|text| Value::from(*text)).chain([seen["structured"].clone()]);
        let has_data = values.any(|value| meaning(&value) == meaning(&self.data));
        let has_texts = self.texts.iter().all(|text| texts.contains(&text.as_str()));
        match has_data && has_texts && seen["isError"] == self.is_error {
            true => Fate::Arrived,
            false if seen["isError"] == true => said(&texts.join("\n")),
            false => Fate::Lost,
        }
    }
}

/// What a value says, whether it is in an envelope, written as JSON text, or names properties that are null.
fn meaning(value: &Value) -> Value {
    match value {
        Value::String(text) => match serde_json::from_str(text) {
            Ok(value) => meaning(&value),
            Err(_) => value.clone(),
        },
        Value::Object(members) if members.len() == 1 && members.contains_key("result") => {
            meaning(&members["result"])
        }
        Value::Object(members) => {
            let members = members.iter().filter(|(_, value)| !value.is_null());
            let members: Map<_, _> =
                members.map(|(key, value)| (key.clone(), meaning(value))).collect();
            members.into()
        }
        Value::Array(items) => items.iter().map(meaning).collect(),
        value => value.clone(),
    }
}

/// The numbers and texts in a value.
fn scalars(value: &Value) -> Vec<String> {
    match meaning(value) {
        Value::Object(members) => members.values().flat_map(scalars).collect(),
        Value::Array(items) => items.iter().flat_map(scalars).collect(),
        Value::String(text) => vec![text],
        Value::Null => Vec::new(),
        value => vec![value.to_string()],
    }
}

/// The page.
pub(crate) struct Page(String);

/// Where the results of clients of SDKs are on the page.
pub(crate) const CLIENT_TABLES: &str = "clients";

impl Page {
    fn path() -> PathBuf {
        root().join("docs/results.md")
    }

    pub(crate) fn read() -> Self {
        Self(fs::read_to_string(Self::path()).unwrap())
    }

    /// What is before the tables called `name`, the tables, and what follows.
    fn parts(&self, name: &str) -> (&str, &str, &str) {
        let (start, end) = (format!("<!-- {name} -->\n"), format!("<!-- end of {name} -->"));
        let at = self.0.find(&start).unwrap() + start.len();
        let end = at + self.0[at..].find(&end).unwrap();
        (&self.0[..at], &self.0[at..end], &self.0[end..])
    }

    /// The cells of `runs` that the page does not have.
    pub(crate) fn missing(&self, runs: &Runs) -> Vec<String> {
        let table = self.parts(CLIENT_TABLES).1.split(&title(runs.server)).nth(1).unwrap();
        let column = CLIENTS.iter().position(|client| client.name == runs.client).unwrap();
        let has = |tool: &str, text: &str| {
            let row = table.lines().find_map(|line| line.strip_prefix(&format!("| `{tool}` | ")));
            let cell = row.and_then(|row| row.trim_end_matches(" |").split(" | ").nth(column));
            cell.is_some_and(|cell| cell == text || cell.starts_with(&format!("{text}; ")))
        };
        let cells = answers().into_iter().enumerate();
        let cells = cells.map(|(index, it)| (it.tool, cell(&runs.rounds, index)));
        let missing = cells.filter(|(tool, text)| !has(tool, text));
        missing.map(|(tool, text)| format!("{tool}: {text}")).collect()
    }

    /// Compares the tables, or writes them where `UPDATE` is set.
    pub(crate) fn compare(&self, name: &str, found: &str) {
        let (before, known, after) = self.parts(name);
        if std::env::var_os("UPDATE").is_some() {
            fs::write(Self::path(), format!("{before}{found}{after}")).unwrap();
        } else {
            assert!(known == found, "docs/results.md differs:\n{found}");
        }
    }
}

pub(crate) fn title(server: &str) -> String {
    match server {
        "legacy" => "A server of 2025-11-25:\n\n".to_owned(),
        _ => "A server of 2026-07-28:\n\n".to_owned(),
    }
}

/// What became of one call: directly, and through the guard.
pub(crate) fn cell<const N: usize>(rounds: &[Round; N], index: usize) -> String {
    let signs = rounds.each_ref().map(|round| round[index].sign());
    let (direct, guarded) = signs.split_first().unwrap();
    if guarded.iter().all(|sign| sign == direct) {
        return (*direct).to_owned();
    }
    format!("{direct} → {}", guarded.join(" "))
}

/// How many of the broken results became a result, and how many are in an error.
pub(crate) fn count(round: &Round) -> String {
    let broken = &round[..round.len() - 1];
    let of = |fate| broken.iter().filter(|it| **it == fate).count();
    match of(Fate::InError) {
        0 => of(Fate::Arrived).to_string(),
        errors => format!("{} (+{errors})", of(Fate::Arrived)),
    }
}

pub(crate) fn tables(runs: &[Runs]) -> String {
    let find = |client: &str, server: &str, transport: &str| {
        runs.iter()
            .find(|it| (it.client, it.server, it.transport) == (client, server, transport))
            .unwrap()
    };
    let mut text = "| client | server | directly | guard, round 1 | round 2 | after a restart |\n| --- | --- | --- | --- | --- | --- |\n".to_owned();
    for client in &CLIENTS {
        for server in SERVERS {
            let ways = TRANSPORTS.map(|transport| {
                find(client.name, server, transport).rounds.each_ref().map(count).join(" | ")
            });
            let row = format!("| {} | {server}", client.name);
            if ways.iter().all(|way| *way == ways[0]) {
                _ = writeln!(text, "{row} | {} |", ways[0]);
                continue;
            }
            for (transport, way) in TRANSPORTS.iter().zip(&ways) {
                _ = writeln!(text, "{row}, {transport} | {way} |");
            }
        }
    }
    let names = CLIENTS.each_ref().map(|client| client.name).join(" | ");
    for server in SERVERS {
        _ = write!(
            text,
            "\n{}| | {names} |\n| --- |{}\n",
            title(server),
            " --- |".repeat(CLIENTS.len())
        );
        for (index, answer) in answers().iter().enumerate() {
            let cells = CLIENTS.each_ref().map(|client| {
                let ways = TRANSPORTS
                    .map(|transport| cell(&find(client.name, server, transport).rounds, index));
                let others = TRANSPORTS.iter().zip(&ways).filter(|(_, way)| **way != ways[0]);
                let others = others.map(|(transport, way)| format!("; {transport}: {way}"));
                ways[0].clone() + &others.collect::<String>()
            });
            _ = writeln!(text, "| `{}` | {} |", answer.tool, cells.join(" | "));
        }
    }
    text
}
