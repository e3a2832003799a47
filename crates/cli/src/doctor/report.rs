//! How checkups are written.

use std::io::{self, Write};

use super::checkup::{Checkup, Problem, State};
use crate::lint::plural;
use crate::terminal::{BAD, DIM, GOOD, printable};

/// The most names of tools that are listed of one problem.
const MAX_NAMED: usize = 3;

/// One JSON object per server.
pub(crate) fn write_json(checkup: &Checkup, out: &mut impl Write) -> io::Result<()> {
    writeln!(out, "{}", serde_json::to_string(checkup)?)
}

/// A line for each server, and what there is to say about it.
pub(crate) fn write_text(checkup: &Checkup, out: &mut impl Write) -> io::Result<()> {
    let Checkup { server, project, state, .. } = checkup;
    let (style, mark) = match state {
        State::Works => (GOOD, "✓"),
        State::Impaired => (BAD, "!"),
        State::Fails => (BAD, "✗"),
        State::Unchecked => (DIM, "?"),
    };
    let project = project.as_ref().map_or_else(String::new, |it| format!(" (in {it})"));
    writeln!(
        out,
        "  {style}{mark}{style:#} {}{}: {}",
        printable(server),
        printable(&project),
        printable(&summary(checkup))
    )?;
    for Problem { rule, tools, text } in &checkup.problems {
        let names: Vec<_> = tools.iter().take(MAX_NAMED).map(String::as_str).collect();
        let more = tools.len().saturating_sub(MAX_NAMED);
        let more = if more > 0 { format!(" and {more} more") } else { String::new() };
        let of =
            if names.is_empty() { String::new() } else { format!("{}{more}: ", names.join(", ")) };
        let rule = rule.map_or_else(String::new, |rule| format!(" [{rule}]"));
        writeln!(out, "      {}{}{rule}", printable(&of), printable(text))?;
    }
    let verb = if checkup.is_guarded { "the guard still" } else { "the guard" };
    if !checkup.guard.is_empty() {
        writeln!(out, "      {verb} {}", checkup.guard.join(", "))?;
    }
    for advice in &checkup.advice {
        writeln!(out, "      → {}", printable(advice))?;
    }
    Ok(())
}

/// The state in words.
fn summary(checkup: &Checkup) -> String {
    let mut parts = Vec::new();
    match (checkup.state, &checkup.reason) {
        (State::Unchecked, Some(reason)) => parts.push(format!("not checked: {reason}")),
        (_, Some(reason)) => parts.push(reason.clone()),
        (_, None) => {
            parts.extend(checkup.tools.map(|count| plural(count, "tool")));
        }
    }
    parts.extend(checkup.revision.as_ref().map(|revision| format!("speaks {revision}")));
    parts.extend(checkup.name.as_ref().map(|name| format!("calls itself {name}")));
    if checkup.is_guarded {
        parts.push("guarded".to_owned());
    }
    parts.join(", ")
}
