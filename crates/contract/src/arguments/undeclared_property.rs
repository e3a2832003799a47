//! `arguments-undeclared-property`.

use super::misspelt_property::is_near;
use super::{Change, Repair, Wrong};
use crate::declare_rule;

declare_rule! {
    /// Arguments have properties that the schema does not allow.
    ///
    /// ## What it does
    ///
    /// Where the schema refuses properties that it does not declare (`additionalProperties: false`),
    /// they are taken out of the arguments.
    ///
    /// This repair is off unless asked for: `--also-repair arguments-undeclared-property`. It changes
    /// what the call says: the model may have meant something by the property.
    ///
    /// ## Why is this bad
    ///
    /// A server with such a schema refuses the call over something that it does not need.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "inputSchema": { "type": "object", "properties": { "path": { "type": "string" } }, "additionalProperties": false },
    ///   "arguments": { "path": "/tmp", "reason": "to list it" }
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
    is_default: false,
    is_last_resort: true,
    done: "left out what the schema does not declare",
};

fn find(wrong: &Wrong<'_>) -> Vec<Change> {
    // A name that is nearly that of a property which is not given was probably meant for it.
    let absent: Vec<&str> =
        wrong.place.declared().filter(|name| wrong.place.value.get(name).is_none()).collect();
    let is_near = |name: &&str| is_near(name, &absent);
    match wrong.undeclared() {
        Some(names) if wrong.refuses_names && !names.is_empty() && !names.iter().any(is_near) => {
            vec![Change::RemoveMembers(names.into_iter().map(str::to_owned).collect())]
        }
        _ => Vec::new(),
    }
}
