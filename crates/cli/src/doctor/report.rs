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
        let names = listed(tools.iter().map(String::as_str));
        let of = if names.is_empty() { names } else { format!("{names}: ") };
        let rule = rule.map_or_else(String::new, |rule| format!(" [{rule}]"));
        writeln!(out, "      {}{}{rule}", printable(&of), printable(text))?;
    }
    if !checkup.left_out.is_empty() {
        let names = listed(checkup.left_out.iter().map(String::as_str));
        writeln!(out, "      the guard leaves out {}", printable(&names))?;
    }
    if !checkup.guard.is_empty() {
        writeln!(out, "      the guard would {}", checkup.guard.join(", "))?;
    }
    for advice in &checkup.advice {
        writeln!(out, "      → {}", printable(advice))?;
    }
    Ok(())
}

/// The first of `names`, and how many more there are.
fn listed<'a>(names: impl ExactSizeIterator<Item = &'a str>) -> String {
    let more = names.len().saturating_sub(MAX_NAMED);
    let names = names.take(MAX_NAMED).collect::<Vec<_>>().join(", ");
    if more > 0 { format!("{names} and {more} more") } else { names }
}

/// The state in words.
fn summary(checkup: &Checkup) -> String {
    let mut parts = Vec::new();
    match (checkup.state, &checkup.reason) {
        (State::Unchecked, Some(reason)) => parts.push(format!("not checked: {reason}")),
        (_, Some(reason)) => parts.push(reason.clone()),
        (_, None) => {
            let all = checkup.left_out.len();
            parts.extend(checkup.tools.map(|count| match all {
                0 => plural(count, "tool"),
                _ => format!("{count} of {}", plural(count + all, "tool")),
            }));
        }
    }
    parts.extend(checkup.revision.as_ref().map(|revision| format!("speaks {revision}")));
    parts.extend(checkup.name.as_ref().map(|name| format!("calls itself {name}")));
    if checkup.is_guarded {
        parts.push("guarded".to_owned());
    }
    parts.join(", ")
}
