//! One tool list after it was checked.

use std::fmt::Write as _;

use serde_json::Value;
use toolbond_contract::{Action, Pointer, Severity};
use toolbond_targets::LintFinding;

use super::text_edit::Replacement;

/// One tool list after it was checked.
pub(crate) struct LintedList {
    /// The file, with a line number if it has one list per line; the URL or the program of a live server.
    pub(crate) name: String,
    /// The path, if the list is in a file.
    pub(crate) file: Option<String>,
    /// The names of the tools, each at its index; empty for an entry without a name.
    pub(crate) tools: Vec<String>,
    /// Name and digest of the tools that a client can use.
    pub(crate) kept: Vec<(String, String)>,
    /// The list with the tools that are kept.
    pub(crate) list: Option<Value>,
    /// The findings, by tool.
    pub(crate) findings: Vec<Reported>,
}

/// A finding and its place in the file.
pub(crate) struct Reported {
    pub(crate) finding: LintFinding,
    /// Line and column, both from 1.
    pub(crate) position: Option<(usize, usize)>,
    /// What identifies the finding in a baseline.
    pub(crate) fingerprint: String,
    /// Whether the baseline lists it.
    pub(crate) known: bool,
    /// The fix as a change of the text.
    pub(crate) replacement: Option<Replacement>,
}

impl LintedList {
    /// The findings that the baseline does not list.
    pub(crate) fn new_findings(&self) -> impl Iterator<Item = &Reported> {
        self.findings.iter().filter(|reported| !reported.known)
    }

    /// The name of the tool at `index`.
    pub(crate) fn tool_name(&self, index: usize) -> String {
        match self.tools.get(index) {
            Some(name) if !name.is_empty() => name.clone(),
            _ => format!("(tool {index})"),
        }
    }
}

impl Reported {
    pub(crate) fn new(finding: LintFinding) -> Self {
        let fingerprint = fingerprint(&finding);
        Self { finding, position: None, fingerprint, known: false, replacement: None }
    }

    pub(crate) fn rule(&self) -> &'static str {
        self.finding.finding.rule
    }

    pub(crate) fn severity(&self) -> Severity {
        self.finding.finding.severity
    }

    pub(crate) fn pointer(&self) -> &Pointer {
        &self.finding.finding.pointer
    }

    /// The name of the tool, or its place in the list; empty for a finding about the list.
    pub(crate) fn tool(&self) -> String {
        let finding = &self.finding.finding;
        match (&finding.tool, finding.index) {
            (Some(tool), _) => tool.clone(),
            (None, Some(index)) => format!("(tool {index})"),
            (None, None) => String::new(),
        }
    }

    /// The message with its hint and what was done.
    pub(crate) fn message(&self) -> String {
        let finding = &self.finding.finding;
        let mut message = finding.message.clone();
        if let Some(hint) = &finding.hint {
            let _ = write!(message, " ({hint})");
        }
        if finding.action != Action::None {
            let _ = write!(message, "; {}", finding.action);
        }
        message
    }

    /// Tool, place and message.
    pub(crate) fn text(&self) -> String {
        let (tool, pointer, message) = (self.tool(), self.pointer(), self.message());
        let gap = if tool.is_empty() { "" } else { " " };
        format!("{tool}{gap}{pointer}: {message}")
    }

    /// Whether `--fix` removes the cause.
    pub(crate) fn is_fixable(&self) -> bool {
        self.finding.fix.as_ref().is_some_and(|fix| fix.safe) && self.replacement.is_some()
    }
}

/// The first 12 hexadecimal digits of SHA-256 over rule, tool, pointer and the effects on targets.
fn fingerprint(finding: &LintFinding) -> String {
    let mut effects: Vec<_> = finding
        .impacts
        .iter()
        .filter(|impact| impact.with.is_none())
        .map(|impact| format!("{}={}", impact.target, impact.effect))
        .collect();
    effects.sort_unstable();
    let one = &finding.finding;
    let mut hash = hmac_sha256::Hash::new();
    let parts = [one.rule, one.tool.as_deref().unwrap_or_default(), one.pointer.as_str()];
    for part in parts.into_iter().chain(effects.iter().map(String::as_str)) {
        hash.update(part);
        hash.update([0]);
    }
    let digest = hash.finalize();
    digest.iter().take(6).fold(String::new(), |mut text, byte| {
        let _ = write!(text, "{byte:02x}");
        text
    })
}

/// Whether `value` is surely a tool list: in a folder, other files have names and arrays as well.
pub(crate) fn is_tool_list(value: &Value) -> bool {
    let has_schema = |tool: &Value| tool.get("inputSchema").is_some();
    let list = match value.get("result") {
        Some(result) if value.get("tools").is_none() => result,
        _ => value,
    };
    match (list.get("tools"), list) {
        (Some(Value::Array(tools)), _) => tools.is_empty() || tools.iter().any(has_schema),
        (_, Value::Array(tools)) => tools.iter().any(has_schema),
        (_, tool) => has_schema(tool),
    }
}
