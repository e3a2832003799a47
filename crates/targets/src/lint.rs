//! Checks tool lists: the protocol, good practice, and targets.

use serde::Serialize;
use serde_json::Value;
use toolbond_contract::{
    Finding, JudgeOptions, JudgedTools, Severity,
    judge::{RuleSelectionError, Selection},
    judge_tools,
    rules::TOOL_LIST,
};

use crate::{
    Effect, Established, Evidence, Fix, Target,
    checks::{self, Tool},
    feature::{output::OUTPUT_DIALECT, root::EMPTY_ROOT},
    fix, rules,
    target::check::{check_list, check_targets},
};

/// Settings for [`lint_tools`].
#[derive(Clone, Debug, Default)]
pub struct LintOptions {
    pub(crate) targets: Vec<&'static Target>,
    pub(crate) server: Option<String>,
    pub(crate) judge: JudgeOptions,
    selection: Selection,
}

impl LintOptions {
    /// Checks against these targets. Without any, only the protocol and good practice count.
    #[must_use]
    pub fn targets(mut self, targets: impl IntoIterator<Item = &'static Target>) -> Self {
        self.targets = targets.into_iter().collect();
        self
    }

    /// The name of the server, which some hosts write before the names of its tools.
    #[must_use]
    pub fn server(mut self, name: impl Into<String>) -> Self {
        self.server = Some(name.into());
        self
    }

    /// How the contract of each tool is judged.
    #[must_use]
    pub fn judge(mut self, options: JudgeOptions) -> Self {
        self.judge = options;
        self
    }

    /// Reports the rule `id`, and other selected rules, only. Errors of the contract are always reported.
    ///
    /// # Errors
    ///
    /// Fails if there is no such rule in [`rules`].
    ///
    /// ```
    /// use toolbond_targets::LintOptions;
    ///
    /// assert_eq!(
    ///     LintOptions::default().select("tool-name-from").unwrap_err().to_string(),
    ///     "no rule `tool-name-from`; did you mean `tool-name-form`?"
    /// );
    /// ```
    pub fn select(mut self, id: &str) -> Result<Self, RuleSelectionError> {
        self.selection.select(id, rules())?;
        Ok(self)
    }

    /// Does not report the rule `id`.
    ///
    /// # Errors
    ///
    /// Fails if there is no such rule in [`rules`], or if it is an error of the contract.
    pub fn ignore(mut self, id: &str) -> Result<Self, RuleSelectionError> {
        self.selection.ignore(id, rules())?;
        Ok(self)
    }

    /// Whether `finding` is reported.
    #[must_use]
    pub fn includes(&self, finding: &Finding) -> bool {
        self.selection.includes(finding)
    }
}

/// What [`lint_tools`] found.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct LintReport {
    /// The list after judgement, with the findings about the contract of each tool.
    pub judged: JudgedTools,
    /// The names of the tools in the list, each at its index; empty for an entry without a name.
    pub tools: Vec<String>,
    /// All findings, those of the contract included, by tool.
    pub findings: Vec<LintFinding>,
}

/// A finding, with what it means for targets.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct LintFinding {
    /// The rule, the place and the message.
    #[serde(flatten)]
    pub finding: Finding,
    /// What each target does, worst first. Empty for a finding that is not about targets.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub impacts: Vec<Impact>,
    /// How to change the tool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub fix: Option<Fix>,
}

impl From<Finding> for LintFinding {
    fn from(finding: Finding) -> Self {
        Self { finding, impacts: Vec::new(), fix: None }
    }
}

/// What a target does about a finding.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub struct Impact {
    /// The name of the target.
    pub target: &'static str,
    /// The other way in to the target with which it happens, by its name; `None` for the way that the target means.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub with: Option<&'static str>,
    /// What happens.
    pub effect: Effect,
    /// What the target does, in a few words.
    pub note: &'static str,
    /// How that is known.
    pub evidence: Evidence,
}

impl Impact {
    /// How bad it is for most who use the target: what happens with another way in is an info, and what users report, or
    /// what holds for some versions only, is a warning at most.
    #[must_use]
    pub fn severity(&self) -> Severity {
        let is_sure =
            self.evidence.how != Established::Reported && self.evidence.versions.is_none();
        let most = match self.with {
            Some(_) => Severity::Info,
            None if is_sure => Severity::Error,
            None => Severity::Warning,
        };
        self.effect.severity().min(most)
    }
}

/// Checks each tool of `list`, and the list. `list` is what [`judge_tools`] takes.
///
/// ```
/// use serde_json::json;
/// use toolbond_targets::{LintOptions, lint_tools};
///
/// let report = lint_tools(
///     json!({ "name": "now", "description": null, "inputSchema": { "type": "object" } }),
///     &LintOptions::default().select("tool-member")?,
/// );
/// let finding = &report.findings[0];
/// assert_eq!(
///     finding.finding.to_string(),
///     "error[tool-member] now #/description: expected a string, found null; removed from the tool"
/// );
/// assert_eq!(finding.fix.as_ref().unwrap().title, "remove `description`");
/// # Ok::<(), toolbond_contract::judge::RuleSelectionError>(())
/// ```
pub fn lint_tools(list: Value, options: &LintOptions) -> LintReport {
    let written = list.clone();
    let judged = judge_tools(list, &options.judge);
    let entries = entries(&written, &judged);
    let tools: Vec<_> = entries.iter().filter_map(|entry| as_tool(entry, &judged)).collect();
    let mut findings = fix::add_repairs(&tools, &judged, &options.judge);
    findings.extend(checks::findings(&tools));
    for found in target_findings(&tools, options) {
        if !add_impacts(&mut findings, &found) {
            findings.push(found);
        }
    }
    findings.retain(|found| options.includes(&found.finding));
    findings.sort_by_key(|found| found.finding.index);
    let name = |entry: &Value| entry.get("name").and_then(Value::as_str).map(str::to_owned);
    let tools = entries.iter().map(|(_, entry)| name(entry).unwrap_or_default()).collect();
    LintReport { judged, tools, findings }
}

/// Adds what targets do to the findings of good practice about the same tool and rule. Returns whether there are any.
fn add_impacts(findings: &mut [LintFinding], found: &LintFinding) -> bool {
    let same = |known: &&mut LintFinding| {
        known.finding.rule == found.finding.rule && known.finding.index == found.finding.index
    };
    let mut any = false;
    for known in findings.iter_mut().filter(same).filter(|known| known.impacts.is_empty()) {
        known.impacts.clone_from(&found.impacts);
        known.finding.severity = known.finding.severity.max(found.finding.severity);
        any = true;
    }
    any
}

/// What the targets do to the tools.
fn target_findings(tools: &[Tool<'_>], options: &LintOptions) -> Vec<LintFinding> {
    if options.targets.is_empty() {
        return Vec::new();
    }
    let server = options.server.as_deref();
    let mut findings = Vec::new();
    for tool in tools {
        for mut found in check_targets(tool.value, &options.targets, server) {
            found.finding.index = tool.index;
            found.finding.tool = Some(tool.name().to_owned());
            found.fix = match found.finding.rule {
                rule if rule == OUTPUT_DIALECT.rule.id => fix::modern_output(tool),
                rule if rule == EMPTY_ROOT.rule.id => fix::empty_properties(tool),
                _ => None,
            };
            findings.push(found);
        }
    }
    let values: Vec<_> = tools.iter().map(|tool| tool.value).collect();
    for mut found in check_list(&values, &options.targets, server) {
        found.finding.index = found.finding.index.and_then(|place| tools[place].index);
        findings.push(found);
    }
    findings
}

/// The entries of `document`, which was judged, each with its index. A tool that is not in a list has none.
fn entries<'a>(document: &'a Value, judged: &JudgedTools) -> Vec<(Option<usize>, &'a Value)> {
    match document.pointer(judged.at.as_str()) {
        Some(Value::Array(tools)) => {
            tools.iter().enumerate().map(|(index, tool)| (Some(index), tool)).collect()
        }
        Some(tool) if judged.findings.iter().all(|one| one.rule != TOOL_LIST.id) => {
            vec![(None, tool)]
        }
        _ => Vec::new(),
    }
}

/// The tool that an entry is, unless it is no object.
fn as_tool<'a>(
    (index, entry): &(Option<usize>, &'a Value),
    judged: &'a JudgedTools,
) -> Option<Tool<'a>> {
    let place = judged.indices.binary_search(&index.unwrap_or(0)).ok();
    let contract = place.map(|place| &judged.contracts[place]);
    Some(Tool { value: entry.as_object()?, contract, index: *index })
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::{LintOptions, lint_tools};

    #[test]
    fn names_are_at_the_index_of_their_tool() {
        let tool = json!({ "name": "a", "inputSchema": { "type": "object" } });
        let report = lint_tools(json!([1, tool, {}]), &LintOptions::default());
        assert_eq!(report.tools, ["", "a", ""]);
        assert_eq!(lint_tools(tool, &LintOptions::default()).tools, ["a"]);
        assert!(lint_tools(json!({}), &LintOptions::default()).tools.is_empty());
    }
}
