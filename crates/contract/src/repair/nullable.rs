//! `nullable`.

use serde_json::Value;
use toolbond_schema::Dialect;

use super::idiom::{At, Found, Idiom, Node};

declare_rule! {
    /// `nullable` is `true`, but `type` does not allow `null`.
    ///
    /// ## What it does
    ///
    /// Finds the `"nullable": true` of OpenAPI 3.0 beside a `type` that does not allow `null`. The
    /// policy `repair` adds `"null"` to `type`, which is what it means in OpenAPI. At the root of an
    /// input schema it removes `nullable`: arguments are always an object.
    ///
    /// ## Why is this bad
    ///
    /// JSON Schema has no keyword `nullable`, so validators refuse the `null` that the author meant to
    /// allow.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "string", "nullable": true }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": ["string", "null"] }
    /// ```
    NULLABLE = "nullable", Warning
}

pub(super) const IDIOM: Idiom = Idiom { rule: &NULLABLE, find, fix, at: At::BelowInputRoot };

fn find(node: &Node, _: Dialect, found: Found<'_>) {
    if node.get("nullable") == Some(&Value::Bool(true))
        && node.get("type").is_some_and(|types| !types.is_null() && !allows_null(types))
    {
        found(&["nullable"], "expected \"null\" in `type`, found `nullable: true`".to_owned());
    }
}

fn fix(node: &mut Node, _: Dialect) {
    node.shift_remove("nullable");
    let Some(types) = node.get_mut("type") else { return };
    match types {
        Value::Array(list) => list.push("null".into()),
        name => *name = Value::Array(vec![name.take(), "null".into()]),
    }
}

fn allows_null(types: &Value) -> bool {
    match types {
        Value::Array(list) => list.iter().any(|name| name == "null"),
        name => name == "null",
    }
}
