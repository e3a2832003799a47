//! `duplicate-description`.

use std::collections::HashMap;

use serde_json::Value;
use toolbond_contract::{Pointer, Severity, declare_rule};

use super::{Tool, show::quote};
use crate::LintFinding;

declare_rule! {
    /// Two tools have the same description.
    ///
    /// ## What it does
    ///
    /// Finds tools whose description is that of another tool of the list. What is the same tool under a longer name is an
    /// info.
    ///
    /// ## Why is this bad
    ///
    /// The model chooses tools by their descriptions, and cannot tell these apart. Often one was copied and not changed.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "tools": [
    ///   { "name": "open", "description": "Opens a file.", "inputSchema": { "type": "object" } },
    ///   { "name": "close", "description": "Opens a file.", "inputSchema": { "type": "object" } }
    /// ] }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "tools": [
    ///   { "name": "open", "description": "Opens a file.", "inputSchema": { "type": "object" } },
    ///   { "name": "close", "description": "Closes a file.", "inputSchema": { "type": "object" } }
    /// ] }
    /// ```
    DUPLICATE_DESCRIPTION = "duplicate-description", Warning
}

/// A tool that is another one under a second name, on purpose, is an info.
fn severity(tool: &Tool<'_>, other: &Tool<'_>) -> Severity {
    let (one, two) = (tool.name(), other.name());
    let is_alias = (one.ends_with(two) || two.ends_with(one))
        && tool.value.get("inputSchema") == other.value.get("inputSchema");
    if is_alias { Severity::Info } else { DUPLICATE_DESCRIPTION.severity }
}

pub(super) fn check(tools: &[Tool<'_>]) -> Vec<LintFinding> {
    let mut first: HashMap<&str, &Tool<'_>> = HashMap::new();
    let mut findings = Vec::new();
    for tool in tools {
        let description = tool.value.get("description").and_then(Value::as_str);
        let Some(description) = description.map(str::trim).filter(|text| !text.is_empty()) else {
            continue;
        };
        let other = *first.entry(description).or_insert(tool);
        if other.name() != tool.name() {
            let (name, severity) = (quote(other.name()), severity(tool, other));
            let message = format!("expected another description than that of {name}");
            let finding = tool.finding(&DUPLICATE_DESCRIPTION, message).severity(severity);
            findings.push(finding.at(Pointer::root().join("description")).into());
        }
    }
    findings
}
