//! Carrying out the steps of a relaxation.

use std::collections::HashMap;

use serde_json::{Map, Value, json};
use toolbond_schema::{Dialect, Subschemas};

use super::step::{Kind, Loosening, Step};
use crate::dialect::check_references;
use crate::keyword::unknown_name;
use crate::project::edit::{Edit, Plan, Rebuilt};
use crate::project::schema_map::SchemaMap;
use crate::project::{is_envelope, is_objects_only, uri};

/// A relaxed schema.
pub(super) struct Rewritten {
    pub(super) schema: Value,
    /// Where each schema of the author's document is now.
    pub(super) places: Vec<String>,
}

/// Carries out `steps` on the schema of `map`. Returns `None` if a step does not fit it, or if a reference would get lost.
pub(super) fn rewrite(map: &SchemaMap<'_>, steps: &[Step]) -> Option<Rewritten> {
    let mut plan = Plan::default();
    let mut aside = Vec::new();
    let mut located = Vec::with_capacity(steps.len());
    for step in steps {
        let at = map.place_at(step.at.as_str())?;
        located.push((at, step.change));
        let Some((from, to)) = renamed(map, at, step.change)? else { continue };
        if let Loosening::Open(_) | Loosening::Drop(_) = step.change {
            if holds_names(map, &format!("{}/{from}", map.places[at].pointer)) {
                return None;
            }
            aside.push((at, to.clone()));
        }
        let edit = plan.edits.entry(at).or_insert_with(Edit::default);
        edit.rename.push((from.to_owned(), to));
    }
    let mut rebuilt = plan.carry_out(map).ok()?;
    check_references(map, &rebuilt, false).ok()?;
    for (at, change) in &located {
        let place = &map.places[*at];
        let here = rebuilt.schema.pointer_mut(&rebuilt.keywords[*at])?;
        loosen(here, *change, place.schema, place.dialect)?;
    }
    retain_required(&located, map, &mut rebuilt)?;
    for (at, name) in aside {
        remove_unless_referenced(map, &mut rebuilt, at, &name);
    }
    // The form in which clients get the results stays what it was.
    let was_objects_only = is_objects_only(map.places[0].schema);
    if was_objects_only && !is_objects_only(&rebuilt.schema) {
        rebuilt.schema.as_object_mut()?.insert("type".to_owned(), "object".into());
    }
    if is_objects_only(&rebuilt.schema) != was_objects_only
        || is_envelope(&rebuilt.schema) != is_envelope(map.places[0].schema)
    {
        return None;
    }
    Some(Rewritten { schema: rebuilt.schema, places: rebuilt.keywords })
}

/// The keyword that `change` gives another name: `oneOf`, or one that holds schemas, which references may lead to.
/// Returns `None` if the change does not fit.
#[expect(clippy::option_option, reason = "nothing to rename, and a step that does not fit")]
fn renamed(
    map: &SchemaMap<'_>,
    at: usize,
    change: Loosening,
) -> Option<Option<(&'static str, String)>> {
    let place = &map.places[at];
    let (Loosening::AnyOf | Loosening::Drop(_) | Loosening::Open(_)) = change else {
        return Some(None);
    };
    let schema = place.schema.as_object()?;
    Some(match change {
        Loosening::AnyOf => {
            let fits = schema.contains_key("oneOf") && !schema.contains_key("anyOf");
            Some(("oneOf", fits.then(|| "anyOf".to_owned())?))
        }
        Loosening::Drop(keyword) | Loosening::Open(keyword) => {
            let keyword = keyword.name();
            let value = schema.get(keyword)?;
            let holds_schemas = Subschemas::under_in(keyword, place.dialect).is_some();
            let is_moved = holds_schemas && !value.is_boolean();
            is_moved.then(|| (keyword, unknown_name(keyword, schema)))
        }
        _ => None,
    })
}

/// Whether a schema at or below `pointer` has a name, which is lost where no keyword holds it.
fn holds_names(map: &SchemaMap<'_>, pointer: &str) -> bool {
    const NAMES: [&str; 3] = ["$anchor", "$dynamicAnchor", "$recursiveAnchor"];
    let mut inside = map.places.iter().filter(|place| is_within(&place.pointer, pointer));
    inside.any(|it| it.is_named || NAMES.iter().any(|name| it.schema.get(name).is_some()))
}

fn is_within(place: &str, pointer: &str) -> bool {
    place.strip_prefix(pointer).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Removes the keyword `name` of a place, which has no effect, unless something refers into it.
fn remove_unless_referenced(map: &SchemaMap<'_>, rebuilt: &mut Rebuilt, at: usize, name: &str) {
    let mut pointer = rebuilt.keywords[at].clone();
    uri::push(&mut pointer, name);
    let is_inside = |place: usize| is_within(&rebuilt.places[place], &pointer);
    let is_needed = map.links.iter().any(|link| {
        link.target.is_some_and(|target| is_inside(target.place)) && !is_inside(link.holder)
    });
    if !is_needed
        && let Some(Value::Object(holder)) = rebuilt.schema.pointer_mut(&rebuilt.keywords[at])
    {
        holder.shift_remove(name);
    }
}

/// Relaxes `here`. `author` is the schema as its author wrote it.
fn loosen(here: &mut Value, change: Loosening, author: &Value, dialect: Dialect) -> Option<()> {
    if change == Loosening::Accept {
        let is_closed = *here == Value::Bool(false);
        *here = json!({});
        return is_closed.then_some(());
    }
    let schema = here.as_object_mut()?;
    match change {
        Loosening::Allow(kind) if author.get("type").is_some() => allow(schema, kind),
        Loosening::AllowBesideRef(kind) => {
            let branches = if let Some(reference) = schema.get("$ref").cloned() {
                // What older dialects ignore beside a `$ref` would count without it.
                if !is_reference(author) {
                    return None;
                }
                schema.shift_remove("$ref");
                schema.entry("anyOf").or_insert(json!([{ "$ref": reference }]))
            } else {
                schema.get_mut("anyOf")?
            };
            branches.as_array_mut()?.push(json!({ "type": kind.name() }));
        }
        Loosening::Branch(kind) => {
            schema.get_mut("anyOf")?.as_array_mut()?.push(json!({ "type": kind.name() }));
        }
        Loosening::Open(keyword) if keyword.is_unevaluated() => {
            schema.insert(keyword.name().to_owned(), json!({}));
        }
        Loosening::Drop(keyword) if !keyword.is_unevaluated() => {
            drop_keyword(schema, keyword.name(), dialect);
        }
        Loosening::AnyOf | Loosening::Optional(_) => {}
        _ => return None,
    }
    Some(())
}

/// Whether all that `schema` says of values is a `$ref`.
pub(super) fn is_reference(schema: &Value) -> bool {
    const BESIDE: [&str; 9] = [
        "$comment",
        "$ref",
        "default",
        "deprecated",
        "description",
        "examples",
        "readOnly",
        "title",
        "writeOnly",
    ];
    schema.as_object().is_some_and(|schema| {
        schema.contains_key("$ref") && schema.keys().all(|it| BESIDE.contains(&it.as_str()))
    })
}

fn drop_keyword(schema: &mut Map<String, Value>, keyword: &str, dialect: Dialect) {
    schema.shift_remove(keyword);
    if keyword == "contains" && dialect >= Dialect::Draft201909 {
        // They say how it is meant.
        schema.shift_remove("minContains");
        schema.shift_remove("maxContains");
    }
    // Draft-04: `exclusiveMinimum: true` says how `minimum` is meant.
    for (bound, exclusive) in [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")] {
        if keyword == bound && dialect == Dialect::Draft4 {
            schema.shift_remove(exclusive);
        }
    }
}

/// Adds `kind` to `type`, unless another step takes that away.
fn allow(schema: &mut Map<String, Value>, kind: Kind) {
    let Some(declared) = schema.get_mut("type") else { return };
    let mut kinds = match declared.take() {
        Value::Array(kinds) => kinds,
        one => vec![one],
    };
    let name = Value::from(kind.name());
    if !kinds.contains(&name) {
        kinds.push(name);
    }
    *declared = kinds.into();
    // Ajv gives up on a schema that says both.
    if kind == Kind::Null && schema.get("nullable") == Some(&Value::Bool(false)) {
        schema.shift_remove("nullable");
    }
}

/// Leaves the names in `required` that no step makes optional.
fn retain_required(
    steps: &[(usize, Loosening)],
    map: &SchemaMap<'_>,
    rebuilt: &mut Rebuilt,
) -> Option<()> {
    let mut optional: HashMap<usize, Vec<usize>> = HashMap::new();
    for (at, change) in steps {
        if let Loosening::Optional(index) = change {
            optional.entry(*at).or_default().push(*index);
        }
    }
    for (at, indices) in optional {
        let author = map.places[at].schema.get("required")?.as_array()?;
        if indices.iter().any(|index| *index >= author.len()) {
            return None;
        }
        let schema = rebuilt.schema.pointer_mut(&rebuilt.keywords[at])?.as_object_mut()?;
        let names = author.iter().enumerate().filter(|(index, _)| !indices.contains(index));
        let names: Vec<Value> = names.map(|(_, name)| name.clone()).collect();
        // An empty list is no list in draft-04.
        if names.is_empty() {
            schema.shift_remove("required");
        } else if schema.contains_key("required") {
            schema.insert("required".to_owned(), names.into());
        }
    }
    Some(())
}
