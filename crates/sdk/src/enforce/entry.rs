//! A tool after judgement: what is listed to whom, and what calls are held to.

use rmcp::model::Tool;
use serde_json::Value;
use toolpact_contract::{
    Action, Contract, Finding, Form, JudgedTools, Revision, judge_tools, rule,
};

use super::Options;

/// A tool as its author wrote it, and what became of it.
#[derive(Debug)]
pub(super) struct Entry {
    /// The tool as the handler gave it.
    pub(super) source: Tool,
    /// What to list and to check; nothing where the tool cannot be used.
    pub(super) kept: Option<Kept>,
    /// What there is to say about it.
    pub(super) findings: Vec<Finding>,
}

/// A tool that can be used.
#[derive(Debug)]
pub(super) struct Kept {
    /// What calls are held to.
    pub(super) contract: Contract,
    /// How the output travels to a legacy revision.
    pub(super) form: Form,
    natural: Tool,
    legacy: Tool,
}

impl Entry {
    /// Judges `source`.
    pub(super) fn judge(source: Tool, options: &Options) -> Self {
        let value = match serde_json::to_value(&source) {
            Ok(value) => value,
            Err(error) => {
                let findings = unusable(&source, &error).into_iter().collect();
                return Self { source, kept: None, findings };
            }
        };
        let JudgedTools { mut contracts, mut findings, .. } =
            judge_tools(value, &options.judging());
        let kept = contracts.pop().and_then(|contract| match Kept::new(contract, options) {
            Ok((kept, finding)) => {
                findings.extend(finding);
                Some(kept)
            }
            Err(error) => {
                findings.extend(unusable(&source, &error));
                None
            }
        });
        Self { source, kept, findings }
    }
}

impl Kept {
    fn new(
        contract: Contract,
        options: &Options,
    ) -> Result<(Self, Option<Finding>), serde_json::Error> {
        let natural = Value::Object(contract.tool().clone());
        let mut finding = None;
        let (legacy, form) = match options.projection.project_tool(&natural, &Revision::V2025_11_25)
        {
            Ok(shaped) => (shaped.tool.into_owned(), shaped.form),
            // Without its output schema the tool can still be read.
            Err(error) => {
                finding = rule("output-root").map(|rule| {
                    rule.finding(error.to_string())
                        .tool(contract.name())
                        .hint("left out for revisions before 2026-07-28".to_owned())
                        .action(Action::MemberDropped)
                });
                let mut tool = contract.tool().clone();
                tool.shift_remove("outputSchema");
                (Value::Object(tool), Form::Undeclared)
            }
        };
        let (natural, legacy) = (serde_json::from_value(natural)?, serde_json::from_value(legacy)?);
        Ok((Self { contract, form, natural, legacy }, finding))
    }

    /// The tool as `revision` can carry it.
    pub(super) fn tool(&self, revision: &Revision) -> &Tool {
        if revision.is_natural() { &self.natural } else { &self.legacy }
    }
}

fn unusable(tool: &Tool, error: &serde_json::Error) -> Option<Finding> {
    rule("tool-entry").map(|rule| {
        let message = format!("expected a tool that can be written as JSON: {error}");
        rule.finding(message).tool(tool.name.as_ref()).action(Action::ToolDropped)
    })
}
