//! `array-items`.

use serde_json::Value;
use toolbond_schema::Dialect;

use super::idiom::{At, Found, Idiom, Node};

declare_rule! {
    /// `items` is a list, which 2020-12 calls `prefixItems`.
    ///
    /// ## What it does
    ///
    /// Finds an `items` that is a list, as in dialects up to 2019-09. The policy `repair` renames it to
    /// `prefixItems`, and an `additionalItems` beside it to `items`.
    ///
    /// ## Why is this bad
    ///
    /// The metaschema does not allow it, and model APIs refuse the whole request.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "array", "items": [{ "type": "number" }, { "type": "number" }], "additionalItems": false }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "array", "prefixItems": [{ "type": "number" }, { "type": "number" }], "items": false }
    /// ```
    ARRAY_ITEMS = "array-items", Error
}

pub(super) const IDIOM: Idiom = Idiom { rule: &ARRAY_ITEMS, find, fix, at: At::Anywhere };

fn find(node: &Node, dialect: Dialect, found: Found<'_>) {
    if dialect == Dialect::Draft202012
        && let Some(Value::Array(items)) = node.get("items")
        && !items.is_empty()
        && !node.contains_key("prefixItems")
    {
        found(&["items"], format!("expected a schema, found a list of {} (draft-07)", items.len()));
    }
}

fn fix(node: &mut Node, _: Dialect) {
    let rest = node.shift_remove("additionalItems");
    if let Some(items) = node.shift_remove("items") {
        node.insert("prefixItems".to_owned(), items);
    }
    if let Some(rest) = rest {
        node.insert("items".to_owned(), rest);
    }
}
