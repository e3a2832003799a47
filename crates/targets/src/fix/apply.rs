//! Applying the safe fixes of a report.

use serde_json::Value;
use toolbond_contract::Pointer;

use super::{Edit, Fix};
use crate::{LintFinding, LintOptions, LintReport, lint_tools};

/// The most rounds of checking and fixing. A fix can wait for the next round because another one changes the same place.
const ROUNDS: usize = 64;

impl LintReport {
    /// The findings whose safe fixes can be applied together, each with the place of its tool in the document. Of fixes
    /// that change the same place only the first is included; check the document again for the others.
    pub fn safe_fixes(&self) -> impl Iterator<Item = (Pointer, &LintFinding, &Fix)> {
        let mut taken: (Option<usize>, Vec<&str>) = (None, Vec::new());
        self.findings.iter().filter_map(move |found| {
            let index = found.finding.index;
            let fix = found.fix.as_ref().filter(|fix| fix.safe)?;
            if taken.0 != index {
                taken = (index, Vec::new());
            }
            let places = fix.edits.iter().map(touched);
            if places.clone().any(|place| taken.1.iter().any(|other| overlap(place, other))) {
                return None;
            }
            taken.1.extend(places);
            let at = &self.judged.at;
            Some((index.map_or_else(|| at.clone(), |index| at.join(index)), found, fix))
        })
    }
}

/// The place that an edit changes: all of an array if it removes an element, because the others move.
fn touched(edit: &Edit) -> &str {
    let pointer = edit.pointer().as_str();
    match (edit, pointer.rsplit_once('/')) {
        (Edit::Remove { .. }, Some((parent, last))) if last.parse::<usize>().is_ok() => parent,
        _ => pointer,
    }
}

/// Whether one of the places is in the other.
fn overlap(one: &str, other: &str) -> bool {
    let is_in = |inner: &str, outer: &str| {
        inner.strip_prefix(outer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    is_in(one, other) || is_in(other, one)
}

/// Applies the safe fixes to the tools of `list`, checks again, and so on until none is left. Returns how many were
/// applied.
///
/// ```
/// use serde_json::json;
/// use toolbond_targets::{LintOptions, fix_tools};
///
/// let mut tool = json!({ "name": "now", "title": null, "inputSchema": { "type": "object" } });
/// assert_eq!(fix_tools(&mut tool, &LintOptions::default()), 1);
/// assert_eq!(tool, json!({ "name": "now", "inputSchema": { "type": "object" } }));
/// ```
pub fn fix_tools(list: &mut Value, options: &LintOptions) -> usize {
    let mut applied = 0;
    for _ in 0..ROUNDS {
        let report = lint_tools(list.clone(), options);
        let before = applied;
        for (at, _, fix) in report.safe_fixes() {
            let tool = list.pointer_mut(at.as_str());
            applied += usize::from(tool.is_some_and(|tool| fix.apply(tool)));
        }
        if applied == before {
            break;
        }
    }
    applied
}
