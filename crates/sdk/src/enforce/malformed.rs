//! Calls that `rmcp` cannot parse.

use rmcp::{ErrorData, model::CustomRequest};
use serde_json::Value;

/// Says what is wrong with `request` if it is a malformed `tools/call`, which `rmcp` would answer with "method not
/// found".
pub(super) fn explain(request: &CustomRequest) -> Option<ErrorData> {
    let none = Value::Null;
    let params = request.params.as_ref().unwrap_or(&none);
    (request.method == "tools/call")
        .then(|| ErrorData::invalid_params(format!("tools/call: {}", call(params)), None))
}

fn call(params: &Value) -> String {
    match (params.get("name"), params.get("arguments")) {
        _ if !params.is_object() => format!("#: expected an object, found {}", kind(params)),
        (None, _) => "#: missing required property `name`".to_owned(),
        (Some(name), _) if !name.is_string() => {
            format!("#/name: expected a string, found {}", kind(name))
        }
        (_, Some(arguments)) if !arguments.is_object() => {
            format!("#/arguments: expected an object, found {}", kind(arguments))
        }
        _ => "#: expected the parameters of a call".to_owned(),
    }
}

const fn kind(value: &Value) -> &'static str {
    match value {
        Value::Null => "null",
        Value::Bool(_) => "a boolean",
        Value::Number(_) => "a number",
        Value::String(_) => "a string",
        Value::Array(_) => "an array",
        Value::Object(_) => "an object",
    }
}
