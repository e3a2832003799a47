//! `tool-member`.

use serde_json::{Map, Value};
use toolbond_schema::Pointer;

use crate::{Finding, json_type::kind};

declare_rule! {
    /// An optional member of a tool has another type than the protocol specifies.
    ///
    /// ## What it does
    ///
    /// Checks `title` and `description` (strings), `annotations`, `execution` and `_meta`
    /// (objects), `icons` (an array), and inside `annotations` `title` (a string) and the four
    /// hints (booleans). A member of the wrong type is removed, and the tool stays. Members that the
    /// protocol does not know stay as they are.
    ///
    /// ## Why is this bad
    ///
    /// One `"title": null` makes clients that parse the list as a whole lose every tool in it.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "name": "now", "description": null, "inputSchema": { "type": "object" } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "name": "now", "inputSchema": { "type": "object" } }
    /// ```
    pub TOOL_MEMBER = "tool-member", Error
}

/// A JSON type, and whether a value has it.
type Expected = (&'static str, fn(&Value) -> bool);

const STRING: Expected = ("a string", Value::is_string);
const OBJECT: Expected = ("an object", Value::is_object);
const ARRAY: Expected = ("an array", Value::is_array);
const BOOLEAN: Expected = ("a boolean", Value::is_boolean);

const MEMBERS: [(&str, Expected); 6] = [
    ("title", STRING),
    ("description", STRING),
    ("annotations", OBJECT),
    ("execution", OBJECT),
    ("icons", ARRAY),
    ("_meta", OBJECT),
];

const ANNOTATIONS: [(&str, Expected); 5] = [
    ("title", STRING),
    ("readOnlyHint", BOOLEAN),
    ("destructiveHint", BOOLEAN),
    ("idempotentHint", BOOLEAN),
    ("openWorldHint", BOOLEAN),
];

/// Returns a finding for each member of `tool` that has the wrong type.
pub(crate) fn check(tool: &Map<String, Value>) -> Vec<Finding> {
    let mut findings = wrong(tool, &MEMBERS, &Pointer::root());
    if let Some(Value::Object(annotations)) = tool.get("annotations") {
        findings.extend(wrong(annotations, &ANNOTATIONS, &Pointer::root().join("annotations")));
    }
    findings
}

/// Removes the members of the wrong type.
pub(crate) fn remove_wrong(tool: &mut Map<String, Value>) {
    remove(tool, &MEMBERS);
    if let Some(Value::Object(annotations)) = tool.get_mut("annotations") {
        remove(annotations, &ANNOTATIONS);
    }
}

fn wrong(map: &Map<String, Value>, members: &[(&str, Expected)], at: &Pointer) -> Vec<Finding> {
    members
        .iter()
        .filter_map(|(name, (expected, is))| {
            let value = map.get(*name)?;
            (!is(value)).then(|| {
                TOOL_MEMBER
                    .finding(format!("expected {expected}, found {}", kind(value)))
                    .at(at.join(name))
            })
        })
        .collect()
}

fn remove(map: &mut Map<String, Value>, members: &[(&str, Expected)]) {
    for (name, (_, is)) in members {
        if map.get(*name).is_some_and(|value| !is(value)) {
            map.shift_remove(*name);
        }
    }
}
