//! `examples-invalid`.

use serde_json::Value;
use toolbond_contract::declare_rule;

use super::{Found, own_schema};
use crate::node::Node;

declare_rule! {
    /// An example is invalid under its own schema.
    ///
    /// ## What it does
    ///
    /// Validates each value in `examples` against the schema beside it.
    ///
    /// ## Why is this bad
    ///
    /// Models imitate examples, and the call is refused.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "day": { "enum": ["mon", "tue"], "examples": ["Monday"] } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "day": { "enum": ["mon", "tue"], "examples": ["mon"] } } }
    /// ```
    EXAMPLES_INVALID = "examples-invalid", Warning
}

/// The most examples of one schema that are validated.
const EXAMPLES: usize = 100;

pub(super) fn check(node: &Node<'_>, found: &mut Found<'_>) {
    let Some(Value::Array(examples)) = node.get("examples") else { return };
    if examples.is_empty() {
        return;
    }
    let Some(schema) = own_schema::compile(node, found) else { return };
    for (index, example) in examples.iter().take(EXAMPLES).enumerate() {
        if let Some(violation) = own_schema::violation(&schema, example) {
            let message = format!("the example breaks its own schema: {violation}");
            found.node(node, &["examples", &index.to_string()], message);
        }
    }
}
