//! The tools of a server as a client uses them.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::Tool;
use toolbond_contract::{Contract, Form, Revision, judge_tools};

use crate::options::Checks;

/// A tool of the server, checked and lifted to its natural shape.
#[derive(Debug)]
pub(super) struct RemoteTool {
    source: Tool,
    pub(super) name: String,
    /// The contract of its calls; `None` if the tool cannot be used.
    pub(super) contract: Option<Contract>,
    /// How its results are written on the wire.
    pub(super) form: Form,
    /// Whether documents that it refers to may be there later.
    may_change: bool,
}

/// The last tool list.
#[derive(Debug, Default)]
pub(super) struct LastList(Mutex<Option<Arc<Vec<RemoteTool>>>>);

impl LastList {
    /// Returns the last list, if it was made from `tools`.
    pub(super) fn find(&self, tools: &[Tool]) -> Option<Arc<Vec<RemoteTool>>> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let is_same = last.len() == tools.len()
            && last
                .iter()
                .zip(tools)
                .all(|(known, tool)| known.source == *tool && !known.may_change);
        is_same.then_some(last)
    }

    /// Replaces the last list.
    pub(super) fn replace(&self, list: Vec<RemoteTool>) -> Arc<Vec<RemoteTool>> {
        let list = Arc::new(list);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&list));
        list
    }
}

/// Lifts and checks each tool on its own, and reports the findings.
pub(super) fn check_tools(tools: &[Tool], revision: &Revision, checks: &Checks) -> Vec<RemoteTool> {
    // The transport writes the headers, and knows whether it has any.
    let options = checks.judge_options().ignore_headers(true);
    let mut used = 0;
    let check_one = |tool: &Tool| {
        let unusable = || RemoteTool {
            source: tool.clone(),
            name: tool.name.to_string(),
            contract: None,
            form: Form::Undeclared,
            may_change: false,
        };
        let Ok(value) = serde_json::to_value(tool) else { return unusable() };
        let bundled = checks.documents.bundle(value, &mut used);
        let shaped = match checks.projection.lift_tool(&bundled.tool, revision) {
            Ok(shaped) => shaped,
            Err(error) => {
                tracing::warn!(target: "toolbond", "tool `{}` cannot be used: {error}", tool.name);
                return unusable();
            }
        };
        let mut judged = judge_tools(shaped.tool.into_owned(), &options);
        bundled.explain(&mut judged.findings);
        checks.report(&judged.findings);
        let contract = judged.contracts.pop();
        RemoteTool { contract, form: shaped.form, may_change: bundled.may_change(), ..unusable() }
    };
    tools.iter().map(check_one).collect()
}
