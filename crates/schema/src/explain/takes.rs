//! What a property takes, in a few words.

use serde_json::Value;

use super::value::{alternatives, echo, either};
use crate::engine::burn;

/// The most characters of a description.
const LONGEST: usize = 60;

/// References and alternatives that are followed.
const HOPS: usize = 8;

/// Steps for one description.
const DESCRIPTION: u64 = 64;

/// What a value under `schema` may be: its type, the allowed values, an example. `root` is the document
/// that references point into.
pub(crate) fn describe(root: &Value, schema: &Value) -> Option<String> {
    burn(DESCRIPTION);
    let what = kinds(root, schema, HOPS).filter(|what| fits(what))?;
    let example = example(root, schema, HOPS).map(echo);
    match example.map(|example| format!("{what}, for example {example}")) {
        Some(text) if fits(&text) => Some(text),
        _ => Some(what),
    }
}

fn fits(text: &str) -> bool {
    text.chars().nth(LONGEST).is_none()
}

/// The example or default that a schema gives.
fn example<'a>(root: &'a Value, schema: &'a Value, hops: usize) -> Option<&'a Value> {
    let own = schema
        .get("examples")
        .and_then(|examples| examples.get(0))
        .or_else(|| schema.get("example"))
        .or_else(|| schema.get("default"));
    own.filter(|own| !own.is_null()).or_else(|| {
        let target = resolve(root, schema).filter(|_| hops > 0)?;
        example(root, target, hops - 1)
    })
}

/// The type or the values that `schema` names.
fn kinds(root: &Value, schema: &Value, hops: usize) -> Option<String> {
    if let Some(constant) = schema.get("const") {
        return Some(echo(constant));
    }
    if let Some(options) = schema.get("enum").and_then(Value::as_array) {
        return (!options.is_empty()).then(|| either(options));
    }
    match schema.get("type") {
        Some(Value::String(kind)) => return Some(one(root, schema, kind, hops)),
        Some(Value::Array(kinds)) => {
            let kinds: Vec<_> = kinds.iter().filter_map(Value::as_str).map(str::to_owned).collect();
            return (!kinds.is_empty()).then(|| alternatives(&kinds, kinds.len()));
        }
        _ => {}
    }
    let hops = hops.checked_sub(1)?;
    if let Some(target) = resolve(root, schema) {
        return kinds(root, target, hops);
    }
    let branches = ["anyOf", "oneOf", "allOf"].iter().find_map(|keyword| schema.get(keyword));
    let branches = branches.and_then(Value::as_array).filter(|all| all.len() <= HOPS)?;
    let mut named: Vec<String> = Vec::new();
    for branch in branches {
        let kind = kinds(root, branch, hops)?;
        if !named.contains(&kind) {
            named.push(kind);
        }
    }
    Some(alternatives(&named, named.len()))
}

/// The type `kind` with the bounds that `schema` sets.
fn one(root: &Value, schema: &Value, kind: &str, hops: usize) -> String {
    let bound = |keyword: &str| schema.get(keyword).filter(|bound| bound.is_number());
    match kind {
        "integer" | "number" => match (bound("minimum"), bound("maximum")) {
            (Some(least), Some(most)) => format!("{kind} from {least} to {most}"),
            (Some(least), None) => format!("{kind} ≥ {least}"),
            (None, Some(most)) => format!("{kind} ≤ {most}"),
            (None, None) => kind.to_owned(),
        },
        "string" => match schema.get("format").and_then(Value::as_str) {
            Some(format) => format!("string, a valid {format}"),
            None => kind.to_owned(),
        },
        "array" => {
            let items = schema.get("items").filter(|_| hops > 0);
            match items.and_then(|items| kinds(root, items, hops - 1)) {
                Some(items) if fits(&items) => format!("array of {items}"),
                _ => kind.to_owned(),
            }
        }
        _ => kind.to_owned(),
    }
}

/// What the reference of `schema` within its document leads to.
fn resolve<'a>(root: &'a Value, schema: &Value) -> Option<&'a Value> {
    root.pointer(schema.get("$ref")?.as_str()?.strip_prefix('#')?)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::describe;
    use crate::engine::run_freely;

    #[test]
    fn says_what_a_property_takes() {
        let root = json!({ "$defs": {
            "unit": { "enum": ["celsius", "fahrenheit"] },
            "endless": { "$ref": "#/$defs/endless" }
        } });
        for (schema, expected) in [
            (json!({ "type": "string" }), Some("string")),
            (json!({ "type": "string", "default": "Bern" }), Some(r#"string, for example "Bern""#)),
            (json!({ "type": "string", "format": "date" }), Some("string, a valid date")),
            (json!({ "type": "integer", "minimum": 1, "maximum": 9 }), Some("integer from 1 to 9")),
            (json!({ "type": ["integer", "null"] }), Some("integer or null")),
            (json!({ "type": "array", "items": { "type": "string" } }), Some("array of string")),
            (json!({ "$ref": "#/$defs/unit" }), Some(r#""celsius" or "fahrenheit""#)),
            (
                json!({ "anyOf": [{ "$ref": "#/$defs/unit" }, { "type": "null" }] }),
                Some(r#""celsius" or "fahrenheit" or null"#),
            ),
            (
                json!({ "type": "object", "examples": [{ "a": 1 }] }),
                Some(r#"object, for example {"a":1}"#),
            ),
            (json!({ "$ref": "#/$defs/endless" }), None),
            (json!({ "enum": vec!["a long name of a value"; 9] }), None),
            (json!({}), None),
        ] {
            let found = run_freely(|| describe(&root, &schema));
            assert_eq!(found.as_deref(), expected, "{schema}");
        }
    }
}
