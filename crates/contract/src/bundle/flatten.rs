//! The flat form of a bundle: no `$id` inside, and every reference a pointer from the root.

use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet};

use serde_json::Value;
use toolbond_schema::{Dialect, Pointer};

use crate::Role;
use crate::dialect::{check_references, edits::add_edits, keep_object_type};
use crate::project::edit::Plan;
use crate::project::schema_map::{Keywords, Link, Place, Reading, SchemaMap, Target};
use crate::project::{ProjectError, ProjectErrorKind, bounds, uri};

/// A tool whose schemas are flat, as far as they can be.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct FlatTool<'a> {
    /// The tool, borrowed if nothing had to change.
    pub tool: Cow<'a, Value>,
    /// Why schemas stay as they are. The pointers start at the root of the tool.
    pub errors: Vec<ProjectError>,
}

/// Flattens the schemas of `tool` ([`flatten`]). A schema that has no flat form stays as it is.
///
/// The root of an input schema keeps its `type: "object"`, as in [`convert_tool`](crate::convert_tool).
pub fn flatten_tool(tool: &Value) -> FlatTool<'_> {
    let mut flat = FlatTool { tool: Cow::Borrowed(tool), errors: Vec::new() };
    for role in [Role::Input, Role::Output] {
        let Some(schema) = tool.get(role.member()) else { continue };
        match flatten(schema) {
            Ok(Cow::Borrowed(_)) => {}
            Ok(Cow::Owned(mut flattened)) => {
                keep_object_type(role, schema, &mut flattened);
                flat.tool.to_mut()[role.member()] = flattened;
            }
            Err(error) => {
                let pointer = Pointer::root().join(role.member()).concat(&error.pointer);
                flat.errors.push(ProjectError::new(pointer, error.kind));
            }
        }
    }
    flat
}

/// Returns a schema that means the same as `schema`, without an `$id` inside of it and with every reference as a pointer
/// from the root. Model APIs and hosts that know `$ref` read this form, and few of them read another.
///
/// Returns `schema` itself if it has no `$id` inside. Names (`$id`, `$anchor`, `$dynamicAnchor`) and the `$schema` of
/// embedded schemas go; the root keeps its `$id`. If schemas of several dialects are in it, all become 2020-12, as in
/// [`to_2020_12`](crate::dialect::to_2020_12).
///
/// # Errors
///
/// Fails if a `$dynamicRef` or `$recursiveRef` may lead to several places, if the schema refers to something outside
/// itself, if it has several dialects and cannot be converted, and if a limit is exceeded ([`ProjectErrorKind`]).
///
/// ```
/// use serde_json::json;
/// use toolbond_contract::bundle::flatten;
///
/// let bundle = json!({
///     "properties": { "to": { "$ref": "https://example.com/address.json" } },
///     "$defs": { "address": { "$id": "https://example.com/address.json", "required": ["city"] } }
/// });
/// assert_eq!(
///     *flatten(&bundle)?,
///     json!({
///         "properties": { "to": { "$ref": "#/$defs/address" } },
///         "$defs": { "address": { "required": ["city"] } }
///     })
/// );
/// # Ok::<(), toolbond_contract::ProjectError>(())
/// ```
pub fn flatten(schema: &Value) -> Result<Cow<'_, Value>, ProjectError> {
    if !may_have_inner_ids(schema) {
        return Ok(Cow::Borrowed(schema));
    }
    bounds::check(schema, "", bounds::MAX_DEPTH)?;
    bounds::check_pointers(schema, "")?;
    let reading = Reading { keywords: Keywords::AnyDialect, ..Reading::default() };
    let mut map = SchemaMap::build_as(schema, reading)?;
    let Some(inner) = map.places.iter().skip(1).find(|place| has_id(place)) else {
        return Ok(Cow::Borrowed(schema));
    };
    if map.tangled {
        let pointer = inner.pointer.as_str();
        return Err(ProjectError::new(pointer, ProjectErrorKind::DataAsSchema));
    }
    check_dialects(&map)?;
    let mut plan = Plan { plain: true, static_recursion: true, ..Plan::default() };
    let dialect = map.places[0].dialect;
    if map.places.iter().any(|place| place.dialect != dialect) {
        add_edits(&map, &mut plan)?;
    }
    drop_names(&map, &mut plan);
    settle_references(&mut map)?;
    let rebuilt = plan.carry_out(&map)?;
    check_references(&map, &rebuilt, plan.plain)?;
    Ok(Cow::Owned(rebuilt.schema))
}

/// Whether anything inside looks like a schema with an `$id`. What is found may be data.
fn may_have_inner_ids(schema: &Value) -> bool {
    let mut stack = vec![schema];
    while let Some(value) = stack.pop() {
        match value {
            Value::Array(list) => stack.extend(list),
            Value::Object(map) => {
                let has_id =
                    ["$id", "id"].iter().any(|key| map.get(*key).is_some_and(Value::is_string));
                if has_id && !std::ptr::eq(value, schema) {
                    return true;
                }
                stack.extend(map.values());
            }
            _ => {}
        }
    }
    false
}

fn has_id(place: &Place<'_>) -> bool {
    let keyword = if place.dialect == Dialect::Draft4 { "id" } else { "$id" };
    place.schema.get(keyword).is_some_and(Value::is_string)
}

/// Refuses a schema that names another dialect than the one around it, and has no `$id`.
fn check_dialects(map: &SchemaMap<'_>) -> Result<(), ProjectError> {
    for place in &map.places {
        for &(_, child) in &place.children {
            let child = &map.places[child];
            if child.dialect != place.dialect && !has_id(child) {
                let pointer = format!("{}/$schema", child.pointer);
                return Err(ProjectError::new(pointer.as_str(), ProjectErrorKind::NestedDialect));
            }
        }
    }
    Ok(())
}

/// Leaves out what schemas are known by, and references that their dialect does not know.
fn drop_names(map: &SchemaMap<'_>, plan: &mut Plan) {
    for (at, place) in map.places.iter().enumerate() {
        let Value::Object(schema) = place.schema else { continue };
        let mut names = vec!["$anchor", "$dynamicAnchor", "$recursiveAnchor"];
        if at > 0 {
            names.extend(["$id", "$schema", "$vocabulary"]);
        }
        if at > 0 && place.dialect == Dialect::Draft4 {
            names.push("id");
        }
        let references = ["$dynamicRef", "$recursiveRef"];
        names.extend(references.iter().filter(|keyword| !is_known(keyword, place.dialect)));
        names.retain(|keyword| schema.contains_key(*keyword));
        if !names.is_empty() {
            plan.edits.entry(at).or_default().drop.extend(names);
        }
    }
}

/// Whether `keyword` is a reference in `dialect`.
fn is_known(keyword: &str, dialect: Dialect) -> bool {
    match keyword {
        "$dynamicRef" => dialect == Dialect::Draft202012,
        "$recursiveRef" => dialect == Dialect::Draft201909,
        _ => true,
    }
}

/// Finds what references lead to, whatever the way to them.
fn settle_references(map: &mut SchemaMap<'_>) -> Result<(), ProjectError> {
    let places = &map.places;
    map.links.retain(|link| is_known(link.keyword, places[link.holder].dialect));
    let mut known = BTreeMap::new();
    let mut targets = Vec::with_capacity(map.links.len());
    for link in &map.links {
        let fail = |kind| {
            let pointer = format!("{}/{}", map.places[link.holder].pointer, link.keyword);
            ProjectError::new(pointer.as_str(), kind)
        };
        let Some(mut target) = link.target else {
            let reference = link.text.to_owned();
            return Err(fail(ProjectErrorKind::LostReference { reference }));
        };
        if let Some(anchor) = dynamic_anchor(map, link, target) {
            let outermost = *known.entry(anchor).or_insert_with(|| outermost(map, anchor));
            let keyword = link.keyword;
            target.place =
                outermost.ok_or_else(|| fail(ProjectErrorKind::DynamicReference { keyword }))?;
        }
        targets.push(target);
    }
    for (link, target) in map.links.iter_mut().zip(targets) {
        link.target = Some(target);
    }
    Ok(())
}

/// What a reference is looked for by, from the outermost resource on.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Anchor<'a> {
    /// `$dynamicAnchor`.
    Named(&'a str),
    /// `$recursiveAnchor: true`.
    Recursive,
}

/// The anchor of a reference that depends on the way to it.
fn dynamic_anchor<'a>(map: &SchemaMap<'a>, link: &Link<'a>, target: Target) -> Option<Anchor<'a>> {
    let anchor = match link.keyword {
        "$dynamicRef" if target.by_name => {
            let name = map.places[target.place].schema.get("$dynamicAnchor")?.as_str()?;
            let fragment = uri::decode(uri::split(link.text).1)?;
            if fragment != name {
                return None;
            }
            Anchor::Named(name)
        }
        "$recursiveRef" => Anchor::Recursive,
        _ => return None,
    };
    has_anchor(&map.places[target.place], anchor).then_some(anchor)
}

fn has_anchor(place: &Place<'_>, anchor: Anchor<'_>) -> bool {
    match anchor {
        Anchor::Named(name) => {
            place.dialect == Dialect::Draft202012
                && place.schema.get("$dynamicAnchor").is_some_and(|it| it == name)
        }
        Anchor::Recursive => {
            place.dialect == Dialect::Draft201909
                && place.schema.get("$recursiveAnchor") == Some(&Value::Bool(true))
        }
    }
}

/// Returns the place of `anchor` in the outermost resource that has it, if that is the same on every way from the root.
fn outermost(map: &SchemaMap<'_>, anchor: Anchor<'_>) -> Option<usize> {
    let places = map.places.iter().enumerate();
    let mut holders: BTreeMap<usize, usize> = BTreeMap::new();
    for (at, place) in places.filter(|(_, place)| has_anchor(place, anchor)) {
        holders.entry(place.resource).or_insert(at);
    }
    if holders.len() == 1 {
        return holders.into_values().next();
    }
    // Readers differ about resources without the anchor between those that have it.
    if anchor == Anchor::Recursive {
        return None;
    }
    let mut found = BTreeSet::new();
    let mut seen = vec![false; map.places.len()];
    let mut stack = vec![0];
    while let Some(at) = stack.pop() {
        if std::mem::replace(&mut seen[at], true) {
            continue;
        }
        let place = &map.places[at];
        if let Some(holder) = holders.get(&place.resource) {
            found.insert(*holder);
            continue;
        }
        // Definitions apply where something refers to them, and so does what is under an unknown keyword.
        let applied =
            place.children.iter().filter(|(it, _)| !matches!(*it, "$defs" | "definitions" | ""));
        stack.extend(applied.map(|(_, child)| *child));
        stack.extend(map.links_of(at).filter_map(|link| Some(link.target?.place)));
    }
    (found.len() == 1).then(|| found.pop_first()).flatten()
}
