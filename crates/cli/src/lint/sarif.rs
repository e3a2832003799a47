//! `--format sarif`: SARIF 2.1.0, for code scanning.

use std::collections::BTreeSet;
use std::io::{self, Write};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, utf8_percent_encode};
use serde_json::{Value, json};
use toolbond_contract::{Rule, Severity};
use toolbond_targets::rules;

use super::impacts::bracketed_summary;
use super::list::{LintedList, Reported};
use super::report::Report;
use crate::terminal::printable_json;

const SCHEMA: &str =
    "https://docs.oasis-open.org/sarif/sarif/v2.1.0/errata01/os/schemas/sarif-schema-2.1.0.json";

/// What stands for itself in the path of a URI.
const PATH: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'/').remove(b'-').remove(b'.').remove(b'_').remove(b'~');

/// Writes `report`.
pub(super) fn write(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let used: BTreeSet<&str> =
        report.lists.iter().flat_map(|list| &list.findings).map(Reported::rule).collect();
    let rules: Vec<&Rule> = rules().filter(|rule| used.contains(rule.id)).collect();
    let results: Vec<_> = report
        .lists
        .iter()
        .flat_map(|list| list.findings.iter().map(move |found| (list, found)))
        .map(|(list, found)| result(list, found, &rules))
        .collect();
    let run = json!({
        "tool": { "driver": {
            "name": "toolbond",
            "semanticVersion": env!("CARGO_PKG_VERSION"),
            "informationUri": env!("CARGO_PKG_REPOSITORY"),
            "rules": rules.iter().map(|rule| rule_json(rule)).collect::<Vec<_>>(),
        } },
        "columnKind": "unicodeCodePoints",
        "results": results,
    });
    let log = json!({ "$schema": SCHEMA, "version": "2.1.0", "runs": [run] });
    writeln!(out, "{}", printable_json(&format!("{log:#}")))
}

fn rule_json(rule: &Rule) -> Value {
    json!({
        "id": rule.id,
        "shortDescription": { "text": rule.summary() },
        "help": { "text": rule.page(), "markdown": rule.page() },
        "defaultConfiguration": { "level": level(rule.severity) },
    })
}

const fn level(severity: Severity) -> &'static str {
    match severity {
        Severity::Error => "error",
        Severity::Warning => "warning",
        Severity::Info => "note",
    }
}

fn result(list: &LintedList, found: &Reported, rules: &[&Rule]) -> Value {
    let message = found.text() + &bracketed_summary(&found.finding.impacts);
    let mut location = json!({ "logicalLocations": [{
        "fullyQualifiedName": format!("{}/{}{}", list.name, found.tool(), found.pointer()),
        "kind": "member",
    }] });
    if let Some(file) = &list.file {
        location["physicalLocation"] = json!({ "artifactLocation": artifact(file) });
        if let Some((line, column)) = found.position {
            location["physicalLocation"]["region"] =
                json!({ "startLine": line, "startColumn": column });
        }
    }
    let mut result = json!({
        "ruleId": found.rule(),
        "level": level(found.severity()),
        "message": { "text": message },
        "locations": [location],
        "partialFingerprints": { "toolbond/v1": found.fingerprint },
    });
    if let Some(index) = rules.iter().position(|rule| rule.id == found.rule()) {
        result["ruleIndex"] = index.into();
    }
    if !found.finding.impacts.is_empty() {
        result["properties"] = json!({ "impacts": found.finding.impacts });
    }
    if found.known {
        result["suppressions"] =
            json!([{ "kind": "external", "justification": "in the baseline" }]);
    }
    if let Some(fix) = fix(list, found) {
        result["fixes"] = json!([fix]);
    }
    result
}

fn fix(list: &LintedList, found: &Reported) -> Option<Value> {
    let (file, fix, replacement) =
        (list.file.as_ref()?, found.finding.fix.as_ref()?, found.replacement.as_ref()?);
    let [start, end] = replacement.lines?;
    Some(json!({
        "description": { "text": fix.title },
        "artifactChanges": [{
            "artifactLocation": artifact(file),
            "replacements": [{
                "deletedRegion": {
                    "startLine": start.0,
                    "startColumn": start.1,
                    "endLine": end.0,
                    "endColumn": end.1,
                },
                "insertedContent": { "text": replacement.text },
            }],
        }],
    }))
}

/// The place of a file as a URI reference.
fn artifact(file: &str) -> Value {
    let path = file.replace('\\', "/");
    let path = path.strip_prefix("./").unwrap_or(&path);
    json!({ "uri": utf8_percent_encode(path, PATH).to_string() })
}
