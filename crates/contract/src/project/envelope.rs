//! The envelope around an output schema: adding and removing it.

use serde_json::{Map, Value, json};
use toolbond_schema::Dialect;

use super::bounds;
use super::draft07;
use super::edit::Plan;
use super::error::ProjectError;
use super::form::Form;
use super::projection::Projection;
use super::schema_map::SchemaMap;
use super::uri;

/// The place of the natural schema in the envelope.
pub(crate) const INSIDE: &str = "/properties/result";
/// The `$id` for a natural schema that has none, but is referred to as the root of its resource.
const ROOT_ID: &str = "toolbond-natural";

/// Gives an output schema the shape that a legacy revision can carry, and returns its form.
pub(crate) fn project_schema(
    schema: &Value,
    projection: Projection,
) -> Result<(Value, Form), ProjectError> {
    let wire;
    let schema = match schema {
        Value::Bool(true) => &Value::Object(Map::new()),
        Value::Bool(false) => {
            wire = json!({ "not": {} });
            &wire
        }
        schema => schema,
    };
    let map = SchemaMap::build(schema)?;
    let form = Form::decide(&map, projection.nullable);
    let plan = plan(&map, form, projection);
    let moved = plan.carry_out(&map)?.schema;
    let is_veiled = plan.edits.get(&0).is_some_and(|edit| edit.veil);
    Ok((around(moved, form, is_veiled), form))
}

fn plan(map: &SchemaMap<'_>, form: Form, projection: Projection) -> Plan {
    let is_moved = form == Form::Envelope;
    let mut plan = Plan {
        prefix: if is_moved { INSIDE } else { "" },
        edits: draft07::edits(map, projection.formats),
        ..Plan::default()
    };
    let root = &map.places[0];
    // `id` is what draft-04 calls it, and what a draft-07 reader refuses to read.
    plan.plain = root.dialect == Dialect::Draft4
        && !map.tangled
        && map.places.iter().any(|place| place.schema.get("id").is_some_and(Value::is_string));
    let recursive = |keyword| {
        map.links.iter().any(|link| {
            link.keyword == keyword && link.target.is_some_and(|target| target.place == 0)
        })
    };
    let root_is_veiled = plan.edits.get(&0).is_some_and(|edit| edit.veil);
    if !root.is_named && (is_moved || root_is_veiled) && recursive("$recursiveRef") {
        // With one resource in play the dynamic scope holds nothing but it: the reference is static.
        let alone = map.resource_count() == 1 && map.links.iter().all(|link| link.target.is_some());
        if alone {
            plan.static_recursion = true;
        } else if is_moved {
            plan.root_id = Some(ROOT_ID);
            plan.edits.entry(0).or_default().ref_below = true;
        }
    }
    plan
}

/// Adds the root of the document around a projected schema.
fn around(mut schema: Value, form: Form, is_veiled: bool) -> Value {
    let Value::Object(inside) = &mut schema else { return schema };
    match form {
        Form::Envelope => {
            let mut envelope = Map::new();
            if let Some(dialect) = inside.shift_remove("$schema") {
                envelope.insert("$schema".to_owned(), dialect);
            }
            envelope.insert("type".to_owned(), "object".into());
            envelope.insert("properties".to_owned(), json!({ "result": schema }));
            envelope.insert("required".to_owned(), json!(["result"]));
            Value::Object(envelope)
        }
        Form::Object | Form::NullableObject => {
            if inside.contains_key("type") {
                inside.insert("type".to_owned(), "object".into());
            } else {
                inside.shift_insert(0, "type".to_owned(), "object".into());
            }
            schema
        }
        _ => {
            if is_veiled {
                inside.shift_insert(0, "type".to_owned(), "object".into());
            }
            schema
        }
    }
}

/// Returns the schema inside an envelope, with `$schema` and the definitions of the envelope. Returns `None` if a
/// reference points to the envelope itself, or if the envelope exceeds a limit.
pub(crate) fn open(envelope: &Value, dialect_at: usize) -> Option<Value> {
    bounds::check_pointers(envelope, "").ok()?;
    let map = SchemaMap::build(envelope).ok()?;
    let mut opened = envelope.clone();
    for link in &map.links {
        let holder = &map.places[link.holder].pointer;
        let Some(target) = link.target.filter(|target| !target.by_name) else { continue };
        if map.places[target.resource].is_named {
            continue;
        }
        let (before, fragment) = uri::split(link.text);
        let pointer = &map.places[target.place].pointer;
        let text = match (fragment.strip_prefix(INSIDE), pointer.strip_prefix(INSIDE)) {
            (Some(rest), Some(_)) if rest.is_empty() || rest.starts_with('/') => {
                format!("{before}#{rest}")
            }
            (None, Some(rest)) if rest.is_empty() || rest.starts_with('/') => {
                format!("{before}#{}", uri::encode(rest))
            }
            _ if is_definition(pointer) && link.keyword != "$recursiveRef" => continue,
            _ => return None,
        };
        let holder = opened.pointer_mut(holder)?.as_object_mut()?;
        holder.insert(link.keyword.to_owned(), text.into());
    }
    let envelope = opened.as_object_mut()?;
    let mut inside = envelope.get_mut("properties")?.get_mut("result")?.take();
    if let Value::Object(schema) = &mut inside {
        for keyword in ["$defs", "definitions"] {
            if let Some(definitions) = envelope.shift_remove(keyword) {
                merge(schema, keyword, definitions)?;
            }
        }
        if let (Some(dialect), false) =
            (envelope.shift_remove("$schema"), schema.contains_key("$schema"))
        {
            schema.shift_insert(dialect_at.min(schema.len()), "$schema".to_owned(), dialect);
        }
    }
    Some(inside)
}

fn is_definition(pointer: &str) -> bool {
    ["/$defs/", "/definitions/"].iter().any(|keyword| pointer.starts_with(keyword))
}

/// Adds the definitions of the envelope to those of the schema. Returns `None` if both have the same name.
fn merge(schema: &mut Map<String, Value>, keyword: &str, definitions: Value) -> Option<()> {
    let Some(own) = schema.get_mut(keyword) else {
        schema.insert(keyword.to_owned(), definitions);
        return Some(());
    };
    let (own, Value::Object(definitions)) = (own.as_object_mut()?, definitions) else {
        return None;
    };
    for (name, definition) in definitions {
        if own.insert(name, definition).is_some() {
            return None;
        }
    }
    Some(())
}

/// Whether `schema` has the exact shape of an envelope, as the SDKs write it.
pub(crate) fn is_envelope(schema: &Value) -> bool {
    let Value::Object(schema) = schema else { return false };
    let one_result = |value: &Value| {
        value.as_object().is_some_and(|map| map.len() == 1 && map.contains_key("result"))
    };
    schema.get("type").is_some_and(|name| name == "object")
        && schema.get("properties").is_some_and(one_result)
        && schema.get("required") == Some(&json!(["result"]))
        && schema.keys().all(|keyword| {
            matches!(
                keyword.as_str(),
                "$schema"
                    | "$defs"
                    | "definitions"
                    | "properties"
                    | "required"
                    | "title"
                    | "type"
                    | "x-fastmcp-wrap-result"
            )
        })
}
