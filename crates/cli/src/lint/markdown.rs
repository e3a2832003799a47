//! `--format markdown`: for a step summary or a comment.

use std::io::{self, Write};

use toolbond_contract::Severity;

use super::impacts::summary;
use super::matrix::Matrix;
use super::report::{Report, plural};
use crate::terminal::printable;

/// The most rows of a table: a comment on GitHub holds 65,536 characters.
const MAX_ROWS: usize = 100;

/// The most characters of a cell.
const MAX_CELL: usize = 300;

/// Writes `report`.
pub(super) fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let count = |severity, noun| plural(report.count(severity), noun);
    writeln!(
        out,
        "### toolbond lint: {}, {}, {}\n",
        count(Severity::Error, "error"),
        count(Severity::Warning, "warning"),
        count(Severity::Info, "info")
    )?;
    for list in report.lists.iter().filter(|list| list.new_findings().next().is_some()) {
        let matrix = Matrix::new(list, &report.targets, false);
        if matrix.rows.is_empty() {
            continue;
        }
        writeln!(out, "{} of {}\n", plural(matrix.rows.len(), "tool"), cell(&list.name))?;
        let columns = matrix.used_columns(&matrix.rows);
        let heads: Vec<_> = columns.iter().map(|column| matrix.columns[*column]).collect();
        writeln!(out, "| tool | {} |", heads.join(" | "))?;
        writeln!(out, "| --- |{}", " :-: |".repeat(columns.len()))?;
        for (name, row) in matrix.rows.iter().take(MAX_ROWS) {
            let symbol = |column: &usize| row[*column].map_or("", |cell| cell.symbol());
            let cells: Vec<_> = columns.iter().map(symbol).collect();
            writeln!(out, "| {} | {} |", cell(name), cells.join(" | "))?;
        }
        write_rest(matrix.rows.len(), out)?;
        writeln!(out, "\n{}\n", matrix.legend().join(" · "))?;
    }
    let mut findings: Vec<_> =
        report.new_findings().filter(|(_, found)| found.severity() > Severity::Info).collect();
    findings.sort_by_key(|(_, found)| std::cmp::Reverse(found.severity()));
    if !findings.is_empty() {
        writeln!(out, "| | rule | tool | place | what |")?;
        writeln!(out, "| --- | --- | --- | --- | --- |")?;
        for (list, found) in findings.iter().take(MAX_ROWS) {
            let place = match (&list.file, found.position) {
                (Some(file), Some((line, _))) => format!("{file}:{line}"),
                _ => found.pointer().to_string(),
            };
            let mut what = found.message();
            let impacts = summary(&found.finding.impacts);
            if !impacts.is_empty() {
                what = format!("{what}. {impacts}");
            }
            writeln!(
                out,
                "| {} | {} | {} | {} | {} |",
                found.severity(),
                found.rule(),
                cell(&found.tool()),
                cell(&place),
                cell(&what)
            )?;
        }
        write_rest(findings.len(), out)?;
        writeln!(out)?;
    }
    for line in report.stale_lines() {
        writeln!(out, "- {}", cell(&line))?;
    }
    writeln!(out, "`toolbond explain RULE` explains a rule.")
}

fn write_rest(rows: usize, out: &mut impl Write) -> io::Result<()> {
    if rows > MAX_ROWS {
        writeln!(out, "\n… and {} more", rows - MAX_ROWS)?;
    }
    Ok(())
}

/// Text for a cell: what Markdown or HTML would take for markup is escaped.
fn cell(text: &str) -> String {
    let mut cell = String::with_capacity(text.len());
    for c in printable(text).chars().take(MAX_CELL) {
        match c {
            '<' => cell.push_str("&lt;"),
            '>' => cell.push_str("&gt;"),
            '&' => cell.push_str("&amp;"),
            '@' => cell.push_str("&#64;"),
            '\\' | '|' | '*' | '_' | '[' | ']' | '~' | '!' | '#' | '`' => cell.extend(['\\', c]),
            c => cell.push(c),
        }
    }
    cell
}
