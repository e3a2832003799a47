//! Good practice for tools, whoever reads them: one rule, one file, and its doc comment is its page.

use serde_json::{Map, Value};
use toolpact_contract::{Contract, Rule};

use crate::LintFinding;

/// A tool of a list, as the checks see it.
pub(crate) struct Tool<'a> {
    /// The tool as its author wrote it.
    pub(crate) value: &'a Map<String, Value>,
    /// The contract, if the tool is usable.
    pub(crate) contract: Option<&'a Contract>,
}

/// A rule with its check.
pub(crate) struct Check {
    /// The rule that findings name.
    pub(crate) rule: &'static Rule,
    /// Finds what breaks the rule. Pointers start at the tool.
    pub(crate) find: Find,
}

/// What a check looks at.
pub(crate) enum Find {
    /// One tool.
    Tool(fn(&Tool<'_>) -> Vec<LintFinding>),
    /// The whole list. Findings set `index`.
    List(fn(&[Tool<'_>]) -> Vec<LintFinding>),
}

/// All checks, by id of their rules.
pub(crate) static CHECKS: &[Check] = &[];

/// The rules of the checks.
pub(crate) fn rules() -> impl Iterator<Item = &'static Rule> {
    CHECKS.iter().map(|check| check.rule)
}
