//! `pattern-backtracking`.

use toolbond_contract::declare_rule;

use super::{
    Found,
    pattern::{self, Parsed},
    show::quote,
};
use crate::node::Node;

declare_rule! {
    /// A pattern needs backtracking.
    ///
    /// ## What it does
    ///
    /// Finds patterns with look-around (`(?=…)`, `(?!…)`, `(?<=…)`) or back-references (`\1`).
    ///
    /// ## Why is this bad
    ///
    /// Model APIs and engines that constrain what a model writes refuse them. Validators in Go and Rust cannot read them,
    /// and where they can, a hostile text may take exponential time.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "file": { "type": "string", "pattern": "^(?!\\.).+$" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "file": { "type": "string", "pattern": "^[^.].*$" } } }
    /// ```
    PATTERN_BACKTRACKING = "pattern-backtracking", Info
}

pub(super) fn check(node: &Node<'_>, found: &mut Found<'_>) {
    // A pattern of an admitted schema is a pattern, so one that is not regular needs backtracking.
    if !found.is_admitted() {
        return;
    }
    for (place, text) in pattern::of(node) {
        if let Some(Parsed::Backtracking) = pattern::parse(text) {
            let message = format!(
                "expected a pattern without look-around and back-references, found {}",
                quote(text)
            );
            found.node(node, &place, message);
        }
    }
}
