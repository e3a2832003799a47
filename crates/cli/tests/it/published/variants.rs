//! Calls as models and hosts get them wrong: one value as a string, or `null` for what is optional.

use serde_json::Value;

use super::case::Call;

/// The variants of a right call, given what its server answers to `tools/list`.
pub(super) fn of(call: &Call, listed: &Value) -> Vec<Call> {
    let tools = listed["result"]["tools"].as_array().unwrap();
    let Some(tool) = tools.iter().find(|tool| tool["name"] == *call.tool) else {
        return Vec::new();
    };
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
    let schema = &tool["inputSchema"];
    let required: Vec<_> = schema["required"].as_array().into_iter().flatten().collect();
    let declared = schema["properties"].as_object().into_iter().flatten();
    let nulls = declared
        .filter(|(name, _)| !required.iter().any(|required| *required == name.as_str()))
        .map(|(name, _)| with(name, Value::Null));
    as_text.chain(nulls).collect()
}
