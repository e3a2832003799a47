//! `task-support`.

use serde_json::Value;
use toolbond_contract::declare_rule;

use super::{Found, Tool};

declare_rule! {
    /// A tool declares tasks as revision 2025-11-25 does.
    ///
    /// ## What it does
    ///
    /// Finds `execution.taskSupport` with the value `"optional"` or `"required"`.
    ///
    /// ## Why is this bad
    ///
    /// Revision 2026-07-28 moved the experimental tasks of 2025-11-25 out of the protocol, into the extension
    /// `io.modelcontextprotocol/tasks`. Its clients do not know `execution`: they call a tool that requires a task
    /// without one.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "name": "render", "description": "Renders a film.", "inputSchema": { "type": "object" },
    ///   "execution": { "taskSupport": "required" }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "name": "render", "description": "Renders a film.", "inputSchema": { "type": "object" } }
    /// ```
    TASK_SUPPORT = "task-support", Info
}

pub(super) fn check(tool: &Tool<'_>, found: &mut Found<'_>) {
    let support = tool.value.get("execution").and_then(|execution| execution.get("taskSupport"));
    if let Some(support @ ("optional" | "required")) = support.and_then(Value::as_str) {
        let message = format!(
            "expected the extension `io.modelcontextprotocol/tasks`, found `taskSupport: \"{support}\"`"
        );
        found.tool(&["execution", "taskSupport"], message);
    }
}
