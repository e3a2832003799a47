//! The features of a tool.

use serde_json::{Map, Value};
use toolbond_contract::Pointer;

use crate::feature::{Feature, Hit, Side};
use crate::node::walk;

/// A feature that a tool has.
pub(crate) struct Found {
    pub(crate) feature: &'static Feature,
    /// The first place in the tool, and what is there.
    pub(crate) at: Pointer,
    pub(crate) message: String,
    /// How many places there are.
    pub(crate) count: usize,
}

/// Returns which of `features` the schemas of `tool` have.
pub(crate) fn survey(tool: &Map<String, Value>, features: &[&'static Feature]) -> Vec<Found> {
    let mut found: Vec<Found> = Vec::new();
    for (side, member) in [(Side::Input, "inputSchema"), (Side::Output, "outputSchema")] {
        let Some(schema) = tool.get(member) else { continue };
        let features: Vec<_> = features.iter().copied().filter(|it| it.side == side).collect();
        if features.is_empty() {
            continue;
        }
        walk(schema, &mut |node| {
            for feature in &features {
                let Some(Hit { keyword, message }) = (feature.check)(node) else { continue };
                if let Some(known) = found.iter_mut().find(|it| std::ptr::eq(it.feature, *feature))
                {
                    known.count += 1;
                    continue;
                }
                let mut at = Pointer::root().join(member).concat(&node.pointer());
                if let Some(keyword) = keyword {
                    at.push(keyword);
                }
                found.push(Found { feature, at, message, count: 1 });
            }
        });
    }
    found
}

/// Whether the input schema has one of `features`.
pub(crate) fn has_any(schema: &Value, features: &[&'static Feature]) -> bool {
    let mut any = false;
    walk(schema, &mut |node| {
        any = any || features.iter().any(|it| it.side == Side::Input && (it.check)(node).is_some());
    });
    any
}
