//! `--format json`: one object per list and line.

use std::io::{self, Write};

use serde_json::{Value, json};

use super::list::{LintedList, Reported};
use super::report::Report;
use crate::terminal::printable_json;

/// Writes `report`.
pub(super) fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    for list in &report.lists {
        // In one call: it can be long.
        let line = format!("{}\n", list_json(list));
        out.write_all(printable_json(&line).as_bytes())?;
    }
    if !report.stale.is_empty() {
        let line = json!({ "staleBaseline": report.stale }).to_string();
        writeln!(out, "{}", printable_json(&line))?;
    }
    Ok(())
}

fn list_json(list: &LintedList) -> Value {
    let kept: Vec<_> =
        list.kept.iter().map(|(name, digest)| json!({ "name": name, "digest": digest })).collect();
    let findings: Vec<_> = list.findings.iter().map(finding_json).collect();
    json!({ "list": list.name, "tools": list.tools.len(), "kept": kept, "findings": findings })
}

fn finding_json(found: &Reported) -> Value {
    let mut object = json!(found.finding);
    if let Some((line, column)) = found.position {
        object["line"] = line.into();
        object["column"] = column.into();
    }
    object["fingerprint"] = found.fingerprint.as_str().into();
    if found.known {
        object["known"] = true.into();
    }
    object
}
