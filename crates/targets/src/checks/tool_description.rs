//! `tool-description`.

use serde_json::Value;
use toolbond_contract::declare_rule;

use super::{Found, Tool};

declare_rule! {
    /// A tool has no description.
    ///
    /// ## What it does
    ///
    /// Finds tools without a `description`, or with one that is empty.
    ///
    /// ## Why is this bad
    ///
    /// The model chooses tools by their descriptions. Some model APIs refuse a tool without one.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "name": "search", "inputSchema": { "type": "object" } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "name": "search",
    ///   "description": "Searches the documentation and returns the ten best pages.",
    ///   "inputSchema": { "type": "object" }
    /// }
    /// ```
    TOOL_DESCRIPTION = "tool-description", Warning
}

pub(super) fn check(tool: &Tool<'_>, found: &mut Found<'_>) {
    match tool.value.get("description") {
        None => {
            found.tool(&[], "expected a `description`, found none");
        }
        Some(Value::String(text)) if text.trim().is_empty() => {
            found.tool(&["description"], "expected a description, found an empty string");
        }
        _ => {}
    }
}
