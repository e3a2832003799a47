//! What changes in each schema inside a schema, so that 2020-12 reads it as its own dialect does.

use serde_json::{Map, Value};
use toolbond_schema::Dialect;

use crate::keyword::{self, unknown_name};
use crate::project::{
    ProjectError, ProjectErrorKind,
    edit::{Edit, Plan},
    schema_map::{Place, SchemaMap},
    uri,
};

type Check = fn(&Value) -> bool;

/// Annotations that 2020-12 refuses unless they have this type, and the first dialect that checks that.
const ANNOTATIONS: [(&str, Check, Dialect); 7] = [
    ("$comment", Value::is_string, Dialect::Draft7),
    ("contentEncoding", Value::is_string, Dialect::Draft7),
    ("contentMediaType", Value::is_string, Dialect::Draft7),
    ("deprecated", Value::is_boolean, Dialect::Draft201909),
    ("examples", Value::is_array, Dialect::Draft6),
    ("readOnly", Value::is_boolean, Dialect::Draft7),
    ("writeOnly", Value::is_boolean, Dialect::Draft7),
];

/// Plans the conversion of a schema to 2020-12.
pub(super) fn plan(map: &SchemaMap<'_>) -> Result<Plan, ProjectError> {
    let mut plan = Plan { plain: has_inner_names(map), ..Plan::default() };
    plan_recursion(map, &mut plan)?;
    add_edits(map, &mut plan)?;
    Ok(plan)
}

/// Adds the changes of each schema to a plan that says what becomes of names.
pub(crate) fn add_edits(map: &SchemaMap<'_>, plan: &mut Plan) -> Result<(), ProjectError> {
    let has_unevaluated_items = map.places.iter().any(|place| {
        place.dialect >= Dialect::Draft201909 && place.schema.get("unevaluatedItems").is_some()
    });
    for (at, place) in map.places.iter().enumerate() {
        let Value::Object(schema) = place.schema else { continue };
        let dialect = schema.get("$schema").and_then(Value::as_str).map(Dialect::from_uri);
        if dialect.is_some_and(|dialect| dialect != Some(place.dialect)) {
            let pointer = format!("{}/$schema", place.pointer);
            return Err(ProjectError::new(pointer.as_str(), ProjectErrorKind::NestedDialect));
        }
        let names = Names { is_root: at == 0, plan };
        let edit = names.convert(place, schema, has_unevaluated_items);
        if map.tangled && (at != 0 || !is_trivial(&edit)) && !is_empty(&edit) {
            let pointer = place.pointer.as_str();
            return Err(ProjectError::new(pointer, ProjectErrorKind::DataAsSchema));
        }
        if !is_empty(&edit) {
            plan.edits.insert(at, edit);
        }
    }
    Ok(())
}

/// Whether a schema up to draft-07 has a name that 2020-12 writes differently or that moves the base of others.
fn has_inner_names(map: &SchemaMap<'_>) -> bool {
    let places = map.places.iter().enumerate();
    let mut ids = places.filter_map(|(at, place)| {
        let id = (place.dialect <= Dialect::Draft7).then(|| id(place)).flatten()?;
        Some((at, uri::split(id).1))
    });
    ids.any(|(at, fragment)| at != 0 || !fragment.is_empty())
}

/// The `$id` (`id` in draft-04) of a schema, where it has an effect.
fn id<'a>(place: &Place<'a>) -> Option<&'a str> {
    let key = if place.dialect == Dialect::Draft4 { "id" } else { "$id" };
    if is_silenced(place) { None } else { place.schema.get(key)?.as_str() }
}

/// Whether only `$ref` has an effect in a schema.
fn is_silenced(place: &Place<'_>) -> bool {
    place.dialect <= Dialect::Draft7 && place.schema.get("$ref").is_some_and(Value::is_string)
}

/// Decides what takes the place of `$recursiveRef`.
fn plan_recursion(map: &SchemaMap<'_>, plan: &mut Plan) -> Result<(), ProjectError> {
    let refuse = |place: usize, keyword| {
        let pointer = format!("{}/{keyword}", map.places[place].pointer);
        let kind = ProjectErrorKind::DynamicReference { keyword };
        Err(ProjectError::new(pointer.as_str(), kind))
    };
    let dynamic = map.links.iter().find(|link| link.keyword != "$ref");
    if let (true, Some(link)) = (plan.plain, dynamic) {
        return refuse(link.holder, link.keyword);
    }
    let is_anchor = |place: &Place<'_>| {
        place.dialect == Dialect::Draft201909
            && place.schema.get("$recursiveAnchor") == Some(&Value::Bool(true))
    };
    let is_alone = map.links.iter().all(|link| link.target.is_some());
    if let (false, Some(place)) = (is_alone, map.places.iter().position(is_anchor)) {
        // Another document may refer to the outermost anchor.
        return refuse(place, "$recursiveRef");
    }
    if map.resource_count() == 1 || !map.places.iter().any(is_anchor) {
        plan.static_recursion = true;
        return Ok(());
    }
    let mut name = "recursive".to_owned();
    while map.anchors.keys().any(|(_, taken)| *taken == name) {
        name.push('_');
    }
    plan.dynamic_anchor = Some(name);
    Ok(())
}

fn is_empty(edit: &Edit) -> bool {
    edit.rename.is_empty()
        && edit.drop.is_empty()
        && edit.put.is_empty()
        && !edit.split_dependencies
        && !edit.contains_apart
}

/// Whether `edit` only leaves out `$schema`.
fn is_trivial(edit: &Edit) -> bool {
    is_empty(&Edit { drop: Vec::new(), ..edit.clone() }) && edit.drop == ["$schema"]
}

/// What is decided about the names in a whole schema, for one schema in it.
struct Names<'a> {
    is_root: bool,
    plan: &'a Plan,
}

impl Names<'_> {
    fn convert(&self, place: &Place<'_>, schema: &Map<String, Value>, apart: bool) -> Edit {
        let mut edit = Edit::default();
        if schema.get("$schema").is_some_and(Value::is_string) {
            edit.drop.push("$schema");
        }
        let mut silent = self.silent(place, schema);
        if is_silenced(place) {
            silent.extend(keyword::silenced_by_ref());
        } else if place.dialect < Dialect::Draft202012 {
            convert_bounds(place.dialect, schema, &mut edit);
            convert_items(schema, &mut edit);
            self.convert_recursion(place, schema, &mut edit);
            edit.split_dependencies = place.dialect <= Dialect::Draft7
                && schema.get("dependencies").is_some_and(Value::is_object);
            edit.contains_apart =
                apart && place.dialect >= Dialect::Draft6 && schema.contains_key("contains");
        }
        if place.dialect < Dialect::Draft202012 && !schema.contains_key("$defs") {
            edit.rename.push(("definitions".to_owned(), "$defs".to_owned()));
        }
        if self.is_root && place.dialect == Dialect::Draft4 && !silent.contains(&"id") {
            edit.rename.push(("id".to_owned(), "$id".to_owned()));
        }
        edit.nameless = silent.contains(&"$anchor");
        silent.sort_unstable();
        silent.dedup();
        edit.rename.extend(
            silent.into_iter().map(|keyword| (keyword.to_owned(), unknown_name(keyword, schema))),
        );
        edit.rename.retain(|(keyword, _)| schema.contains_key(keyword));
        edit
    }

    /// Keywords that mean nothing in the dialect of a schema, and something in 2020-12.
    fn silent(&self, place: &Place<'_>, schema: &Map<String, Value>) -> Vec<&'static str> {
        let dialect = place.dialect;
        let mut silent: Vec<_> = keyword::only_later_assert(dialect).collect();
        for (keyword, is_right, since) in ANNOTATIONS {
            if dialect < since && schema.get(keyword).is_some_and(|value| !is_right(value)) {
                silent.push(keyword);
            }
        }
        if dialect <= Dialect::Draft7 && !schema.get("$defs").is_none_or(holds_schemas) {
            silent.push("$defs");
        }
        // A name that is given up must not be one in 2020-12.
        let own = id(place).is_some_and(|id| !self.is_root || !uri::split(id).1.is_empty());
        if self.plan.plain && own {
            silent.push("$id");
        }
        // Readers that know `$id` give up on `id`.
        if dialect < Dialect::Draft202012
            && (dialect != Dialect::Draft4 || !self.is_root || own || id(place).is_none())
        {
            silent.push("id");
        }
        // 2020-12 allows no colon.
        let anchor = schema.get("$anchor").and_then(Value::as_str);
        if anchor.is_some_and(|name| self.plan.plain || name.contains(':')) {
            silent.push("$anchor");
        }
        silent
    }

    fn convert_recursion(&self, place: &Place<'_>, schema: &Map<String, Value>, edit: &mut Edit) {
        if place.dialect != Dialect::Draft201909 || !schema.contains_key("$recursiveAnchor") {
            return;
        }
        edit.drop.push("$recursiveAnchor");
        if let (Some(name), true) = (&self.plan.dynamic_anchor, self.is_root || place.is_named)
            && schema.get("$recursiveAnchor") == Some(&Value::Bool(true))
        {
            edit.put.push(("$dynamicAnchor", name.as_str().into()));
        }
    }
}

/// Draft-04: `exclusiveMinimum: true` says how `minimum` is meant.
fn convert_bounds(dialect: Dialect, schema: &Map<String, Value>, edit: &mut Edit) {
    if dialect != Dialect::Draft4 {
        return;
    }
    for (exclusive, bound) in [("exclusiveMinimum", "minimum"), ("exclusiveMaximum", "maximum")] {
        match schema.get(exclusive) {
            Some(Value::Bool(is_exclusive)) => {
                edit.drop.push(exclusive);
                if *is_exclusive {
                    edit.rename.push((bound.to_owned(), exclusive.to_owned()));
                }
            }
            Some(_) => {
                edit.rename.push((exclusive.to_owned(), unknown_name(exclusive, schema)));
            }
            None => {}
        }
    }
}

fn convert_items(schema: &Map<String, Value>, edit: &mut Edit) {
    let Some(Value::Array(items)) = schema.get("items") else { return };
    if items.is_empty() {
        edit.drop.push("items");
    } else {
        edit.rename.push(("items".to_owned(), "prefixItems".to_owned()));
    }
    edit.rename.push(("additionalItems".to_owned(), "items".to_owned()));
}

/// Whether `value` can be the value of `$defs`.
fn holds_schemas(value: &Value) -> bool {
    let is_schema = |value: &Value| value.is_object() || value.is_boolean();
    value.as_object().is_some_and(|map| map.values().all(is_schema))
}
