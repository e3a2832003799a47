//! `unused-definition`.

use std::collections::BTreeSet;

use serde_json::{Map, Value};
use toolbond_contract::declare_rule;

use super::{Found, place::mentions, show::quote};
use crate::{Edit, Fix, node::Node};

declare_rule! {
    /// A definition is not used.
    ///
    /// ## What it does
    ///
    /// Finds definitions in `$defs` and `definitions` of a schema to which nothing refers, neither the schema nor another
    /// definition that is used. Schemas with anchors, dynamic references or an `$id` inside are left alone. The fix
    /// removes the definition.
    ///
    /// ## Why is this bad
    ///
    /// Hosts pass definitions to the model, where they cost tokens and may mislead. Model APIs limit the size of a schema.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "type": "object",
    ///   "properties": { "at": { "type": "string" } },
    ///   "$defs": { "point": { "type": "object" } }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "at": { "type": "string" } } }
    /// ```
    UNUSED_DEFINITION = "unused-definition", Info
}

/// The keywords that hold definitions.
const HOLDERS: [&str; 2] = ["$defs", "definitions"];

/// Keywords with which something can be referred to in another way than by a pointer.
const OTHER_WAYS: [&str; 6] =
    ["$anchor", "$dynamicAnchor", "$dynamicRef", "$recursiveRef", "$recursiveAnchor", "$id"];

/// A definition: the keyword that holds it, and its name.
type Definition<'a> = (&'static str, &'a str);

pub(super) fn check(node: &Node<'_>, found: &mut Found<'_>) {
    let Value::Object(root) = node.schema else { return };
    if !node.is_root() || HOLDERS.iter().all(|holder| definitions(root, holder).is_none()) {
        return;
    }
    let has_other_ways = |value: &Value| OTHER_WAYS.iter().any(|way| mentions(value, way));
    if root.values().any(has_other_ways)
        || root.keys().any(|key| OTHER_WAYS[..5].contains(&key.as_str()))
    {
        return;
    }
    let Some(used) = used(root) else { return };
    for holder in HOLDERS {
        let Some(all) = definitions(root, holder) else { continue };
        let unused: Vec<_> =
            all.keys().filter(|name| !used.contains(&(holder, name.as_str()))).collect();
        for name in &unused {
            let message = format!("expected a reference to {}, found none", quote(name));
            let Some((at, finding)) = found.node(node, &[holder, name], message) else { continue };
            let (title, pointer) = if unused.len() == all.len() {
                (format!("remove `{holder}`"), at.join(holder))
            } else {
                (format!("remove the definition {}", quote(name)), at.join(holder).join(name))
            };
            finding.fix = Some(Fix::safe(title, vec![Edit::Remove { pointer }]));
        }
    }
}

fn definitions<'a>(root: &'a Map<String, Value>, holder: &str) -> Option<&'a Map<String, Value>> {
    root.get(holder)?.as_object().filter(|all| !all.is_empty())
}

/// The definitions that the schema uses, directly or through others. `None` if that cannot be told.
fn used(root: &Map<String, Value>) -> Option<BTreeSet<Definition<'_>>> {
    let mut used = BTreeSet::new();
    let mut pending: Vec<(&str, &Value)> = Vec::new();
    pending.extend(members(root).filter(|(key, _)| !HOLDERS.contains(key)));
    while let Some((key, value)) = pending.pop() {
        match value {
            Value::Array(items) => pending.extend(items.iter().map(|item| ("", item))),
            Value::Object(map) => pending.extend(members(map)),
            Value::String(text) => {
                // Keywords of others, such as `discriminator`, name definitions too.
                if let Some((holder, name)) = definition(root, text) {
                    if used.insert((holder, name)) {
                        pending.extend(root[holder].get(name).map(|inner| ("", inner)));
                    }
                } else if key == "$ref" && !is_elsewhere(text) {
                    return None;
                }
            }
            _ => {}
        }
    }
    Some(used)
}

fn members(map: &Map<String, Value>) -> impl Iterator<Item = (&str, &Value)> {
    map.iter().map(|(key, value)| (key.as_str(), value))
}

/// The definition to which or into which `reference` points.
fn definition<'a>(root: &'a Map<String, Value>, reference: &str) -> Option<Definition<'a>> {
    let pointer = reference.strip_prefix("#/")?;
    let pointer = percent_encoding::percent_decode_str(pointer).decode_utf8().ok()?;
    let (first, rest) = pointer.split_once('/')?;
    let holder = HOLDERS.into_iter().find(|holder| *holder == first)?;
    let name = rest.split('/').next()?.replace("~1", "/").replace("~0", "~");
    definitions(root, holder)?.get_key_value(&name).map(|(name, _)| (holder, name.as_str()))
}

/// Whether `reference` points to the root, or to a place in it that is not a definition.
fn is_elsewhere(reference: &str) -> bool {
    let holds = |rest: &str| HOLDERS.iter().any(|holder| rest.starts_with(holder));
    reference == "#" || reference.strip_prefix("#/").is_some_and(|rest| !holds(rest))
}
