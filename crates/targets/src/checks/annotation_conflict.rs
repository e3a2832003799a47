//! `annotation-conflict`.

use serde_json::Value;
use toolbond_contract::declare_rule;

use super::{Found, Tool};

declare_rule! {
    /// A tool that only reads is marked as destructive.
    ///
    /// ## What it does
    ///
    /// Finds `readOnlyHint: true` beside `destructiveHint: true`.
    ///
    /// ## Why is this bad
    ///
    /// By the protocol, `destructiveHint` means something only if `readOnlyHint` is `false`. Hosts that ask people for
    /// consent read one hint or the other: one asks each time, another never.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "name": "erase", "description": "Erases a disk.", "inputSchema": { "type": "object" },
    ///   "annotations": { "readOnlyHint": true, "destructiveHint": true }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "name": "erase", "description": "Erases a disk.", "inputSchema": { "type": "object" },
    ///   "annotations": { "readOnlyHint": false, "destructiveHint": true }
    /// }
    /// ```
    ANNOTATION_CONFLICT = "annotation-conflict", Warning
}

pub(super) fn check(tool: &Tool<'_>, found: &mut Found<'_>) {
    let is_true = |hint: &str| {
        tool.value.get("annotations").and_then(|all| all.get(hint)) == Some(&Value::Bool(true))
    };
    if is_true("readOnlyHint") && is_true("destructiveHint") {
        let message = "expected a tool that only reads not to be destructive";
        found.tool(&["annotations", "destructiveHint"], message);
    }
}
