//! `output-closed`.

use serde_json::Value;
use toolbond_contract::{Role, declare_rule};

use super::Found;
use crate::node::Node;

declare_rule! {
    /// An output object allows no new properties.
    ///
    /// ## What it does
    ///
    /// Finds `"additionalProperties": false` and `"unevaluatedProperties": false` in output schemas.
    ///
    /// ## Why is this bad
    ///
    /// Clients keep a tool list for a while. When the server adds a property to its results, clients that validate them
    /// against the list that they know refuse them, although nothing that they use has changed.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "name": "weather",
    ///   "inputSchema": { "type": "object" },
    ///   "outputSchema": {
    ///     "type": "object", "properties": { "degrees": { "type": "number" } }, "additionalProperties": false
    ///   }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "name": "weather",
    ///   "inputSchema": { "type": "object" },
    ///   "outputSchema": { "type": "object", "properties": { "degrees": { "type": "number" } } }
    /// }
    /// ```
    OUTPUT_CLOSED = "output-closed", Info
}

pub(super) fn check(node: &Node<'_>, found: &mut Found<'_>) {
    if found.role() != Some(Role::Output) {
        return;
    }
    for keyword in ["additionalProperties", "unevaluatedProperties"] {
        if node.get(keyword) == Some(&Value::Bool(false)) {
            found.node(node, &[keyword], "expected an object that is open to new properties");
        }
    }
}
