//! `property-description`.

use serde_json::{Map, Value};
use toolpact_contract::{Role, declare_rule};

use super::{Found, place::in_place, show::quote};
use crate::node::Node;

declare_rule! {
    /// Parameters have a description.
    ///
    /// ## What it does
    ///
    /// Finds parameters of a tool, the properties at the root of its input schema, that have no `description`, neither
    /// themselves nor in a schema that applies to the same value. A parameter with one possible value needs none.
    ///
    /// ## Why is this bad
    ///
    /// The model has to guess from the name what to send.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "q": { "type": "string" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "q": { "type": "string", "description": "Words to search for" } } }
    /// ```
    PROPERTY_DESCRIPTION = "property-description", Info
}

pub(super) fn check(node: &Node<'_>, found: &mut Found<'_>) {
    if !node.is_root() || found.role() != Some(Role::Input) {
        return;
    }
    let Some(Value::Object(properties)) = node.get("properties") else { return };
    let describes = |map: &&Map<String, Value>| {
        let text = map.get("description").and_then(Value::as_str);
        text.is_some_and(|text| !text.trim().is_empty()) || map.contains_key("const")
    };
    for (name, property) in properties {
        if property.is_object()
            && in_place(node.root, vec![property]).is_some_and(|all| !all.iter().any(describes))
        {
            let message = format!("expected a `description` of {}, found none", quote(name));
            found.node(node, &["properties", name], message);
        }
    }
}
