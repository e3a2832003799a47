//! What one check finds in one tool, within bounds.

use std::fmt::Write as _;

use toolpact_contract::{Pointer, Role, Rule, Side};

use super::Tool;
use crate::{LintFinding, node::Node};

/// The most findings of one rule in one tool. The last one counts the rest.
const REPORTED: usize = 64;

/// The bytes of pointers after which only the first finding of each rule is reported, because names can be long.
const POINTERS: usize = 1 << 16;

/// The findings of one check in one tool.
pub(crate) struct Found<'a> {
    rule: &'static Rule,
    tool: &'a Tool<'a>,
    role: Option<Role>,
    findings: Vec<LintFinding>,
    /// Bytes of pointers.
    written: usize,
    /// How many are found and not reported.
    more: usize,
}

impl<'a> Found<'a> {
    pub(super) const fn new(rule: &'static Rule, tool: &'a Tool<'a>) -> Self {
        Self { rule, tool, role: None, findings: Vec::new(), written: 0, more: 0 }
    }

    /// The findings that follow are about this schema of the tool.
    pub(super) const fn enter(&mut self, role: Role) {
        self.role = Some(role);
    }

    /// The schema that the check looks at.
    pub(crate) const fn role(&self) -> Option<Role> {
        self.role
    }

    /// Adds a finding at `pointer`, which starts at the tool, or in the schema that the check looks at. Returns it so
    /// that a hint or a fix can be added, unless there are too many.
    pub(crate) fn at(
        &mut self,
        pointer: &Pointer,
        message: impl Into<String>,
    ) -> Option<&mut LintFinding> {
        if !self.findings.is_empty() && (self.findings.len() == REPORTED || self.written > POINTERS)
        {
            self.more += 1;
            return None;
        }
        let mut finding = self.tool.finding(self.rule, message);
        finding.pointer = match self.role {
            Some(role) => Pointer::root().join(role.member()).concat(pointer),
            None => pointer.clone(),
        };
        finding.side = self.role.map(Side::from);
        self.written += finding.pointer.as_str().len();
        self.findings.push(finding.into());
        self.findings.last_mut()
    }

    /// The same as [`Found::at`], at `node`, or at its `keyword`.
    pub(crate) fn node(
        &mut self,
        node: &Node<'_>,
        keyword: Option<&str>,
        message: impl Into<String>,
    ) -> Option<&mut LintFinding> {
        let pointer = node.pointer();
        self.at(&keyword.map_or_else(|| pointer.clone(), |keyword| pointer.join(keyword)), message)
    }

    /// The findings.
    pub(super) fn finish(mut self) -> Vec<LintFinding> {
        if self.more > 0
            && let Some(last) = self.findings.last_mut()
        {
            // Writing to a `String` does not fail.
            _ = write!(last.finding.message, ", and {} more like it", self.more);
        }
        self.findings
    }
}
