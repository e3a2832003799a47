//! `null` where a model means that there is nothing.

use serde_json::Value;

/// References that are followed from one place, and arms inside of each other that are looked into.
const HOPS: usize = 16;

/// Takes off what is `null` in `value`, and by `schema` is declared, not required and may not be `null`, at any depth;
/// whether there was any. `root` is the document that `schema` is a part of.
pub(super) fn drop_nulls(root: &Value, schema: &Value, value: &mut Value) -> bool {
    let schema = resolve(root, schema);
    match value {
        Value::Object(members) => {
            let declared = |name: &str| schema.get("properties")?.get(name);
            let before = members.len();
            members.retain(|name, value| {
                !value.is_null()
                    || is_required(schema, name)
                    || !declared(name).is_some_and(|schema| refuses_null(root, schema, HOPS))
            });
            let mut any = members.len() < before;
            for (name, value) in members {
                let schema = declared(name).or_else(|| schema.get("additionalProperties"));
                any |= schema.is_some_and(|schema| drop_nulls(root, schema, value));
            }
            any
        }
        Value::Array(items) => {
            let Some(schema) = schema.get("items") else { return false };
            let mut any = false;
            for item in items {
                any |= drop_nulls(root, schema, item);
            }
            any
        }
        _ => false,
    }
}

fn is_required(schema: &Value, name: &str) -> bool {
    let required = schema.get("required").and_then(Value::as_array);
    required.is_some_and(|names| names.iter().any(|other| other == name))
}

/// Whether `null` breaks `schema` for sure.
fn refuses_null(root: &Value, schema: &Value, hops: usize) -> bool {
    let Some(hops) = hops.checked_sub(1) else { return false };
    let schema = resolve(root, schema);
    let arms = |keyword| schema.get(keyword).and_then(Value::as_array);
    let refuses = |arm: &Value| refuses_null(root, arm, hops);
    let kinds = match schema.get("type") {
        Some(Value::String(kind)) => kind != "null",
        Some(Value::Array(kinds)) => !kinds.iter().any(|kind| kind == "null"),
        _ => false,
    };
    kinds
        || arms("enum").is_some_and(|values| !values.contains(&Value::Null))
        || ["anyOf", "oneOf"].into_iter().filter_map(arms).any(|arms| arms.iter().all(refuses))
        || arms("allOf").is_some_and(|arms| arms.iter().any(refuses))
}

/// What `schema` refers to, where it refers to a place of the same document; else `schema`.
fn resolve<'a>(root: &'a Value, mut schema: &'a Value) -> &'a Value {
    for _ in 0..HOPS {
        let pointer = schema.get("$ref").and_then(Value::as_str);
        let target = pointer.and_then(|pointer| root.pointer(pointer.strip_prefix('#')?));
        match target {
            Some(target) => schema = target,
            None => break,
        }
    }
    schema
}
