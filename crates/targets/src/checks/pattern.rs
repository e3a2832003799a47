//! The patterns of a schema.

use regex_syntax::hir::Hir;
use serde_json::Value;

use crate::node::Node;

/// The patterns of `node`, each with its place.
pub(super) fn of<'a>(node: &Node<'a>) -> impl Iterator<Item = (Vec<&'a str>, &'a str)> {
    let pattern = node.get("pattern").and_then(Value::as_str).map(|text| (vec!["pattern"], text));
    let names = node.get("patternProperties").and_then(Value::as_object).into_iter().flatten();
    let names = names.map(|(text, _)| (vec!["patternProperties", text.as_str()], text.as_str()));
    pattern.into_iter().chain(names)
}

/// What a pattern is.
pub(super) enum Parsed {
    /// It can be matched without going back.
    Regular(Hir),
    /// It has look-around or back-references.
    Backtracking,
}

/// Parses `pattern` of an admitted schema, whose patterns are not too expensive. `None` if it is not a pattern.
pub(super) fn parse(pattern: &str) -> Option<Parsed> {
    let translated = jsonschema_regex::to_rust_regex(pattern).ok()?;
    Some(match regex_syntax::parse(&translated) {
        Ok(hir) => Parsed::Regular(hir),
        Err(_) => Parsed::Backtracking,
    })
}
