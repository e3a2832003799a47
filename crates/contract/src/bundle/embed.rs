//! Writing the bundle.

use serde_json::{Map, Value, json};
use toolbond_schema::Dialect;

use crate::json_type::kind;
use crate::keyword::{silenced_by_ref, unknown_name};
use crate::project::ProjectErrorKind;

use super::error::{BundleError, BundleErrorKind};
use super::name::Names;
use super::search::Search;
use super::unit::Unit;

/// A schema with the documents that it refers to.
pub(super) struct Bundle {
    pub(super) schema: Value,
    /// Where each unit went, by its number.
    pub(super) prefixes: Vec<String>,
    /// Where the `$ref` at the top of each unit went.
    pub(super) top_refs: Vec<String>,
}

/// Embeds the documents that the schema leads to.
pub(super) fn embed(search: &Search<'_>) -> Result<Bundle, BundleError> {
    let mut values = rewritten(search);
    let mut prefixes = vec![String::new(); search.units.len()];
    let mut top_refs = prefixes.clone();
    let mut schema = values[0].take();
    let keyword =
        if search.units[0].dialect() <= Dialect::Draft7 { "definitions" } else { "$defs" };
    if let (Value::Object(root), true) = (&mut schema, search.reached.len() > 1) {
        let definitions = root.entry(keyword).or_insert_with(|| json!({}));
        let Value::Object(definitions) = definitions else {
            let found = kind(definitions);
            let kind = BundleErrorKind::Unreadable(ProjectErrorKind::NotAnObject { found });
            return Err(BundleError::new(None, format!("/{keyword}").as_str(), kind));
        };
        // A reference that leads nowhere must not lead to a document.
        let meant = search.units[0].map.links.iter().filter_map(|link| {
            let (_, rest) = link.text.split_once(&format!("#/{keyword}/"))?;
            Some(rest.split('/').next().unwrap_or(rest).to_owned())
        });
        let mut names = Names::new(definitions.keys().cloned().chain(meant));
        for &at in &search.reached[1..] {
            let unit = &search.units[at];
            let mut document = object(unit, values[at].take())?;
            top_refs[at] = settle_reference(unit, &mut document);
            name(unit, &mut document);
            let name = names.name(unit.identity());
            prefixes[at] = format!("/{keyword}/{name}");
            definitions.insert(name, document.into());
        }
    }
    Ok(Bundle { schema, prefixes, top_refs })
}

/// The units of the bundle with their references as they have to be written.
fn rewritten(search: &Search<'_>) -> Vec<Value> {
    let is_reached = |unit: &Unit<'_>| unit.is_reached;
    let units = search.units.iter();
    let mut values: Vec<_> =
        units.map(|unit| if is_reached(unit) { unit.value.clone() } else { Value::Null }).collect();
    for followed in &search.followed {
        let Some(text) = &followed.text else { continue };
        let map = &search.units[followed.from].map;
        let link = &map.links[followed.link];
        let holder = values[followed.from].pointer_mut(&map.places[link.holder].pointer);
        if let Some(holder) = holder.and_then(Value::as_object_mut) {
            holder.insert(link.keyword.to_owned(), text.as_str().into());
        }
    }
    values
}

/// A document as an object.
fn object(unit: &Unit<'_>, value: Value) -> Result<Map<String, Value>, BundleError> {
    match value {
        Value::Object(object) => Ok(object),
        Value::Bool(true) => Ok(Map::new()),
        Value::Bool(false) => Ok(Map::from_iter([("not".to_owned(), json!({}))])),
        other => {
            let found = kind(&other);
            let kind = BundleErrorKind::Unreadable(ProjectErrorKind::NotASchema { found });
            Err(BundleError::new(unit.uri.as_deref(), "", kind))
        }
    }
}

/// Moves the `$ref` at the top into `allOf`, and returns the pointer of the schema around it.
fn settle_reference(unit: &Unit<'_>, document: &mut Map<String, Value>) -> String {
    if !document.get("$ref").is_some_and(Value::is_string) {
        return String::new();
    }
    if unit.is_silenced() {
        let silent: Vec<_> = document.keys().filter(|key| is_silent(key)).cloned().collect();
        for keyword in silent {
            let name = unknown_name(&keyword, document);
            rename(document, &keyword, name);
        }
    }
    if document.get("allOf").is_some_and(|list| !list.is_array()) {
        return String::new();
    }
    let reference = document.shift_remove("$ref");
    match document.entry("allOf").or_insert_with(|| json!([])) {
        Value::Array(list) => {
            list.push(json!({ "$ref": reference }));
            format!("/allOf/{}", list.len() - 1)
        }
        _ => String::new(),
    }
}

/// Whether a keyword beside `$ref` must not have an effect.
pub(super) fn is_silent(keyword: &str) -> bool {
    silenced_by_ref().any(|silenced| silenced == keyword)
}

/// Gives a document its URI.
fn name(unit: &Unit<'_>, document: &mut Map<String, Value>) {
    let keyword = if unit.dialect() == Dialect::Draft4 { "id" } else { "$id" };
    let at = usize::from(document.keys().next().is_some_and(|key| key == "$schema"));
    match document.get_mut(keyword) {
        Some(id) => *id = unit.identity().into(),
        None => {
            document.shift_insert(at, keyword.to_owned(), unit.identity().into());
        }
    }
}

fn rename(map: &mut Map<String, Value>, from: &str, to: String) {
    if let Some(at) = map.keys().position(|key| key == from)
        && let Some(value) = map.shift_remove(from)
    {
        map.shift_insert(at, to, value);
    }
}
