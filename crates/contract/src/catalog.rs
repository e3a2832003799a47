//! All rules, those of repairs included.

use crate::Rule;

/// All rules of this crate, sorted by id.
///
/// ```
/// let ids: Vec<_> = toolbond_contract::rules().map(|rule| rule.id).collect();
/// assert!(ids.is_sorted());
/// assert!(ids.contains(&"external-ref"));
/// ```
pub fn rules() -> impl Iterator<Item = &'static Rule> {
    let mut all: Vec<&Rule> = crate::rules::JUDGING.to_vec();
    all.extend(crate::repair::IDIOMS.iter().map(|idiom| idiom.rule));
    all.extend(crate::arguments::REPAIRS.iter().map(|repair| repair.rule));
    all.extend(crate::results::rules());
    all.sort_by_key(|rule| rule.id);
    all.into_iter()
}

/// Returns the rule with this id.
///
/// ```
/// let page = toolbond_contract::rule("external-ref").unwrap().page();
/// assert!(page.starts_with("# external-ref\n\nA reference leads out of its schema.\n"));
/// assert!(toolbond_contract::rule("no-such-rule").is_none());
/// ```
#[must_use]
pub fn rule(id: &str) -> Option<&'static Rule> {
    rules().find(|rule| rule.id == id)
}
