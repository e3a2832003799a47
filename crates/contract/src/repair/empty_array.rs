//! `empty-array`.

use serde_json::{Map, Value};
use toolbond_schema::{Dialect, Subschemas};

use super::idiom::{At, Found, Idiom, Node};

declare_rule! {
    /// An empty object is written as `[]`.
    ///
    /// ## What it does
    ///
    /// Finds `[]` as the value of `properties`, `$defs` and similar keywords, and in place of a schema.
    /// The policy `repair` writes `{}`.
    ///
    /// ## Why is this bad
    ///
    /// PHP encodes an empty object as `[]`. The metaschema does not allow it, and clients that parse the
    /// list as a whole lose every tool in it.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": [] }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": {} }
    /// ```
    EMPTY_ARRAY = "empty-array", Error
}

pub(super) const IDIOM: Idiom = Idiom { rule: &EMPTY_ARRAY, find, fix, at: At::Anywhere };

fn find(node: &Node, _: Dialect, found: Found<'_>) {
    for (keyword, value) in node {
        if !asks_for_object(keyword) {
            continue;
        }
        if is_empty_array(value) {
            found(&[keyword], "expected an object, found []".to_owned());
        } else if Subschemas::under(keyword) == Some(Subschemas::Named) {
            let members = value.as_object().into_iter().flatten();
            for (name, _) in members.filter(|(_, member)| is_empty_array(member)) {
                found(&[keyword, name], "expected a schema, found []".to_owned());
            }
        }
    }
}

fn fix(node: &mut Node, _: Dialect) {
    // An empty tuple: the schema of all items is that of the items after it.
    let rest = match node.get("items") {
        Some(items) if is_empty_array(items) => node.shift_remove("additionalItems"),
        _ => None,
    };
    for (keyword, value) in node.iter_mut().filter(|(keyword, _)| asks_for_object(keyword)) {
        if is_empty_array(value) {
            *value = Map::new().into();
        } else if Subschemas::under(keyword) == Some(Subschemas::Named)
            && let Value::Object(map) = value
        {
            for member in map.values_mut().filter(|member| is_empty_array(member)) {
                *member = Map::new().into();
            }
        }
    }
    if let Some(rest) = rest {
        node.insert("items".to_owned(), rest);
    }
}

fn asks_for_object(keyword: &str) -> bool {
    keyword == "dependentRequired"
        || Subschemas::under(keyword).is_some_and(|subschemas| subschemas != Subschemas::List)
}

fn is_empty_array(value: &Value) -> bool {
    value.as_array().is_some_and(Vec::is_empty)
}
