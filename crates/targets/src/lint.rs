//! Checks tool lists: the protocol, good practice, and targets.

use serde::Serialize;
use serde_json::Value;
use toolpact_contract::{Finding, JudgeOptions, JudgedTools, judge_tools};

use crate::{Effect, Evidence, Fix, Target, UnknownTarget};

/// Settings for [`lint_tools`].
#[derive(Clone, Debug, Default)]
pub struct LintOptions {
    pub(crate) targets: Vec<&'static Target>,
    pub(crate) server: Option<String>,
    pub(crate) judge: JudgeOptions,
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
}

/// What [`lint_tools`] found.
#[derive(Debug)]
#[must_use]
#[non_exhaustive]
pub struct LintReport {
    /// The list after judgement, with the findings about the contract of each tool.
    pub judged: JudgedTools,
    /// The names of the tools in the list, in their order.
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
    /// What happens.
    pub effect: Effect,
    /// What the target does, in a few words.
    pub note: &'static str,
    /// How that is known.
    pub evidence: Evidence,
}

/// Checks each tool of `list`, and the list. `list` is what [`judge_tools`] takes.
pub fn lint_tools(list: Value, options: &LintOptions) -> LintReport {
    let judged = judge_tools(list, &options.judge);
    let findings = judged.findings.iter().cloned().map(LintFinding::from).collect();
    LintReport { tools: Vec::new(), findings, judged }
}

/// Finds targets by name.
///
/// # Errors
///
/// Fails if one is unknown.
pub fn named(names: &[String]) -> Result<Vec<&'static Target>, UnknownTarget> {
    names.iter().map(|name| crate::target(name)).collect()
}
