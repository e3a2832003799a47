//! `--format gitlab`: a code quality report.

use std::collections::HashMap;
use std::io::{self, Write};

use serde_json::json;
use toolbond_contract::Severity;
use toolbond_targets::Effect;

use super::impacts::bracketed_summary;
use super::list::Reported;
use super::report::Report;
use crate::terminal::printable_json;

/// Writes `report`.
pub(super) fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    // A fingerprint may occur once.
    let mut seen: HashMap<String, usize> = HashMap::new();
    let findings: Vec<_> = report
        .new_findings()
        .map(|(list, found)| {
            let path = list.file.as_ref().unwrap_or(&list.name);
            let key = format!("{path}:{}", found.fingerprint);
            let count = seen.entry(key.clone()).or_default();
            *count += 1;
            let fingerprint = if *count == 1 { key } else { format!("{key}:{count}") };
            let impacts = bracketed_summary(&found.finding.impacts);
            json!({
                "description": found.text() + &impacts,
                "check_name": found.rule(),
                "fingerprint": fingerprint,
                "severity": severity(found),
                "location": {
                    "path": path,
                    "lines": { "begin": found.position.map_or(1, |(line, _)| line) },
                },
            })
        })
        .collect();
    writeln!(out, "{}", printable_json(&format!("{:#}", json!(findings))))
}

/// The severities of GitLab: `info`, `minor`, `major`, `critical` and `blocker`.
fn severity(found: &Reported) -> &'static str {
    let fails_all =
        found.finding.impacts.iter().any(|impact| impact.effect == Effect::RequestFails);
    match found.severity() {
        Severity::Error if fails_all => "critical",
        Severity::Error => "major",
        Severity::Warning => "minor",
        Severity::Info => "info",
    }
}
