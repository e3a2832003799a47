//! `property-required`.

use std::collections::HashSet;

use serde_json::Value;
use toolbond_schema::Dialect;

use super::idiom::{At, Found, Idiom, Node};

declare_rule! {
    /// `required` is a boolean inside a property.
    ///
    /// ## What it does
    ///
    /// Finds `"required": true` and `"required": false` inside the schema of a property, as in
    /// draft-03. The policy `repair` moves the names of required properties into the list.
    ///
    /// ## Why is this bad
    ///
    /// The metaschema does not allow it, and model APIs refuse the whole request.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "city": { "type": "string", "required": true } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] }
    /// ```
    PROPERTY_REQUIRED = "property-required", Error
}

pub(super) const IDIOM: Idiom = Idiom { rule: &PROPERTY_REQUIRED, find, fix, at: At::Anywhere };

fn find(node: &Node, _: Dialect, found: Found<'_>) {
    let Some(Value::Object(properties)) = node.get("properties") else { return };
    // A boolean is about this schema as a property of another one, which was rewritten before it.
    let is_list =
        |required: &Value| required.is_array() || required.is_boolean() || required.is_null();
    if node.get("required").is_some_and(|required| !is_list(required)) {
        return;
    }
    for (name, property) in properties {
        if let Value::Bool(required) = property["required"] {
            found(
                &["properties", name, "required"],
                format!(
                    "expected a list of names beside `properties`, found {required} (draft-03)"
                ),
            );
        }
    }
}

fn fix(node: &mut Node, _: Dialect) {
    let Some(Value::Object(properties)) = node.get_mut("properties") else { return };
    let mut names = Vec::new();
    for (name, property) in properties {
        if let Value::Object(property) = property
            && let Some(Value::Bool(required)) = property.get("required")
        {
            if *required {
                names.push(Value::from(name.as_str()));
            }
            property.shift_remove("required");
        }
    }
    if names.is_empty() {
        return;
    }
    match node.get_mut("required") {
        Some(Value::Array(list)) => {
            let listed: HashSet<_> = list.iter().filter_map(Value::as_str).collect();
            names.retain(|name| name.as_str().is_none_or(|name| !listed.contains(name)));
            list.append(&mut names);
        }
        _ => _ = node.insert("required".to_owned(), names.into()),
    }
}
