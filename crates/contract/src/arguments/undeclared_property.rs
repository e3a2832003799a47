//! `arguments-undeclared-property`.

use super::change::Change;
use super::misspelt_property::is_like;
use super::repair::{Repair, Wrong};

declare_rule! {
    /// Arguments have properties that the schema does not allow.
    ///
    /// ## What it does
    ///
    /// Where the schema refuses properties that it does not declare (`additionalProperties: false`),
    /// they are taken out of the arguments. The finding names them.
    ///
    /// Nothing is taken out where the model may have meant something else:
    ///
    /// - a name is like a declared one: the call is refused, and the error asks "did you mean"
    /// - a required property of the same object is missing: the error tells both
    /// - some alternative of a union, or a condition, mentions the name
    /// - the schema has `patternProperties` or `propertyNames`, so that other names have a meaning
    /// - the object has more than 32 such properties
    ///
    /// ## Why is this bad
    ///
    /// Models and hosts add properties of their own, such as the reason for the call. Many servers with such a schema
    /// ignore them; the others refuse the call over something that they do not need.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "inputSchema": { "type": "object", "properties": { "path": { "type": "string" } }, "additionalProperties": false },
    ///   "arguments": { "path": "/tmp", "reason_for_call": "to list it" }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "inputSchema": { "type": "object", "properties": { "path": { "type": "string" } }, "additionalProperties": false },
    ///   "arguments": { "path": "/tmp" }
    /// }
    /// ```
    ARGUMENTS_UNDECLARED_PROPERTY = "arguments-undeclared-property", Info
}

pub(super) const REPAIR: Repair = Repair {
    rule: &ARGUMENTS_UNDECLARED_PROPERTY,
    find,
    is_default: true,
    is_last_resort: true,
    done: "left out what the schema does not declare",
};

/// The most properties that are left out of one object: with more, it is another object.
const MOST: usize = 32;

fn find(wrong: &Wrong<'_>) -> Vec<Change> {
    extra(wrong).map(Change::RemoveMembers).into_iter().collect()
}

/// The properties to leave out, if there are any and nothing else can be meant by them.
fn extra(wrong: &Wrong<'_>) -> Option<Vec<String>> {
    let place = &wrong.place;
    let misses_names = wrong.misses_names || place.misses_property();
    if !wrong.refuses_names || misses_names || !place.is_closed() {
        return None;
    }
    let (members, known) = (place.value.as_object()?, place.mentioned()?);
    if !wrong.pay(members.len() + known.len()) {
        return None;
    }
    let names = members.keys().filter(|name| !known.contains(name.as_str()));
    let names: Vec<String> = names.take(MOST + 1).cloned().collect();
    let is_clear =
        (1..=MOST).contains(&names.len()) && !names.iter().any(|name| is_like(wrong, name, &known));
    is_clear.then_some(names)
}
