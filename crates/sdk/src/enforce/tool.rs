//! A tool of a server: what is listed for each revision, and the contract of its calls.

use rmcp::model::Tool;
use toolbond_contract::{
    Action, Contract, Finding, Form, JudgedTools, Revision, convert_tool, judge_tools,
    rules::{OUTPUT_ROOT, TOOL_ENTRY},
};

use crate::{ServerOptions, views::Views};

/// A tool as its author wrote it, checked.
#[derive(Debug)]
pub(super) struct ServerTool {
    /// The tool as the handler returned it.
    pub(super) source: Tool,
    /// The form that is listed and called; `None` if the tool cannot be used.
    pub(super) usable: Option<UsableTool>,
    /// The findings about the tool.
    pub(super) findings: Vec<Finding>,
    /// Whether documents that it refers to may be there later.
    pub(super) may_change: bool,
    /// The bytes of the tool with the documents that it refers to; 0 if it refers to none.
    pub(super) added_bytes: usize,
}

/// A tool that can be listed and called.
#[derive(Debug)]
pub(super) struct UsableTool {
    /// The contract of its calls.
    pub(super) contract: Contract,
    /// How its output is written for a legacy revision.
    pub(super) form: Form,
    pub(super) natural: Tool,
    legacy: Tool,
    pub(super) views: Views,
}

impl ServerTool {
    /// Checks `source`. `used` are the bytes of the bundled tools before it in its list.
    pub(super) fn new(source: Tool, options: &ServerOptions, used: &mut usize) -> Self {
        let value = match serde_json::to_value(&source) {
            Ok(value) => value,
            Err(error) => {
                let findings = vec![unusable(&source, &error)];
                return Self { source, usable: None, findings, may_change: false, added_bytes: 0 };
            }
        };
        let mut bundled = options.checks.documents.bundle(value, used);
        let tool = std::mem::take(&mut bundled.tool);
        let JudgedTools { mut contracts, mut findings, .. } =
            judge_tools(tool, &options.checks.judge_options());
        bundled.explain(&mut findings);
        let usable =
            contracts.pop().and_then(|contract| match UsableTool::new(contract, options) {
                Ok((usable, more)) => {
                    findings.extend(more);
                    Some(usable)
                }
                Err(error) => {
                    findings.push(unusable(&source, &error));
                    None
                }
            });
        let (may_change, added_bytes) = (bundled.may_change(), bundled.added_bytes());
        Self { source, usable, findings, may_change, added_bytes }
    }

    /// The finding that says why the tool cannot be used: the one that dropped it, else the worst one.
    pub(super) fn reason_unusable(&self) -> Option<&Finding> {
        let dropped = |finding: &&Finding| {
            matches!(finding.action, Action::ToolDropped | Action::ListRefused)
        };
        // Of equally bad findings `max_by_key` returns the last.
        let worst = || self.findings.iter().rev().max_by_key(|finding| finding.severity);
        self.findings.iter().find(dropped).or_else(worst)
    }
}

impl UsableTool {
    fn new(
        contract: Contract,
        options: &ServerOptions,
    ) -> Result<(Self, Vec<Finding>), serde_json::Error> {
        let (natural, mut findings) = if options.keep_dialects {
            (contract.value().clone(), Vec::new())
        } else {
            let converted = convert_tool(contract.value());
            (converted.tool.into_owned(), converted.findings)
        };
        let (legacy, form) =
            match options.checks.projection.project_tool(&natural, &Revision::V2025_11_25) {
                Ok(shaped) => (shaped.tool.into_owned(), shaped.form),
                // Without its output schema the tool can still be listed.
                Err(error) => {
                    let finding = OUTPUT_ROOT.finding(error.to_string()).tool(contract.name());
                    let hint = "left out for revisions before 2026-07-28".to_owned();
                    findings.push(finding.hint(hint).action(Action::MemberDropped));
                    let mut tool = natural.clone();
                    if let Some(members) = tool.as_object_mut() {
                        members.shift_remove("outputSchema");
                    }
                    (tool, Form::Undeclared)
                }
            };
        let (natural, legacy) = (serde_json::from_value(natural)?, serde_json::from_value(legacy)?);
        let views = Views::default();
        Ok((Self { contract, form, natural, legacy, views }, findings))
    }

    /// The tool in the form for `revision`.
    pub(super) fn for_revision(&self, revision: &Revision) -> &Tool {
        if revision.is_natural() { &self.natural } else { &self.legacy }
    }
}

fn unusable(tool: &Tool, error: &serde_json::Error) -> Finding {
    let message = format!("expected a tool that can be written as JSON: {error}");
    TOOL_ENTRY.finding(message).tool(tool.name.as_ref()).action(Action::ToolDropped)
}
