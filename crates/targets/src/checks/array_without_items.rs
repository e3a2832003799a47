//! `array-without-items`.

use serde_json::{Map, Value, json};
use toolbond_contract::declare_rule;

use super::{
    Found,
    place::{around, in_place, mentions},
};
use crate::{Edit, Fix, node::Node};

declare_rule! {
    /// An array does not say what its items are.
    ///
    /// ## What it does
    ///
    /// Finds schemas of `type: "array"` with neither `items` nor `prefixItems`, also in the schemas that apply to the same
    /// value. The fix adds `"items": {}`, which allows any item, as before.
    ///
    /// ## Why is this bad
    ///
    /// The model has to guess what to put into the array. Some model APIs refuse the request with all its tools ("array
    /// schema missing items").
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "tags": { "type": "array" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "tags": { "type": "array", "items": { "type": "string" } } } }
    /// ```
    ARRAY_WITHOUT_ITEMS = "array-without-items", Warning
}

/// Keywords that say what the items are, or what the whole array is.
const DESCRIBING: [&str; 5] = ["items", "prefixItems", "unevaluatedItems", "enum", "const"];

pub(super) fn check(node: &Node<'_>, found: &mut Found<'_>) {
    if !node.has_type("array") || DESCRIBING.iter().any(|keyword| node.has(keyword)) {
        return;
    }
    let around = around(node).and_then(|around| in_place(node.root, around.schemas));
    let describes =
        |map: &&Map<String, Value>| DESCRIBING.iter().any(|keyword| map.contains_key(*keyword));
    if around.is_none_or(|all| all.iter().any(describes)) {
        return;
    }
    let message = "expected `items` in an array, found none";
    if let Some((at, finding)) = found.node(node, &[], message) {
        let edits = vec![Edit::Set { pointer: at.join("items"), value: json!({}) }];
        // `items` evaluates all items, and `unevaluatedItems` then applies to none.
        let is_safe = !mentions(node.root, "unevaluatedItems");
        finding.fix = Some(Fix::new("add `\"items\": {}`", is_safe, edits));
    }
}
