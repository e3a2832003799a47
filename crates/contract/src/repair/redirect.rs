//! Updating references to schemas that a rewrite moved.

use std::borrow::Cow;

use serde_json::Value;

use super::idiom::Node;
use crate::subschemas::{DEEPEST, each_mut};

/// The keywords that hold references.
pub(super) const REFERENCES: [&str; 3] = ["$ref", "$dynamicRef", "$recursiveRef"];

/// Updates the references in `repaired` whose path contains a keyword that the repair of `original` renamed.
///
/// References inside an embedded resource stay as they are. If one of them dangles, the schema is not admitted.
pub(super) fn redirect(original: &Value, repaired: &mut Value) {
    let target = repaired.clone();
    visit(repaired, &Moves { original, repaired: &target }, 0);
}

struct Moves<'a> {
    original: &'a Value,
    repaired: &'a Value,
}

fn visit(schema: &mut Value, moves: &Moves<'_>, depth: usize) {
    let Value::Object(node) = schema else { return };
    if depth > DEEPEST || (depth > 0 && is_resource(node)) {
        return;
    }
    for keyword in REFERENCES {
        if let Some(Value::String(reference)) = node.get_mut(keyword)
            && let Some(moved) = moves.follow(reference)
        {
            *reference = moved;
        }
    }
    each_mut(node, |_, inner| visit(inner, moves, depth + 1));
}

fn is_resource(node: &Node) -> bool {
    ["$id", "id"].iter().any(|key| {
        node.get(*key)
            .and_then(Value::as_str)
            .is_some_and(|id| !id.is_empty() && !id.starts_with('#'))
    })
}

impl Moves<'_> {
    /// Returns `reference` with renamed keywords, if any were renamed.
    fn follow(&self, reference: &str) -> Option<String> {
        let pointer = reference.strip_prefix("#/")?;
        let (mut before, mut now) = (self.original, self.repaired);
        let mut moved = "#".to_owned();
        for token in pointer.split('/') {
            let key = plain(token);
            let (old, new) = match (before, now) {
                (Value::Object(old), Value::Object(new)) => (old, new),
                (Value::Array(old), Value::Array(new)) => {
                    let number: usize = key.parse().ok()?;
                    (before, now) = (old.get(number)?, new.get(number)?);
                    moved.push('/');
                    moved.push_str(token);
                    continue;
                }
                _ => return None,
            };
            let keyword = renamed(&key, old, new);
            before = old.get(key.as_ref())?;
            now = new.get(keyword.unwrap_or(&key))?;
            moved.push('/');
            moved.push_str(keyword.unwrap_or(token));
        }
        (moved != reference).then_some(moved)
    }
}

/// Returns the new name of `keyword`, if the rewrite from `old` to `new` renamed it.
fn renamed(keyword: &str, old: &Node, new: &Node) -> Option<&'static str> {
    let is_gone = !new.contains_key(keyword);
    match keyword {
        "items" if old["items"].is_array() && !new.get("items").is_some_and(Value::is_array) => {
            Some("prefixItems")
        }
        "additionalItems" if is_gone => Some("items"),
        "definitions" if is_gone => Some("$defs"),
        "dependencies" if is_gone => Some("dependentSchemas"),
        _ => None,
    }
}

/// Decodes a token of a pointer in a fragment.
fn plain(token: &str) -> Cow<'_, str> {
    if !token.contains(['%', '~']) {
        return token.into();
    }
    let mut bytes = Vec::with_capacity(token.len());
    let mut rest = token.as_bytes();
    while let [first, after @ ..] = rest {
        let encoded = (*first == b'%').then(|| after.get(..2)).flatten();
        let byte = encoded
            .and_then(|digits| std::str::from_utf8(digits).ok())
            .and_then(|digits| u8::from_str_radix(digits, 16).ok());
        bytes.push(byte.unwrap_or(*first));
        rest = if byte.is_some() { &after[2..] } else { after };
    }
    String::from_utf8_lossy(&bytes).replace("~1", "/").replace("~0", "~").into()
}
