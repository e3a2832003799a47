//! `property-description`.

use std::collections::HashSet;

use serde_json::{Map, Value};
use toolbond_contract::{Role, declare_rule};

use super::{Found, Tool, place::in_place, show::quote};

declare_rule! {
    /// A parameter has no description.
    ///
    /// ## What it does
    ///
    /// Finds parameters of a tool, the properties at the root of its input schema, that have no `description`, neither
    /// themselves nor in a schema that applies to the same value. A parameter with one possible value needs none, and
    /// neither does one that the description of the tool mentions by name.
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

pub(super) fn check(tool: &Tool<'_>, found: &mut Found<'_>) {
    let Some(root) = tool.value.get(Role::Input.member()) else { return };
    let Some(Value::Object(properties)) = root.get("properties") else { return };
    let description = tool.value.get("description").and_then(Value::as_str).unwrap_or_default();
    let is_in_word = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-');
    let words: HashSet<_> = description.split(|c| !is_in_word(c)).collect();
    let describes = |map: &&Map<String, Value>| {
        let text = map.get("description").and_then(Value::as_str);
        text.is_some_and(|text| !text.trim().is_empty()) || map.contains_key("const")
    };
    found.enter(Role::Input);
    for (name, property) in properties {
        if property.is_object()
            && !words.contains(name.as_str())
            && in_place(root, vec![property]).is_some_and(|all| !all.iter().any(describes))
        {
            let message = format!("expected a `description` of {}, found none", quote(name));
            found.tool(&[Role::Input.member(), "properties", name], message);
        }
    }
}
