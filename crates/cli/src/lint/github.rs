//! `--format github`: workflow commands that become annotations.
//!
//! The form is that of `@actions/core`: `::error file=…,line=…,title=…::message`. GitHub shows ten of each kind for one
//! step, so the worst come first.

use std::io::{self, Write};

use toolbond_contract::Severity;

use super::impacts::summary;
use super::report::Report;
use crate::terminal::printable;

/// Writes `report`.
pub(super) fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let mut findings: Vec<_> = report.new_findings().collect();
    findings.retain(|(_, found)| report.shows(found.severity()));
    findings.sort_by_key(|(_, found)| std::cmp::Reverse(found.severity()));
    for (list, found) in findings {
        let command = match found.severity() {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Info => "notice",
        };
        let title = format!("{} {}", found.rule(), printable(&found.tool()));
        let mut properties = vec![format!("title={}", property(title.trim_end()))];
        if let Some(file) = &list.file {
            properties.push(format!("file={}", property(&printable(file))));
        }
        if let Some((line, column)) = found.position {
            properties.push(format!("line={line}"));
            properties.push(format!("col={column}"));
        }
        let mut message = format!("{}: {}", found.pointer(), found.message());
        if list.file.is_none() {
            message = format!("{}: {message}", list.name);
        }
        let mut message = printable(&message).into_owned();
        match summary(&found.finding.impacts) {
            impacts if impacts.is_empty() => {}
            impacts => message = format!("{message}\n{impacts}"),
        }
        writeln!(out, "::{command} {}::{}", properties.join(","), data(&message))?;
    }
    for line in report.stale_lines() {
        writeln!(out, "::error title=stale baseline::{}", data(&printable(&line)))?;
    }
    Ok(())
}

/// Escapes the message of a command.
fn data(text: &str) -> String {
    text.replace('%', "%25").replace('\r', "%0D").replace('\n', "%0A")
}

/// Escapes the value of a property.
fn property(text: &str) -> String {
    data(text).replace(':', "%3A").replace(',', "%2C")
}
