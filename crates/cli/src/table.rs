//! Findings as people read them.

use std::io::{self, Write};

use clap::ValueEnum;
use serde_json::{Value, json};
use toolpact_contract::{Action, Finding, JudgedTools, Severity};

use crate::excerpt::Positions;
use crate::input::Document;
use crate::terminal::{BAD, DIM, GOOD, printable};

/// How findings are written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// A table for each list.
    #[default]
    Full,
    /// One line a finding: `file:line:column`, the rule, the tool, the place, what is wrong.
    Concise,
    /// One JSON object a list: the tools that stay, with their digests, and the findings.
    Json,
}

/// The most characters that a column is made wide for; longer ones push the rest of their line.
const WIDEST: usize = 60;

/// The findings of one list.
pub(crate) struct Findings<'a> {
    /// The name of the list.
    name: &'a str,
    /// The name of its file.
    source: &'a str,
    /// The list after judgement.
    judged: &'a JudgedTools,
    /// The line and the column of each finding, as far as they are known.
    places: Vec<Option<(usize, usize)>>,
}

/// The findings whose place in the file is looked up: each takes a walk through the file.
const PLACED: usize = 200;

impl<'a> Findings<'a> {
    /// The findings of `judged`, which came from `document`.
    pub(crate) fn of(document: &'a Document<'_>, judged: &'a JudgedTools) -> Self {
        let positions = document
            .text
            .filter(|_| !judged.findings.is_empty())
            .map(|text| Positions::of(&document.source, text, document.line));
        let place = |finding: &Finding| {
            let mut at = judged.at.clone();
            if let Some(index) = finding.index {
                at.push(index);
            }
            positions.as_ref()?.line_column(&at.concat(&finding.pointer))
        };
        let places = judged.findings.iter().take(PLACED).map(place).collect();
        Self { name: &document.name, source: &document.source, judged, places }
    }

    fn place(&self, index: usize) -> Option<(usize, usize)> {
        self.places.get(index).copied().flatten()
    }

    /// One line a finding, in columns: severity, rule, tool, place, what is wrong.
    pub(crate) fn table(&self, out: &mut impl Write) -> io::Result<()> {
        let name = printable(self.name);
        let kept = count(self.judged.contracts.len(), "tool");
        match dropped(self.judged) {
            _ if self.judged.list.is_none() => writeln!(out, "{name}: {BAD}nothing kept{BAD:#}")?,
            0 => writeln!(out, "{name}: {GOOD}{kept} kept{GOOD:#}")?,
            gone => writeln!(out, "{name}: {kept} kept, {BAD}{gone} dropped{BAD:#}")?,
        }
        let rows: Vec<_> = self.judged.findings.iter().map(row).collect();
        let width = |column: usize| {
            let widths = rows.iter().map(|row| row[column].chars().count());
            widths.filter(|width| *width <= WIDEST).max().unwrap_or_default()
        };
        let widths = [width(0), width(1), width(2), width(3)];
        for (row, finding) in rows.iter().zip(&self.judged.findings) {
            let style = if finding.severity == Severity::Error { BAD } else { DIM };
            let [severity, rule, tool, place] = row;
            writeln!(
                out,
                "  {style}{severity:0$}{style:#}  {rule:1$}  {tool:2$}  {place:3$}  {what}",
                widths[0],
                widths[1],
                widths[2],
                widths[3],
                what = printable(&what(finding)),
            )?;
        }
        Ok(())
    }

    /// One line a finding, with the name of the list.
    pub(crate) fn lines(&self, out: &mut impl Write) -> io::Result<()> {
        for (index, finding) in self.judged.findings.iter().enumerate() {
            let line = match self.place(index) {
                Some((line, column)) => format!("{}:{line}:{column}: {finding}", self.source),
                None => format!("{}: {finding}", self.name),
            };
            writeln!(out, "{}", printable(&line))?;
        }
        Ok(())
    }

    /// One JSON object: the tools that stay, and the findings.
    pub(crate) fn json(&self) -> Value {
        let kept: Vec<_> = self
            .judged
            .contracts
            .iter()
            .map(|tool| json!({ "name": tool.name(), "digest": tool.digest().to_string() }))
            .collect();
        let findings: Vec<_> = self
            .judged
            .findings
            .iter()
            .enumerate()
            .map(|(index, finding)| {
                let mut object = json!(finding);
                if let Some((line, column)) = self.place(index) {
                    object["line"] = line.into();
                    object["column"] = column.into();
                }
                object
            })
            .collect();
        json!({ "list": self.name, "kept": kept, "findings": findings })
    }
}

/// Sums over several lists.
#[derive(Default)]
pub(crate) struct Sums {
    lists: usize,
    kept: usize,
    dropped: usize,
    findings: usize,
}

impl Sums {
    /// Counts one list.
    pub(crate) fn add(&mut self, judged: &JudgedTools) {
        self.lists += 1;
        self.kept += judged.contracts.len();
        self.dropped += dropped(judged);
        self.findings += judged.findings.len();
    }

    /// The sums, for people who judged more than one list.
    pub(crate) fn tell(&self, out: &mut impl Write) -> io::Result<()> {
        if self.lists < 2 {
            return Ok(());
        }
        let Self { lists, kept, dropped, findings } = self;
        writeln!(out, "{lists} lists, {kept} tools kept, {dropped} dropped, {findings} findings")
    }
}

fn row(finding: &Finding) -> [String; 4] {
    let tool = match (&finding.tool, finding.index) {
        (Some(tool), _) => printable(tool).into_owned(),
        (None, Some(index)) => format!("(tool {index})"),
        (None, None) => String::new(),
    };
    let place = finding.pointer.to_string();
    [finding.severity.to_string(), finding.rule.to_owned(), tool, printable(&place).into_owned()]
}

fn what(finding: &Finding) -> String {
    let mut what = finding.message.clone();
    if let Some(hint) = &finding.hint {
        what = format!("{what} ({hint})");
    }
    match finding.action {
        Action::None => what,
        action => format!("{what}; {action}"),
    }
}

/// How many tools were dropped: a tool may have several findings.
fn dropped(judged: &JudgedTools) -> usize {
    let is_drop = |finding: &&Finding| finding.action == Action::ToolDropped;
    let mut places: Vec<_> =
        judged.findings.iter().filter(is_drop).map(|finding| finding.index).collect();
    places.dedup();
    places.len()
}

fn count(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
