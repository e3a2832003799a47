//! The tools of a server, judged and lifted once.

use std::sync::{Arc, Mutex, PoisonError};

use rmcp::model::Tool;
use toolpact_contract::{Contract, Form, Revision, judge_tools};

use crate::{Options, report::report};

/// A tool after judgement.
#[derive(Debug)]
pub(super) struct Judged {
    source: Tool,
    pub(super) name: String,
    /// What calls are held to; nothing where the tool cannot be used.
    pub(super) contract: Option<Contract>,
    /// How its results travel.
    pub(super) form: Form,
}

/// The last list.
#[derive(Debug, Default)]
pub(super) struct Known(Mutex<Option<Arc<Vec<Judged>>>>);

impl Known {
    /// The last list, if it is that of `tools`.
    pub(super) fn find(&self, tools: &[Tool]) -> Option<Arc<Vec<Judged>>> {
        let last = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone()?;
        let same = last.len() == tools.len()
            && last.iter().zip(tools).all(|(judged, tool)| judged.source == *tool);
        same.then_some(last)
    }

    /// Makes `list` the last one.
    pub(super) fn keep(&self, list: Vec<Judged>) -> Arc<Vec<Judged>> {
        let list = Arc::new(list);
        *self.0.lock().unwrap_or_else(PoisonError::into_inner) = Some(Arc::clone(&list));
        list
    }
}

/// Lifts and judges each of `tools` alone, and reports what there is to say.
pub(super) fn judge(tools: &[Tool], revision: &Revision, options: &Options) -> Vec<Judged> {
    // Headers are written by the transport, which knows whether it has any.
    let judging = options.judging().ignore_headers(true);
    let one = |tool: &Tool| {
        let unusable = || Judged {
            source: tool.clone(),
            name: tool.name.to_string(),
            contract: None,
            form: Form::Undeclared,
        };
        let Ok(value) = serde_json::to_value(tool) else { return unusable() };
        let shaped = match options.projection.lift_tool(&value, revision) {
            Ok(shaped) => shaped,
            Err(error) => {
                tracing::warn!(target: "toolpact", "tool `{}` cannot be read: {error}", tool.name);
                return unusable();
            }
        };
        let mut judged = judge_tools(shaped.tool.into_owned(), &judging);
        report(&judged.findings, options.listener.as_ref());
        let contract = judged.contracts.pop();
        Judged { contract, form: shaped.form, ..unusable() }
    };
    tools.iter().map(one).collect()
}
