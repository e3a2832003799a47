//! Views: a tool in the form that one target accepts.

use serde_json::Value;

use crate::{LintFinding, Target};

/// A tool in the form that one target accepts.
///
/// The input schema of a view accepts what the full schema accepts, in the form of the view. [`View::restore`] maps
/// the arguments of a call back; the full schema then judges them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct View {
    /// The tool as the target gets it.
    pub tool: Value,
    /// The name of the tool in its own list, which may differ from the name in `tool`.
    pub name: String,
    /// What the view leaves out or writes in another way.
    pub report: Vec<LintFinding>,
}

impl View {
    /// The name of the tool for the target.
    #[must_use]
    pub fn view_name(&self) -> &str {
        self.tool.get("name").and_then(Value::as_str).unwrap_or_default()
    }

    /// Maps the arguments of a call of the view back to those of the tool. Arguments in another form stay as they are.
    #[must_use]
    pub fn restore(&self, arguments: Value) -> Value {
        arguments
    }

    /// Whether the view is the tool as it was.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        self.report.is_empty()
    }
}

/// Returns the view of each of `tools` for `target`. Names stay distinct.
#[must_use]
pub fn view_tools(tools: &[Value], target: &Target) -> Vec<View> {
    let _ = target;
    tools
        .iter()
        .map(|tool| View {
            tool: tool.clone(),
            name: tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned(),
            report: Vec::new(),
        })
        .collect()
}
