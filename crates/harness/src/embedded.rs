//! Schemas as bundling writes them: with parts that are resources of their own.

use serde_json::{Map, Value, json};

/// Returns `schema` as an embedded resource that the schema around it refers to. Returns `None` if it has a name or a
/// dialect already.
pub fn whole(schema: &Value) -> Option<Value> {
    let resource = named(schema, "https://example.com/whole.json")?;
    Some(json!({ "$ref": "https://example.com/whole.json", "$defs": { "whole": resource } }))
}

/// Returns `schema` with an embedded resource for each property. Returns `None` if it has no properties, or a name
/// or a dialect already.
pub fn properties(schema: &Value) -> Option<Value> {
    let mut schema = named(schema, "https://example.com/root.json")?;
    rename_references(&mut schema);
    let properties = schema.get_mut("properties")?.as_object_mut()?;
    let mut resources = Map::new();
    for (index, property) in properties.values_mut().enumerate() {
        let name = format!("{index}.json");
        if let Some(resource) = named(property, &name) {
            *property = json!({ "$ref": name });
            resources.insert(format!("property {index}"), resource);
        }
    }
    let definitions = schema.as_object_mut()?.entry("$defs").or_insert_with(|| json!({}));
    definitions.as_object_mut()?.extend(resources);
    Some(schema)
}

/// Returns `schema` with the name `id`. Returns `None` if it has a name or a dialect, or is a boolean.
fn named(schema: &Value, id: &str) -> Option<Value> {
    let mut members = schema.as_object()?.clone();
    if ["$id", "$schema"].iter().any(|keyword| members.contains_key(*keyword)) {
        return None;
    }
    members.shift_insert(0, "$id".to_owned(), id.into());
    Some(Value::Object(members))
}

/// Lets references to places in the schema start from its name, but not those in resources inside of it.
fn rename_references(value: &mut Value) {
    match value {
        Value::Array(items) => items.iter_mut().for_each(rename_references),
        Value::Object(members) => {
            for (name, member) in members {
                match member {
                    Value::String(reference) if name == "$ref" && reference.starts_with('#') => {
                        reference.insert_str(0, "root.json");
                    }
                    Value::Object(inner)
                        if inner.contains_key("$id") || inner.contains_key("id") => {}
                    member => rename_references(member),
                }
            }
        }
        _ => {}
    }
}
