//! Converting schemas of older dialects to 2020-12, and back.
//!
//! [`to_2020_12`] converts a schema of draft-04, draft-06, draft-07 or 2019-09. [`convert_tool`] does so for both
//! schemas of a tool, and [`restore_tool`] undoes it. A value is valid under the converted schema, read as 2020-12,
//! exactly when it is valid under the original. A schema that cannot be converted is left as it is, with a finding.
//!
//! | in the original | in the converted schema |
//! | --- | --- |
//! | `$schema` | left out: without it a schema is 2020-12 for MCP, and a draft-07 reader does not mind |
//! | `definitions` | `$defs`, unless both are there |
//! | `items` with a list, `additionalItems` beside it | `prefixItems`, `items` |
//! | `dependencies`, up to draft-07 | `dependentRequired`, `dependentSchemas` |
//! | `exclusiveMinimum: true`, `exclusiveMaximum: true` beside a bound (draft-04) | the bound under that name |
//! | keywords beside `$ref`, up to draft-07 | the name with `x-` before it, so that they stay without effect |
//! | keywords that only a later dialect knows | the same |
//! | `id` at the root (draft-04) | `$id` |
//! | other `id`s and `$id`s, up to draft-07, names such as `$id: "#address"` included | the name with `x-` before it, and references as pointers |
//! | `$recursiveRef`, `$recursiveAnchor` | `$ref` where there is one resource, otherwise `$dynamicRef`, `$dynamicAnchor` |
//! | `contains`, where a schema has `unevaluatedItems` (2019-09) | inside of two `not`, where it evaluates no items |
//!
//! References lead to what they led to, wherever that went. Data in `const`, `enum`, `default` and `examples` stays as
//! it is. Documents that a schema refers to are not converted.
//!
//! `format`, `contentEncoding` and `contentMediaType` are annotations in 2020-12. Draft-04 takes `1.0` for a number that
//! is not an integer; later dialects, and all readers in JavaScript, take it for one.
//!
//! # The marker
//!
//! A converted tool carries a marker in `_meta`, under [`DIALECT_MARKER`]. For each converted schema it has a member,
//! `inputSchema` or `outputSchema`, which is one of
//!
//! - `{"$schema": …, "at": n}`: only `$schema`, which was the member number `n` (0 if absent), was left out;
//! - `{"original": …}`: the schema as it was.
//!
//! A tool that is converted and projected is lifted first, then restored.

pub(crate) mod edits;
mod tool;

use std::borrow::Cow;

use serde_json::Value;
use toolbond_schema::Dialect;

use crate::project::{
    ProjectError, ProjectErrorKind, bounds,
    edit::Rebuilt,
    schema_map::{SchemaMap, Target},
};

pub(crate) use tool::keep_object_type;
pub use tool::{ConvertedTool, DIALECT_MARKER, convert_tool, restore_tool};

/// Converts a schema of an older dialect to 2020-12. See the [module](self).
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
/// use toolbond_contract::to_2020_12;
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
    let rebuilt = edits::plan(&map)?.carry_out(&map)?;
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
