//! `default-invalid`.

use serde_json::Value;
use toolbond_contract::{Severity, declare_rule};

use super::{Found, own_schema};
use crate::{Edit, Fix, node::Node};

declare_rule! {
    /// A `default` is invalid under its own schema.
    ///
    /// ## What it does
    ///
    /// Validates each `default` against the schema beside it.
    ///
    /// ## Why is this bad
    ///
    /// Models and forms send the default, and the call is refused. `null` is a common case, and an info: nearly all leave
    /// such a parameter out. Leave the default out, or allow `null`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "limit": { "type": "integer", "default": "10" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "limit": { "type": "integer", "default": 10 } } }
    /// ```
    DEFAULT_INVALID = "default-invalid", Warning
}

pub(super) fn check(node: &Node<'_>, found: &mut Found<'_>) {
    let Some(default) = node.get("default") else { return };
    let Some(schema) = own_schema::compile(node, found) else { return };
    let Some(violation) = own_schema::violation(&schema, default) else { return };
    let message = format!("the default breaks its own schema: {violation}");
    if let Some((at, finding)) = found.node(node, &["default"], message)
        && *default == Value::Null
    {
        let edits = vec![Edit::Remove { pointer: at.join("default") }];
        finding.fix = Some(Fix::suggestion("remove `default`", edits));
        finding.finding.severity = Severity::Info;
    }
}
