//! Converting one schema.

use std::borrow::Cow;

use serde_json::Value;
use toolbond_schema::Dialect;

use crate::project::{
    ProjectError, ProjectErrorKind, bounds,
    edit::Rebuilt,
    schema_map::{SchemaMap, Target},
};

/// Converts a schema of an older dialect to 2020-12. See the [module](super).
///
/// Returns the schema itself if it is 2020-12 already, as it is without `$schema`.
///
/// # Errors
///
/// Fails if the schema names an unknown dialect, exceeds a limit, or cannot be converted without changing its meaning
/// ([`ProjectErrorKind`]).
///
/// ```
/// use serde_json::json;
/// use toolbond_contract::dialect::to_2020_12;
///
/// let schema = json!({
///     "$schema": "http://json-schema.org/draft-07/schema#",
///     "items": [{ "$ref": "#/definitions/name" }],
///     "additionalItems": false,
///     "definitions": { "name": { "type": "string" } }
/// });
/// assert_eq!(
///     *to_2020_12(&schema)?,
///     json!({
///         "prefixItems": [{ "$ref": "#/$defs/name" }],
///         "items": false,
///         "$defs": { "name": { "type": "string" } }
///     })
/// );
/// # Ok::<(), toolbond_contract::ProjectError>(())
/// ```
pub fn to_2020_12(schema: &Value) -> Result<Cow<'_, Value>, ProjectError> {
    if !declares_other(schema) {
        return Ok(Cow::Borrowed(schema));
    }
    bounds::check(schema, "", bounds::MAX_DEPTH)?;
    bounds::check_pointers(schema, "")?;
    let map = SchemaMap::build_with_defs(schema)?;
    if map.places.iter().all(|place| place.dialect == Dialect::Draft202012) {
        return Ok(Cow::Borrowed(schema));
    }
    let rebuilt = super::edits::plan(&map)?.carry_out(&map)?;
    check_references(&map, &rebuilt, false)?;
    Ok(Cow::Owned(rebuilt.schema))
}

/// The dialect of `schema`, and the oldest of the schemas inside that name one.
pub(crate) fn oldest(schema: &Value) -> Option<Dialect> {
    let map = SchemaMap::build_with_defs(schema).ok()?;
    map.places.iter().map(|place| place.dialect).min()
}

/// Whether the root, or anything inside, names another dialect than 2020-12. What is inside may be data.
fn declares_other(schema: &Value) -> bool {
    let mut stack = vec![schema];
    while let Some(value) = stack.pop() {
        if let Some(uri) = value.get("$schema").and_then(Value::as_str) {
            let dialect = Dialect::from_uri(uri);
            let is_root = std::ptr::eq(value, schema);
            if dialect.map_or(is_root, |dialect| dialect < Dialect::Draft202012) {
                return true;
            }
        }
        match value {
            Value::Array(list) => stack.extend(list),
            Value::Object(map) => stack.extend(map.values()),
            _ => {}
        }
    }
    false
}

/// Fails if a reference does not lead to where its target went. If `is_flat`, every reference is a `$ref` now.
pub(crate) fn check_references(
    before: &SchemaMap<'_>,
    rebuilt: &Rebuilt,
    is_flat: bool,
) -> Result<(), ProjectError> {
    if before.links.is_empty() {
        return Ok(());
    }
    let after = SchemaMap::build(&rebuilt.schema)?;
    for link in before.links.iter().filter(|link| is_flat || link.keyword != "$recursiveRef") {
        // What no keyword of the dialect holds applies to nothing.
        let Some(holder) = after.place_at(&rebuilt.keywords[link.holder]) else { continue };
        let keyword = if is_flat { "$ref" } else { link.keyword };
        let expected = link.target.map(|target| rebuilt.places[target.place].as_str());
        let leads_there = |target: Option<Target>| {
            target.map(|target| after.places[target.place].pointer.as_str()) == expected
        };
        // A reference that became a second `$ref` is in `allOf`.
        let inner =
            after.places[holder].children.iter().filter(|(it, _)| is_flat && *it == "allOf");
        let holders = std::iter::once(holder).chain(inner.map(|(_, child)| *child));
        let mut links = holders.flat_map(|holder| after.links_of(holder));
        if !links.any(|it| it.keyword == keyword && leads_there(it.target)) {
            let kind = ProjectErrorKind::LostReference { reference: link.text.to_owned() };
            let pointer = format!("{}/{}", before.places[link.holder].pointer, link.keyword);
            return Err(ProjectError::new(pointer.as_str(), kind));
        }
    }
    Ok(())
}
