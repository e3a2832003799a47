//! Converting the schemas of a tool, and restoring them.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use toolbond_schema::Dialect;

use super::convert::{oldest, to_2020_12};
use crate::{
    Action, Finding, Pointer, Role, Severity,
    project::{ProjectError, bounds, marker},
    rules::older_dialect::OLDER_DIALECT,
};

/// The key of the marker of a conversion in `_meta`.
pub const DIALECT_MARKER: &str = "dev.toolbond/dialect";

/// A tool whose schemas are 2020-12, as far as they can be converted.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct ConvertedTool<'a> {
    /// The tool, borrowed if nothing had to change.
    pub tool: Cow<'a, Value>,
    /// What was converted, and what could not be. The pointers start at the root of the tool.
    pub findings: Vec<Finding>,
}

/// Converts the input and the output schema of `tool` from an older dialect to 2020-12 ([`to_2020_12`]).
///
/// A converted tool carries a [marker](DIALECT_MARKER). A schema that cannot be converted stays as it is, with a finding
/// of the rule `older-dialect`. The root of an input schema keeps its `type: "object"`, which the protocol requires,
/// even where a `$ref` beside it silences it: arguments are objects.
///
/// ```
/// use serde_json::json;
/// use toolbond_contract::{convert_tool, revert_tool};
///
/// let tool = json!({
///     "name": "read",
///     "inputSchema": { "type": "object", "$schema": "http://json-schema.org/draft-07/schema#" }
/// });
/// let converted = convert_tool(&tool);
/// assert_eq!(converted.tool["inputSchema"], json!({ "type": "object" }));
/// assert_eq!(
///     converted.findings[0].to_string(),
///     "info[older-dialect] read #/inputSchema: expected 2020-12, found draft-07; converted"
/// );
/// assert_eq!(*revert_tool(&converted.tool), tool);
/// ```
pub fn convert_tool(tool: &Value) -> ConvertedTool<'_> {
    let mut findings = Vec::new();
    let mut changed = None;
    if let Value::Object(members) = tool {
        for role in [Role::Input, Role::Output] {
            let Some(schema) = members.get(role.member()) else { continue };
            let before = changed.as_ref().unwrap_or(members);
            match convert(role, schema, before) {
                Ok(None) => {}
                Ok(Some((after, dialect))) => {
                    let message = format!("expected 2020-12, found {dialect}");
                    findings.push(OLDER_DIALECT.finding(message).action(Action::Converted));
                    changed = Some(after);
                }
                Err(error) => findings.push(refusal(&error)),
            }
            if let Some(finding) = findings.last_mut().filter(|finding| finding.side.is_none()) {
                finding.side = Some(role.into());
                finding.pointer = Pointer::root().join(role.member()).concat(&finding.pointer);
            }
        }
        if let Some(name) = members.get("name").and_then(Value::as_str) {
            for finding in &mut findings {
                finding.tool = Some(name.to_owned());
            }
        }
    }
    let tool = changed.map_or(Cow::Borrowed(tool), |members| Cow::Owned(Value::Object(members)));
    ConvertedTool { tool, findings }
}

fn refusal(error: &ProjectError) -> Finding {
    OLDER_DIALECT
        .finding(format!("cannot be converted to 2020-12: {}", error.kind))
        .severity(Severity::Warning)
        .at(error.pointer.clone())
}

/// The members of a converted tool, and the dialect of the schema that was converted.
type Converted = (Map<String, Value>, Dialect);

/// Converts one schema in `members`. Returns `None` if there is nothing to convert.
fn convert(
    role: Role,
    schema: &Value,
    members: &Map<String, Value>,
) -> Result<Option<Converted>, ProjectError> {
    let Cow::Owned(converted) = convert_schema(role, schema)? else { return Ok(None) };
    let mut members = members.clone();
    let mut marker = marker::read(&members, DIALECT_MARKER).cloned().unwrap_or_default();
    let is_new = marker.is_empty() || marker.contains_key(role.member());
    if is_new {
        marker = Map::new();
    }
    marker.insert(role.member().to_owned(), entry(schema, &converted));
    members.insert(role.member().to_owned(), converted);
    if let (false, Some(Value::Object(meta))) = (is_new, members.get_mut("_meta")) {
        meta.insert(DIALECT_MARKER.to_owned(), marker.into());
    } else {
        marker::put(&mut members, DIALECT_MARKER, marker);
    }
    let tool = Value::Object(members);
    bounds::check(&tool, "", bounds::MAX_PROJECTED_DEPTH)?;
    let Value::Object(members) = tool else { return Ok(None) };
    Ok(Some((members, oldest(schema).unwrap_or_default())))
}

fn convert_schema(role: Role, schema: &Value) -> Result<Cow<'_, Value>, ProjectError> {
    let mut converted = to_2020_12(schema)?;
    if let Cow::Owned(converted) = &mut converted {
        keep_object_type(role, schema, converted);
    }
    Ok(converted)
}

/// Gives the root of an input schema its `type: "object"` back.
pub(crate) fn keep_object_type(role: Role, original: &Value, converted: &mut Value) {
    if role == Role::Input
        && original.get("type").is_some_and(|name| name == "object")
        && let Value::Object(root) = converted
        && !root.contains_key("type")
    {
        root.shift_insert(0, "type".to_owned(), "object".into());
    }
}

/// What the marker says about a schema.
fn entry(original: &Value, converted: &Value) -> Value {
    let at = original.as_object().and_then(|map| map.keys().position(|key| key == "$schema"));
    if let (Some(at), Some(uri)) = (at, original.get("$schema")) {
        let mut entry = json!({ "$schema": uri });
        if at > 0 {
            entry["at"] = at.into();
        }
        if restored(&entry, converted).is_some_and(|restored| is_same(&restored, original)) {
            return entry;
        }
    }
    json!({ "original": original })
}

/// The schema that `entry` says `converted` was.
fn restored(entry: &Value, converted: &Value) -> Option<Value> {
    if let Some(original) = entry.get("original") {
        return Some(original.clone());
    }
    let uri = entry.get("$schema")?;
    let at = entry.get("at").map_or(Some(0), |at| usize::try_from(at.as_u64()?).ok())?;
    let mut schema = converted.as_object()?.clone();
    if schema.contains_key("$schema") {
        return None;
    }
    schema.shift_insert(at.min(schema.len()), "$schema".to_owned(), uri.clone());
    Some(Value::Object(schema))
}

/// Undoes [`convert_tool`], to the order of members.
///
/// Returns `tool` itself if it carries no marker, or if converting what the marker restores does not give this tool.
#[must_use]
pub fn revert_tool(tool: &Value) -> Cow<'_, Value> {
    try_restore(tool).map_or(Cow::Borrowed(tool), Cow::Owned)
}

fn try_restore(tool: &Value) -> Option<Value> {
    bounds::check(tool, "", bounds::MAX_READ_DEPTH).ok()?;
    let members = tool.as_object()?;
    let marker = marker::read(members, DIALECT_MARKER)?;
    let mut restored_tool = members.clone();
    for role in [Role::Input, Role::Output] {
        let Some(entry) = marker.get(role.member()) else { continue };
        let original = restored(entry, members.get(role.member())?)?;
        restored_tool.insert(role.member().to_owned(), original);
    }
    marker::take(&mut restored_tool, DIALECT_MARKER);
    let restored_tool = Value::Object(restored_tool);
    is_same(&convert_tool(&restored_tool).tool, tool).then_some(restored_tool)
}

/// Whether two values are the same, with members in the same order.
fn is_same(one: &Value, other: &Value) -> bool {
    let [one, other] = [one, other].map(ToString::to_string);
    one == other
}
