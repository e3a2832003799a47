//! `arguments-misspelt-property`.

use std::collections::HashSet;

use super::change::Change;
use super::repair::{Repair, Wrong};

declare_rule! {
    /// The name of a property is misspelt.
    ///
    /// ## What it does
    ///
    /// Where a property is not declared and exactly one declared name that is not given is nearest to
    /// its name, the property is renamed, if its value is valid under that name. One letter may
    /// differ, or two in a name of twelve or more.
    ///
    /// This repair is off unless asked for: `--also-repair arguments-misspelt-property`.
    ///
    /// ## Why is this bad
    ///
    /// A server ignores the property that it does not know, or refuses the call.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "inputSchema": { "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] },
    ///   "arguments": { "pathx": "/tmp" }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "inputSchema": { "type": "object", "properties": { "path": { "type": "string" } }, "required": ["path"] },
    ///   "arguments": { "path": "/tmp" }
    /// }
    /// ```
    ARGUMENTS_MISSPELT_PROPERTY = "arguments-misspelt-property", Info
}

pub(super) const REPAIR: Repair = Repair {
    rule: &ARGUMENTS_MISSPELT_PROPERTY,
    find,
    is_default: false,
    is_last_resort: false,
    done: "renamed the property",
};

/// Objects with more members or declared names are left alone, and so are longer names.
const MOST: usize = 200;

/// Steps for comparing two names of `letters`.
const fn steps(letters: usize) -> usize {
    1 + letters * letters / 4
}

fn find(wrong: &Wrong<'_>) -> Vec<Change> {
    let Some(members) = wrong.undeclared() else { return Vec::new() };
    let absent: Vec<&str> =
        wrong.place.declared().filter(|name| wrong.place.value.get(name).is_none()).collect();
    if members.len() > MOST || absent.len() > MOST {
        return Vec::new();
    }
    members
        .into_iter()
        .filter_map(|from| {
            let to = nearest(wrong, from, &absent)?;
            Some(Change::Rename { from: from.to_owned(), to: to.to_owned() })
        })
        .collect()
}

/// The letters that may differ: with more, a name is often another word, such as `exclude` for `include`.
const fn allowed(letters: usize) -> usize {
    if letters < 12 { 1 } else { 2 }
}

/// The one of `names` that is nearest to `given`, if one is.
fn nearest<'a>(wrong: &Wrong<'_>, given: &str, names: &[&'a str]) -> Option<&'a str> {
    let letters = given.chars().count().min(MOST + 1);
    let is_comparable = |name: &&&str| {
        name.len() <= MOST && letters <= MOST && wrong.pay(steps(letters.max(name.len())))
    };
    let mut near: Vec<_> = names
        .iter()
        .filter(is_comparable)
        .map(|name| (strsim::osa_distance(&given.to_lowercase(), &name.to_lowercase()), *name))
        .filter(|(distance, name)| *distance <= allowed(letters.max(name.chars().count())))
        .collect();
    near.sort_unstable();
    near.dedup();
    match near.as_slice() {
        [(_, only)] => Some(only),
        [(first, name), (second, _), ..] if first < second => Some(name),
        _ => None,
    }
}

/// Whether `given` may be meant for one of `names`: no more than a third of the letters differ, as where a violation
/// asks "did you mean", or there are too many to tell.
pub(super) fn is_like(wrong: &Wrong<'_>, given: &str, names: &HashSet<&str>) -> bool {
    if !wrong.pay(given.len() / 16) {
        return true;
    }
    let (letters, small) = (given.chars().count(), given.to_lowercase());
    let length = small.chars().count();
    names.iter().any(|name| {
        if !wrong.pay(1 + name.len()) {
            return true;
        }
        let allowed = letters.max(name.chars().count()) / 3;
        let other = name.to_lowercase();
        let other_length = other.chars().count();
        if length.abs_diff(other_length) > allowed {
            return false;
        }
        let longer = length.max(other_length);
        longer > MOST
            || !wrong.pay(steps(longer))
            || strsim::osa_distance(&small, &other) <= allowed
    })
}
