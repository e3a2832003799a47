//! What one check finds in one tool, within bounds.

use std::fmt::Write as _;

use toolbond_contract::{Pointer, Role, Rule, Side};

use super::Tool;
use crate::{LintFinding, node::Node};

/// The most findings of one rule in one tool. The last one counts the rest.
const REPORTED: usize = 64;

/// The bytes of pointers after which only the first finding of each rule is reported, because names can be long.
const POINTERS: usize = 1 << 16;

/// The bytes of schemas that one check may compile for one tool. It skips what is left.
const COMPILED: usize = 1 << 24;

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
    /// Bytes of schemas that the check may still compile.
    compiled: usize,
}

impl<'a> Found<'a> {
    pub(super) const fn new(rule: &'static Rule, tool: &'a Tool<'a>) -> Self {
        Self {
            rule,
            tool,
            role: None,
            findings: Vec::new(),
            written: 0,
            more: 0,
            compiled: COMPILED,
        }
    }

    /// The findings that follow are about this schema of the tool.
    pub(super) const fn enter(&mut self, role: Role) {
        self.role = Some(role);
    }

    /// The schema that the check looks at.
    pub(crate) const fn role(&self) -> Option<Role> {
        self.role
    }

    /// Whether the schema that the check looks at was admitted.
    pub(crate) fn is_admitted(&self) -> bool {
        self.tool.contract.is_some_and(|contract| match self.role {
            Some(Role::Output) => contract.output().is_some(),
            _ => true,
        })
    }

    /// Whether the check may compile so many more bytes of schemas.
    pub(crate) const fn may_compile(&mut self, bytes: usize) -> bool {
        let is_enough = bytes <= self.compiled;
        self.compiled = self.compiled.saturating_sub(bytes);
        is_enough
    }

    /// Adds a finding at `place` of the tool. Returns it so that a hint or a fix can be added, unless there are too many.
    pub(crate) fn tool(
        &mut self,
        place: &[&str],
        message: impl Into<String>,
    ) -> Option<&mut LintFinding> {
        self.add(&Pointer::root(), place, message)
    }

    /// Adds a finding at `place` of `node`. Returns the place of `node` in the tool, and the finding.
    pub(crate) fn node(
        &mut self,
        node: &Node<'_>,
        place: &[&str],
        message: impl Into<String>,
    ) -> Option<(Pointer, &mut LintFinding)> {
        if self.is_full() {
            self.more += 1;
            return None;
        }
        let member =
            self.role.map_or_else(Pointer::root, |role| Pointer::root().join(role.member()));
        let at = member.concat(&node.pointer());
        let finding = self.add(&at, place, message)?;
        Some((at, finding))
    }

    fn is_full(&self) -> bool {
        self.findings.len() == REPORTED || self.written > POINTERS
    }

    fn add(
        &mut self,
        at: &Pointer,
        place: &[&str],
        message: impl Into<String>,
    ) -> Option<&mut LintFinding> {
        if self.is_full() {
            self.more += 1;
            return None;
        }
        let mut finding = self.tool.finding(self.rule, message);
        finding.pointer = place.iter().fold(at.clone(), |pointer, token| pointer.join(token));
        finding.side = self.role.map(Side::from);
        self.written += finding.pointer.as_str().len();
        self.findings.push(finding.into());
        self.findings.last_mut()
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
