//! Handing out a tool whose output schema is relaxed, or says nothing of formats.

use std::borrow::Cow;
use std::collections::BTreeSet;

use serde_json::{Map, Value, json};
use toolbond_schema::Pointer;

use super::polarity::{Edge, Graph};
use super::relaxation::{Relaxation, map};
use super::step::{Loosening, Step};
use crate::project::{marker, schema_map::SchemaMap};

/// The key of the marker in `_meta` of a tool whose output schema is not its author's.
///
/// Its value is an object: `relaxed` is `true` if the schema was relaxed, or `"dropped"` if there is none any more;
/// `formats` has the names of the formats that were left out.
pub const OUTPUT_MARKER: &str = "dev.toolbond/output";

const OUTPUT: &str = "outputSchema";

/// Returns `tool`, in its natural shape, with the output schema that `relaxation` makes of its own, or without one if
/// `relaxation` is `None` or does not fit. Marks it ([`OUTPUT_MARKER`]).
///
/// ```
/// use serde_json::json;
/// use toolbond_contract::relax::relax_tool;
///
/// let tool = json!({ "name": "count", "inputSchema": { "type": "object" }, "outputSchema": false });
/// assert_eq!(
///     *relax_tool(&tool, None),
///     json!({
///         "name": "count",
///         "inputSchema": { "type": "object" },
///         "_meta": { "dev.toolbond/output": { "relaxed": "dropped" } }
///     })
/// );
/// ```
#[must_use]
pub fn relax_tool<'a>(tool: &'a Value, relaxation: Option<&Relaxation>) -> Cow<'a, Value> {
    let Some((members, schema)) = tool.as_object().and_then(|it| Some((it, it.get(OUTPUT)?)))
    else {
        return Cow::Borrowed(tool);
    };
    if relaxation.is_some_and(Relaxation::is_empty) {
        return Cow::Borrowed(tool);
    }
    let mut members = members.clone();
    let relaxed = relaxation.and_then(|relaxation| relaxation.apply(schema));
    let mark = match relaxed {
        Some(relaxed) => {
            members.insert(OUTPUT.to_owned(), relaxed);
            json!(true)
        }
        None => {
            members.shift_remove(OUTPUT);
            json!("dropped")
        }
    };
    put(&mut members, "relaxed", mark);
    Cow::Owned(members.into())
}

/// The formats that `ajv-formats` asserts. `password` and `binary` accept every string.
const ASSERTED: [&str; 24] = [
    "byte",
    "date",
    "date-time",
    "double",
    "duration",
    "email",
    "float",
    "hostname",
    "int32",
    "int64",
    "ipv4",
    "ipv6",
    "iso-date-time",
    "iso-time",
    "json-pointer",
    "json-pointer-uri-fragment",
    "regex",
    "relative-json-pointer",
    "time",
    "uri",
    "uri-reference",
    "uri-template",
    "url",
    "uuid",
];

/// Keywords of Ajv's own that compare with a `format` and fail without it.
const BESIDE_FORMAT: [&str; 4] =
    ["formatExclusiveMaximum", "formatExclusiveMinimum", "formatMaximum", "formatMinimum"];

/// Returns `tool` with an output schema that says nothing of the formats that `ajv-formats` asserts. By the specification
/// `format` is an annotation, so that such clients refuse what the schema accepts. Marks it ([`OUTPUT_MARKER`]).
///
/// Where formats tell the alternatives of a `oneOf` apart for such clients, it becomes `anyOf`. Below `not`, `if` and other
/// keywords that refuse what is below them, formats stay: without them the schema would accept less.
///
/// ```
/// use serde_json::json;
/// use toolbond_contract::relax::without_formats;
///
/// let schema = json!({ "properties": { "format": { "type": "string", "format": "date-time" } } });
/// let tool = json!({ "name": "now", "inputSchema": {}, "outputSchema": schema });
/// assert_eq!(
///     *without_formats(&tool),
///     json!({
///         "name": "now",
///         "inputSchema": {},
///         "outputSchema": { "properties": { "format": { "type": "string" } } },
///         "_meta": { "dev.toolbond/output": { "formats": ["date-time"] } }
///     })
/// );
/// ```
#[must_use]
pub fn without_formats(tool: &Value) -> Cow<'_, Value> {
    strip(tool).map_or(Cow::Borrowed(tool), Cow::Owned)
}

/// What changes each `oneOf` of an output schema that holds formats that `ajv-formats` asserts into `anyOf`, as far as the
/// schema then accepts no less; `None` where there is none.
#[must_use]
pub fn open_choices(schema: &Value) -> Option<Relaxation> {
    let map = map(schema)?;
    let formats: Vec<_> = asserted(&map).map(|(at, _)| at).collect();
    if formats.is_empty() {
        return None;
    }
    let graph = Graph::new(&map);
    let is_choice = |edge: &Edge| edge.inverting == Some("oneOf");
    let can_open = |edge: &Edge| map.places[edge.holder].schema.get("anyOf").is_none();
    let fixed = graph.inverted(&graph.inverting(|edge| is_choice(edge) && can_open(edge)));
    let mut steps = Vec::new();
    for edge in graph.inverting(|edge| !is_choice(edge) || !can_open(edge)) {
        let below = graph.inverted(&[edge]);
        let at = Pointer::from(map.places[edge.holder].pointer.as_str());
        let step = Step { at, change: Loosening::AnyOf };
        if !fixed.contains(&edge.holder)
            && formats.iter().any(|format| below.contains(format))
            && !steps.contains(&step)
        {
            steps.push(step);
        }
    }
    let choices = Relaxation { steps };
    (!choices.is_empty() && choices.apply(schema).is_some()).then_some(choices)
}

/// The schemas with a format that `ajv-formats` asserts, by their place.
fn asserted<'m>(map: &'m SchemaMap<'_>) -> impl Iterator<Item = (usize, &'m str)> {
    map.places.iter().enumerate().filter(|(_, place)| !place.in_data).filter_map(|(at, place)| {
        let format = place.schema.get("format")?.as_str()?;
        ASSERTED.contains(&format).then_some((at, format))
    })
}

fn strip(tool: &Value) -> Option<Value> {
    let author = tool.get(OUTPUT)?;
    let open = open_choices(author).and_then(|choices| choices.apply(author));
    let schema = open.as_ref().unwrap_or(author);
    let map = map(schema)?;
    let graph = Graph::new(&map);
    let inverted = graph.inverted(&graph.inverting(|_| false));
    let mut stripped = schema.clone();
    let mut found = BTreeSet::new();
    for (at, format) in asserted(&map).filter(|(at, _)| !inverted.contains(at)) {
        let place = &map.places[at];
        let here = stripped.pointer_mut(&place.pointer)?.as_object_mut()?;
        here.shift_remove("format");
        for keyword in BESIDE_FORMAT {
            here.shift_remove(keyword);
        }
        found.insert(format.to_owned());
    }
    if found.is_empty() {
        return None;
    }
    let mut members = tool.as_object()?.clone();
    members.insert(OUTPUT.to_owned(), stripped);
    put(&mut members, "formats", found.into_iter().collect());
    Some(members.into())
}

/// Adds a member to the marker.
fn put(tool: &mut Map<String, Value>, member: &str, value: Value) {
    if let Some(Value::Object(marker)) =
        tool.get_mut("_meta").and_then(|meta| meta.get_mut(OUTPUT_MARKER))
    {
        marker.insert(member.to_owned(), value);
        return;
    }
    let marker = Map::from_iter([(member.to_owned(), value)]);
    marker::put(tool, OUTPUT_MARKER, marker);
}
