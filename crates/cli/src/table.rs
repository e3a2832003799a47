//! Writes findings of `toolpact judge`.

use std::io::{self, Write};

use serde_json::{Value, json};
use toolpact_contract::{Action, Finding, JudgedTools, Severity};

use crate::excerpt::Positions;
use crate::input::Document;
use crate::terminal::{BAD, DIM, GOOD, printable};

/// The widest column in characters. Longer cells move the rest of their line.
const MAX_WIDTH: usize = 60;

/// The findings of one list.
pub(crate) struct Findings<'a> {
    /// The name of the list.
    name: &'a str,
    /// The name of its file.
    source: &'a str,
    /// The checked list.
    judged: &'a JudgedTools,
    /// The line and the column of each finding, if known.
    positions: Vec<Option<(usize, usize)>>,
}

/// The most findings whose position is looked up: each lookup walks through the file.
const MAX_POSITIONS: usize = 200;

impl<'a> Findings<'a> {
    /// The findings about `judged`, which was read from `document`.
    pub(crate) fn new(document: &'a Document<'_>, judged: &'a JudgedTools) -> Self {
        let positions = document
            .text
            .filter(|_| !judged.findings.is_empty())
            .map(|text| Positions::parse(&document.source, text, document.line));
        let position = |finding: &Finding| {
            let mut at = judged.at.clone();
            if let Some(index) = finding.index {
                at.push(index);
            }
            positions.as_ref()?.line_column(&at.concat(&finding.pointer))
        };
        let positions = judged.findings.iter().take(MAX_POSITIONS).map(position).collect();
        Self { name: &document.name, source: &document.source, judged, positions }
    }

    fn position(&self, index: usize) -> Option<(usize, usize)> {
        self.positions.get(index).copied().flatten()
    }

    /// Writes a table with one line per finding: severity, rule, tool, pointer, message.
    pub(crate) fn write_table(&self, out: &mut impl Write) -> io::Result<()> {
        let name = printable(self.name);
        let kept = plural(self.judged.contracts.len(), "tool");
        match count_dropped(self.judged) {
            _ if self.judged.list.is_none() => writeln!(out, "{name}: {BAD}nothing kept{BAD:#}")?,
            0 => writeln!(out, "{name}: {GOOD}{kept} kept{GOOD:#}")?,
            dropped => writeln!(out, "{name}: {kept} kept, {BAD}{dropped} dropped{BAD:#}")?,
        }
        let rows: Vec<_> = self.judged.findings.iter().map(cells).collect();
        let width = |column: usize| {
            let widths = rows.iter().map(|row| row[column].chars().count());
            widths.filter(|width| *width <= MAX_WIDTH).max().unwrap_or_default()
        };
        let widths = [width(0), width(1), width(2), width(3)];
        for (row, finding) in rows.iter().zip(&self.judged.findings) {
            let style = if finding.severity == Severity::Error { BAD } else { DIM };
            let [severity, rule, tool, pointer] = row;
            writeln!(
                out,
                "  {style}{severity:0$}{style:#}  {rule:1$}  {tool:2$}  {pointer:3$}  {message}",
                widths[0],
                widths[1],
                widths[2],
                widths[3],
                message = printable(&message(finding)),
            )?;
        }
        Ok(())
    }

    /// Writes one line per finding, which starts with its position.
    pub(crate) fn write_lines(&self, out: &mut impl Write) -> io::Result<()> {
        for (index, finding) in self.judged.findings.iter().enumerate() {
            let line = match self.position(index) {
                Some((line, column)) => format!("{}:{line}:{column}: {finding}", self.source),
                None => format!("{}: {finding}", self.name),
            };
            writeln!(out, "{}", printable(&line))?;
        }
        Ok(())
    }

    /// Returns one JSON object with the kept tools and the findings.
    pub(crate) fn to_json(&self) -> Value {
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
                if let Some((line, column)) = self.position(index) {
                    object["line"] = line.into();
                    object["column"] = column.into();
                }
                object
            })
            .collect();
        json!({ "list": self.name, "kept": kept, "findings": findings })
    }
}

/// Totals over several lists.
#[derive(Default)]
pub(crate) struct Totals {
    lists: usize,
    kept: usize,
    dropped: usize,
    findings: usize,
}

impl Totals {
    /// Adds one list.
    pub(crate) fn add(&mut self, judged: &JudgedTools) {
        self.lists += 1;
        self.kept += judged.contracts.len();
        self.dropped += count_dropped(judged);
        self.findings += judged.findings.len();
    }

    /// Writes the totals if there is more than one list.
    pub(crate) fn write(&self, out: &mut impl Write) -> io::Result<()> {
        if self.lists < 2 {
            return Ok(());
        }
        let Self { lists, kept, dropped, findings } = self;
        writeln!(out, "{lists} lists, {kept} tools kept, {dropped} dropped, {findings} findings")
    }
}

/// The cells of a row before the message.
fn cells(finding: &Finding) -> [String; 4] {
    let tool = match (&finding.tool, finding.index) {
        (Some(tool), _) => printable(tool).into_owned(),
        (None, Some(index)) => format!("(tool {index})"),
        (None, None) => String::new(),
    };
    let pointer = finding.pointer.to_string();
    [finding.severity.to_string(), finding.rule.to_owned(), tool, printable(&pointer).into_owned()]
}

/// The message with its hint and what was done.
fn message(finding: &Finding) -> String {
    let mut message = finding.message.clone();
    if let Some(hint) = &finding.hint {
        message = format!("{message} ({hint})");
    }
    match finding.action {
        Action::None => message,
        action => format!("{message}; {action}"),
    }
}

/// Counts the dropped tools. A tool may have several findings.
fn count_dropped(judged: &JudgedTools) -> usize {
    let is_drop = |finding: &&Finding| finding.action == Action::ToolDropped;
    let mut indices: Vec<_> =
        judged.findings.iter().filter(is_drop).map(|finding| finding.index).collect();
    indices.dedup();
    indices.len()
}

fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
