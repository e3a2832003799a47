//! Makes generated schemas portable between clients and model APIs, without a change of what they accept.
//!
//! - Formats that only `schemars` knows, such as `uint8`, are removed. The bounds stay; those of 32 bits are added.
//! - An enumeration of strings becomes one `enum`, even if its values are documented.
//! - Every subschema is an object.

use serde_json::{Map, Value, json};

/// Rewrites a generated output schema in place.
pub(super) fn output(schema: &mut Value) {
    if let Value::Object(root) = schema {
        root.shift_remove("$schema");
        root.shift_remove("title");
    }
    rewrite(schema);
}

/// Formats of `schemars` for the number types of Rust.
const NUMBER_FORMATS: [&str; 14] = [
    "int8", "int16", "int32", "int64", "int128", "int", "uint8", "uint16", "uint32", "uint64",
    "uint128", "uint", "float", "double",
];

/// Rewrites a generated schema in place.
pub(super) fn rewrite(schema: &mut Value) {
    if *schema == Value::Bool(true) {
        *schema = json!({});
    }
    let Value::Object(map) = schema else { return };
    let format = map.get("format").and_then(Value::as_str);
    if let Some(format) = format.filter(|format| NUMBER_FORMATS.contains(format)) {
        let bounds = match format {
            "int32" => Some((i64::from(i32::MIN), i64::from(i32::MAX))),
            "uint32" => Some((0, i64::from(u32::MAX))),
            _ => None,
        };
        map.shift_remove("format");
        if let Some((minimum, maximum)) = bounds {
            map.entry("minimum").or_insert_with(|| minimum.into());
            map.entry("maximum").or_insert_with(|| maximum.into());
        }
    }
    join_constants(map);
    for (keyword, value) in map {
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties" | "$defs", Value::Object(schemas)) => {
                schemas.values_mut().for_each(rewrite);
            }
            ("anyOf" | "oneOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(rewrite);
            }
            ("items" | "not" | "contains" | "propertyNames", schema) => rewrite(schema),
            // Every client understands a boolean here.
            ("additionalProperties", schema) if schema.is_object() => rewrite(schema),
            _ => {}
        }
    }
}

/// Removes the `null` alternative of an optional property.
pub(super) fn drop_null(map: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = map.get_mut("type") {
        types.retain(|name| name != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            map.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(values)) = map.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    let Some(Value::Array(arms)) = map.get_mut("anyOf") else { return };
    let before = arms.len();
    arms.retain(|arm| *arm != json!({ "type": "null" }));
    if let (true, [Value::Object(one)]) = (arms.len() < before, arms.as_slice()) {
        let one = one.clone();
        map.shift_remove("anyOf");
        for (keyword, value) in one {
            // Keywords of the property take precedence over those of its type.
            map.entry(keyword).or_insert(value);
        }
    }
}

/// Joins a `oneOf` of constant strings, which documented variants produce, into one `enum`. The documentation of the
/// variants moves to the description.
fn join_constants(map: &mut Map<String, Value>) {
    let Some(Value::Array(arms)) = map.get("oneOf") else { return };
    let mut values = Vec::new();
    let mut lines = Vec::new();
    for arm in arms {
        let Value::Object(arm) = arm else { return };
        let known = ["const", "enum", "type", "description"];
        if arm.keys().any(|key| !known.contains(&key.as_str())) {
            return;
        }
        let of_arm = match (arm.get("const"), arm.get("enum")) {
            (Some(value @ Value::String(_)), None) => vec![value.clone()],
            (None, Some(Value::Array(values))) if values.iter().all(Value::is_string) => {
                values.clone()
            }
            _ => return,
        };
        let name = of_arm.first().and_then(Value::as_str);
        if let (Some(text), Some(name)) = (arm.get("description").and_then(Value::as_str), name) {
            lines.push(format!("{name}: {text}"));
        }
        values.extend(of_arm);
    }
    if values.is_empty() {
        return;
    }
    map.shift_remove("oneOf");
    map.insert("type".to_owned(), "string".into());
    map.insert("enum".to_owned(), values.into());
    if !lines.is_empty() {
        let own = map.get("description").and_then(Value::as_str).map(str::to_owned);
        let text = own.into_iter().chain(lines).collect::<Vec<_>>().join("\n");
        map.insert("description".to_owned(), text.into());
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::join_constants;

    #[test]
    fn joins_no_constants_of_an_empty_enum() {
        let arms = json!([{ "enum": [], "description": "nothing" }, { "const": "a" }]);
        let mut schema = serde_json::Map::from_iter([("oneOf".to_owned(), arms)]);
        join_constants(&mut schema);
        assert_eq!(json!(schema), json!({ "type": "string", "enum": ["a"] }));
        let mut schema = serde_json::Map::from_iter([(
            "oneOf".to_owned(),
            json!([{ "enum": [], "description": "nothing" }]),
        )]);
        let before = schema.clone();
        join_constants(&mut schema);
        assert_eq!(schema, before);
    }
}
