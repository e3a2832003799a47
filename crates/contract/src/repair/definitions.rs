//! `definitions`.

use serde_json::Value;
use toolbond_schema::Dialect;

use super::idiom::{At, Found, Idiom, Node};
use super::redirect::REFERENCES;
use crate::subschemas::{DEEPEST, each, own_dialect};

declare_rule! {
    /// A schema of 2019-09 or later has its definitions under `definitions`.
    ///
    /// ## What it does
    ///
    /// Finds `definitions` at the root of a schema of a later dialect. The policy `repair` renames
    /// it and every reference to it, unless the schema has `$defs` or `$id` as well.
    ///
    /// ## Why is this bad
    ///
    /// References to it still work, but some hosts look for definitions only in `$defs`.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "$ref": "#/definitions/user", "definitions": { "user": { "type": "object" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "$ref": "#/$defs/user", "$defs": { "user": { "type": "object" } } }
    /// ```
    DEFINITIONS = "definitions", Info
}

pub(super) const IDIOM: Idiom = Idiom { rule: &DEFINITIONS, find, fix, at: At::Root };

fn find(node: &Node, dialect: Dialect, found: Found<'_>) {
    if dialect >= Dialect::Draft201909
        && let Some(Value::Object(_)) = node.get("definitions")
        && !node.contains_key("$defs")
        && is_plain(node, DEEPEST)
    {
        found(&["definitions"], "expected `$defs`, found `definitions` (draft-07)".to_owned());
    }
}

fn fix(node: &mut Node, _: Dialect) {
    let renamed = std::mem::take(node)
        .into_iter()
        .map(|(keyword, value)| match keyword.as_str() {
            "definitions" => ("$defs".to_owned(), value),
            _ => (keyword, value),
        })
        .collect();
    *node = renamed;
}

/// Whether `#/definitions/…` means the same everywhere in the schema: no `$id`, and no `id` of
/// draft-04, moves the base, and no reference to it is written in another way.
fn is_plain(node: &Node, depth: usize) -> bool {
    if depth == 0 || node.contains_key("$id") || own_dialect(node) == Some(Dialect::Draft4) {
        return false;
    }
    let odd = |reference: &str| reference.contains("definitions") && rest(reference).is_none();
    if REFERENCES.iter().filter_map(|key| node.get(*key)?.as_str()).any(odd) {
        return false;
    }
    let mut plain = true;
    each(node, |_, inner| {
        plain = plain && inner.as_object().is_none_or(|inner| is_plain(inner, depth - 1));
    });
    plain
}

/// What follows `#/definitions` in a reference to it.
fn rest(reference: &str) -> Option<&str> {
    reference.strip_prefix("#/definitions").filter(|rest| rest.is_empty() || rest.starts_with('/'))
}
