//! `--format concise`: one line per finding.

use std::io::{self, Write};

use super::impacts::bracketed_summary;
use super::report::Report;
use crate::terminal::printable;

/// Writes `report`.
pub(super) fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    for (list, found) in report.new_findings() {
        if !report.shows(found.severity()) {
            continue;
        }
        let place = match (&list.file, found.position) {
            (Some(file), Some((line, column))) => format!("{file}:{line}:{column}"),
            _ => list.name.clone(),
        };
        let impacts = bracketed_summary(&found.finding.impacts);
        let line = format!("{place}: {}{impacts}", found.finding.finding);
        writeln!(out, "{}", printable(&line))?;
    }
    for line in report.stale_lines() {
        writeln!(out, "{}", printable(&line))?;
    }
    Ok(())
}
