//! Good practice for tools, whoever reads them: one rule, one file, and its doc comment is its page.

mod found;

use serde_json::{Map, Value};
use toolpact_contract::{Contract, Finding, Role, Rule};

pub(crate) use found::Found;

use crate::{
    LintFinding,
    node::{Node, walk},
};

/// A tool of a list, as the checks see it.
pub(crate) struct Tool<'a> {
    /// The tool as its author wrote it.
    pub(crate) value: &'a Map<String, Value>,
    /// The contract, if the tool is usable.
    pub(crate) contract: Option<&'a Contract>,
    /// The index in the list, if the tool is in one.
    pub(crate) index: Option<usize>,
}

impl Tool<'_> {
    /// The name, or the empty string if there is none.
    pub(crate) fn name(&self) -> &str {
        self.value.get("name").and_then(Value::as_str).unwrap_or_default()
    }

    /// A finding about this tool.
    pub(crate) fn finding(&self, rule: &Rule, message: impl Into<String>) -> Finding {
        let mut finding = rule.finding(message);
        finding.index = self.index;
        if self.name().is_empty() { finding } else { finding.tool(self.name()) }
    }
}

/// A rule with its check.
pub(crate) struct Check {
    /// The rule that findings name.
    pub(crate) rule: &'static Rule,
    /// Finds what breaks the rule.
    pub(crate) find: Find,
}

/// What a check looks at.
pub(crate) enum Find {
    /// One tool.
    Tool(fn(&Tool<'_>, &mut Found<'_>)),
    /// One subschema of the input or output schema of a tool.
    Schema(fn(&Node<'_>, &mut Found<'_>)),
    /// The whole list. Findings set `tool` and `index`.
    List(fn(&[Tool<'_>]) -> Vec<LintFinding>),
}

/// All checks, by id of their rules.
pub(crate) static CHECKS: &[Check] = &[];

/// The rules of the checks.
pub(crate) fn rules() -> impl Iterator<Item = &'static Rule> {
    CHECKS.iter().map(|check| check.rule)
}

/// What the checks find in `tools`.
pub(crate) fn findings(tools: &[Tool<'_>]) -> Vec<LintFinding> {
    let mut all: Vec<_> = tools.iter().flat_map(check_tool).collect();
    for check in CHECKS {
        if let Find::List(find) = check.find {
            all.extend(find(tools));
        }
    }
    all
}

fn check_tool(tool: &Tool<'_>) -> Vec<LintFinding> {
    let mut founds: Vec<_> = CHECKS.iter().map(|check| Found::new(check.rule, tool)).collect();
    for (check, found) in CHECKS.iter().zip(&mut founds) {
        if let Find::Tool(find) = check.find {
            find(tool, found);
        }
    }
    for role in [Role::Input, Role::Output] {
        let Some(schema) = tool.value.get(role.member()) else { continue };
        for found in &mut founds {
            found.enter(role);
        }
        walk(schema, &mut |node| {
            for (check, found) in CHECKS.iter().zip(&mut founds) {
                if let Find::Schema(find) = check.find {
                    find(node, found);
                }
            }
        });
    }
    founds.into_iter().flat_map(Found::finish).collect()
}
