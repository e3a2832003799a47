//! Calls as models and hosts get them wrong: one value in another form, one property too many, one name misspelt.

use serde_json::Value;

use super::case::Call;

/// What is wrong with a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    /// A number, boolean, array or object is a string, or what is optional is `null`.
    Value,
    /// There is a property that is like no declared one.
    Extra,
    /// The name of an optional argument lacks a letter.
    Misspelt,
}

impl Kind {
    /// All, in the order in which a server gets them: what it makes of a misspelt name changes nothing that comes later.
    pub(super) const ALL: [Self; 3] = [Self::Value, Self::Extra, Self::Misspelt];

    /// The variants of a right call, given what its server answers to `tools/list`.
    pub(super) fn variants(self, call: &Call, listed: &Value) -> Vec<Call> {
        let mut tools = listed["result"]["tools"].as_array().unwrap().iter();
        let Some(tool) = tools.find(|tool| tool["name"] == *call.tool) else {
            return Vec::new();
        };
        match self {
            Self::Value => values(call, tool),
            Self::Extra => extra(call, tool).into_iter().collect(),
            Self::Misspelt => misspelt(call, tool).into_iter().collect(),
        }
    }
}

/// Whether the schema of `tool` requires the argument `name`.
fn is_required(tool: &Value, name: &str) -> bool {
    let mut required = tool["inputSchema"]["required"].as_array().into_iter().flatten();
    required.any(|required| *required == name)
}

fn values(call: &Call, tool: &Value) -> Vec<Call> {
    let with = |name: &str, value: Value| {
        let mut variant = call.clone();
        variant.arguments[name] = value;
        variant
    };
    let arguments = call.arguments.as_object().unwrap();
    let as_text = arguments
        .iter()
        .filter(|(_, value)| !value.is_string() && !value.is_null())
        .map(|(name, value)| with(name, Value::String(value.to_string())));
    let declared = tool["inputSchema"]["properties"].as_object().into_iter().flatten();
    let nulls = declared
        .filter(|(name, _)| !is_required(tool, name))
        .map(|(name, _)| with(name, Value::Null));
    as_text.chain(nulls).collect()
}

/// The name of a property that hosts add.
const EXTRA: &str = "reason_for_call";

fn extra(call: &Call, tool: &Value) -> Option<Call> {
    let mut variant = call.clone();
    variant.arguments[EXTRA] = "to see what it does".into();
    tool["inputSchema"]["properties"].get(EXTRA).is_none().then_some(variant)
}

/// The first optional argument of at least four letters without the letter in its middle.
fn misspelt(call: &Call, tool: &Value) -> Option<Call> {
    let declared = tool["inputSchema"]["properties"].as_object()?;
    call.arguments.as_object()?.keys().find_map(|name| {
        let is_optional = declared.contains_key(name) && !is_required(tool, name);
        let mut wrong = name.clone();
        if !is_optional || name.len() < 4 || !name.is_ascii() {
            return None;
        }
        wrong.remove(name.len() / 2);
        let arguments = call.arguments.as_object()?.iter().map(|(other, value)| {
            (if other == name { wrong.clone() } else { other.clone() }, value.clone())
        });
        let arguments = Value::Object(arguments.collect());
        (!declared.contains_key(&wrong)).then(|| Call { arguments, ..call.clone() })
    })
}
