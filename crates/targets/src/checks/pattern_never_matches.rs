//! `pattern-never-matches`.

use regex_syntax::hir::{Hir, HirKind, Look};
use toolbond_contract::declare_rule;

use super::{
    Found,
    pattern::{self, Parsed},
    show::quote,
};
use crate::node::Node;

declare_rule! {
    /// A pattern matches no text.
    ///
    /// ## What it does
    ///
    /// Finds patterns that match no text: something before `^` or after `$`, or an empty class such as `[^\s\S]`.
    ///
    /// ## Why is this bad
    ///
    /// Each string is refused. Often a pattern was pasted with its delimiters (`/^a$/`), or `^` should have been escaped.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": { "code": { "type": "string", "pattern": "/^[a-z]+$/" } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": { "code": { "type": "string", "pattern": "^[a-z]+$" } } }
    /// ```
    PATTERN_NEVER_MATCHES = "pattern-never-matches", Warning
}

pub(super) fn check(node: &Node<'_>, found: &mut Found<'_>) {
    if !found.is_admitted() {
        return;
    }
    for (place, text) in pattern::of(node) {
        if let Some(Parsed::Regular(hir)) = pattern::parse(text)
            && never_matches(&hir)
        {
            let message =
                format!("expected a pattern that matches something, found {}", quote(text));
            found.node(node, &place, message);
        }
    }
}

/// Whether no text matches. `true` is certain.
fn never_matches(hir: &Hir) -> bool {
    match hir.kind() {
        HirKind::Empty | HirKind::Literal(_) | HirKind::Look(_) => false,
        HirKind::Class(_) => hir.properties().minimum_len().is_none(),
        HirKind::Repetition(repetition) => repetition.min > 0 && never_matches(&repetition.sub),
        HirKind::Capture(capture) => never_matches(&capture.sub),
        HirKind::Alternation(branches) => branches.iter().all(never_matches),
        HirKind::Concat(parts) => {
            let consumes = |parts: &[Hir]| {
                parts
                    .iter()
                    .any(|part| part.properties().minimum_len().is_some_and(|least| least > 0))
            };
            parts.iter().enumerate().any(|(index, part)| {
                let looks = part.properties();
                never_matches(part)
                    || (looks.look_set_prefix().contains(Look::Start) && consumes(&parts[..index]))
                    || (looks.look_set_suffix().contains(Look::End)
                        && consumes(&parts[index + 1..]))
            })
        }
    }
}
