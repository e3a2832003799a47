//! Projecting and lifting tools.

use std::borrow::Cow;

use serde_json::{Map, Value};
use toolbond_schema::Pointer;

use super::bounds;
use super::envelope;
use super::error::{ProjectError, ProjectErrorKind};
use super::form::Form;
use super::marker::{self, MARKER};
use super::projection::{Projection, Unmarked};
use crate::Revision;
use crate::json_type::kind;

const OUTPUT: &str = "outputSchema";

/// A tool in the shape that a revision can carry, or in its natural shape.
#[derive(Clone, Debug, PartialEq)]
#[must_use]
#[non_exhaustive]
pub struct Shaped<'a> {
    /// The tool, borrowed if nothing had to change.
    pub tool: Cow<'a, Value>,
    /// The form of its output.
    pub form: Form,
}

impl<'a> Shaped<'a> {
    /// Combines a tool with the form of its output.
    pub const fn new(tool: Cow<'a, Value>, form: Form) -> Self {
        Self { tool, form }
    }
}

/// Gives `tool` the shape that the revision `to` can carry. See [`Projection::project_tool`].
pub fn project_tool<'a>(tool: &'a Value, to: &Revision) -> Result<Shaped<'a>, ProjectError> {
    Projection::default().project_tool(tool, to)
}

/// Gives `tool`, received over the revision `from`, its natural shape. See [`Projection::lift_tool`].
pub fn lift_tool<'a>(tool: &'a Value, from: &Revision) -> Result<Shaped<'a>, ProjectError> {
    Projection::default().lift_tool(tool, from)
}

impl Projection {
    /// Gives `tool`, in its natural shape, the shape that the revision `to` can carry.
    ///
    /// Toward a natural revision nothing changes. Toward a legacy one, an output schema without the root type
    /// `"object"` gets that type if only objects satisfy it, and else goes into the envelope. Keywords that a draft-07
    /// reader would misread are rewritten. A changed tool carries a [marker](super::MARKER), and projecting it again
    /// changes nothing.
    ///
    /// # Errors
    ///
    /// Fails if `tool` is not an object, or if its output schema is not a schema, exceeds a limit
    /// ([`ProjectErrorKind`]), has an unknown dialect, or refers to data as a schema.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolbond_contract::{Form, Revision, project_tool};
    ///
    /// let tool = json!({
    ///     "name": "count",
    ///     "inputSchema": { "type": "object" },
    ///     "outputSchema": { "type": "array", "items": { "$ref": "#/$defs/n" }, "$defs": { "n": {} } }
    /// });
    /// let projected = project_tool(&tool, &Revision::V2025_11_25)?;
    /// assert_eq!(projected.form, Form::Envelope);
    /// assert_eq!(
    ///     projected.tool["outputSchema"]["properties"]["result"]["items"],
    ///     json!({ "$ref": "#/properties/result/$defs/n" })
    /// );
    /// # Ok::<(), toolbond_contract::ProjectError>(())
    /// ```
    pub fn project_tool<'a>(
        &self,
        tool: &'a Value,
        to: &Revision,
    ) -> Result<Shaped<'a>, ProjectError> {
        let members = members(tool)?;
        let same = |form| Ok(Shaped { tool: Cow::Borrowed(tool), form });
        let Some(schema) = members.get(OUTPUT) else { return same(Form::Undeclared) };
        if to.is_natural() {
            return same(Form::Natural);
        }
        bounds::check(tool, "", bounds::MAX_READ_DEPTH)?;
        if let Some((form, _)) = marked(members) {
            return same(form);
        }
        let root = Pointer::from("/outputSchema");
        if !schema.is_object() && !schema.is_boolean() {
            let found = kind(schema);
            return Err(ProjectError::new(root, ProjectErrorKind::NotASchema { found }));
        }
        bounds::check(schema, "/outputSchema", bounds::MAX_DEPTH)?;
        bounds::check_pointers(schema, "/outputSchema")?;
        let (projected, form) = match envelope::project_schema(schema, *self) {
            Ok(projected) => projected,
            // An object is an object in every dialect.
            Err(ProjectError { kind: ProjectErrorKind::UnsupportedDialect { .. }, .. })
                if schema.get("type").is_some_and(|name| name == "object") =>
            {
                return same(Form::Natural);
            }
            Err(error) => {
                return Err(ProjectError::new(root.concat(&error.pointer), error.kind));
            }
        };
        if is_same(&projected, schema) {
            return same(form);
        }
        let marker = tool_marker(schema, &projected, form);
        let mut members = members.clone();
        members.insert(OUTPUT.to_owned(), projected);
        marker::put(&mut members, MARKER, marker);
        let tool = Value::Object(members);
        bounds::check(&tool, "", bounds::MAX_PROJECTED_DEPTH)?;
        Ok(Shaped { tool: Cow::Owned(tool), form })
    }

    /// Gives `tool`, received over the revision `from`, its natural shape.
    ///
    /// Undoes [`project_tool`](Self::project_tool) exactly, with the help of the marker. Removes an envelope that
    /// `FastMCP` marked in any revision. [`Unmarked`] decides about envelopes without a marker, as the TypeScript, C#
    /// and Python SDKs write them. Never removes an envelope around an object: no SDK writes one, so its author did.
    ///
    /// # Errors
    ///
    /// Fails if `tool` is not an object, or if it is nested more than 768 levels deep.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolbond_contract::{Form, Revision, lift_tool};
    ///
    /// let tool = json!({
    ///     "name": "count",
    ///     "inputSchema": { "type": "object" },
    ///     "outputSchema": {
    ///         "type": "object",
    ///         "properties": { "result": { "type": "integer" } },
    ///         "required": ["result"]
    ///     }
    /// });
    /// let lifted = lift_tool(&tool, &Revision::V2025_11_25)?;
    /// assert_eq!(lifted.form, Form::Envelope);
    /// assert_eq!(lifted.tool["outputSchema"], json!({ "type": "integer" }));
    /// assert_eq!(lift_tool(&tool, &Revision::V2026_07_28)?.form, Form::Natural);
    /// # Ok::<(), toolbond_contract::ProjectError>(())
    /// ```
    pub fn lift_tool<'a>(
        &self,
        tool: &'a Value,
        from: &Revision,
    ) -> Result<Shaped<'a>, ProjectError> {
        let members = members(tool)?;
        let same = |form| Ok(Shaped { tool: Cow::Borrowed(tool), form });
        let Some(schema) = members.get(OUTPUT) else { return same(Form::Undeclared) };
        bounds::check(tool, "", bounds::MAX_READ_DEPTH)?;
        if let Some((form, natural)) = marked(members) {
            let mut members = members.clone();
            members.insert(OUTPUT.to_owned(), natural);
            marker::take(&mut members, MARKER);
            return Ok(Shaped { tool: Cow::Owned(Value::Object(members)), form });
        }
        let by_fastmcp = schema.get("x-fastmcp-wrap-result") == Some(&Value::Bool(true));
        if !envelope::is_envelope(schema)
            || !(by_fastmcp || self.lifts_unmarked(members, schema, from))
        {
            return same(Form::Natural);
        }
        let Some(natural) = envelope::open(schema, 0) else { return same(Form::Natural) };
        let mut members = members.clone();
        members.insert(OUTPUT.to_owned(), natural);
        Ok(Shaped { tool: Cow::Owned(Value::Object(members)), form: Form::Envelope })
    }

    fn lifts_unmarked(self, tool: &Map<String, Value>, schema: &Value, from: &Revision) -> bool {
        let wanted = match self.unmarked {
            Unmarked::Kept => false,
            Unmarked::Lifted => true,
            Unmarked::ByRevision => !from.is_natural(),
            Unmarked::Recognised => !from.is_natural() || is_pythons(tool, schema),
        };
        // No SDK puts an object into an envelope: the author wrote this one.
        let inside = &schema["properties"]["result"];
        wanted && inside.get("type").is_none_or(|name| name != "object")
    }
}

/// Whether `schema` has the title that the Python SDK gives to its envelopes.
fn is_pythons(tool: &Map<String, Value>, schema: &Value) -> bool {
    let title = schema.get("title").and_then(Value::as_str);
    let name = title.and_then(|title| title.strip_suffix("Output"));
    name.is_some() && name == tool.get("name").and_then(Value::as_str)
}

fn members(tool: &Value) -> Result<&Map<String, Value>, ProjectError> {
    tool.as_object().ok_or_else(|| {
        ProjectError::new(Pointer::root(), ProjectErrorKind::NotAnObject { found: kind(tool) })
    })
}

/// Makes the marker of a tool whose output schema was `natural` and is now `projected`.
fn tool_marker(natural: &Value, projected: &Value, form: Form) -> Map<String, Value> {
    let mut marker = Map::new();
    marker.insert("form".to_owned(), name_of(form).into());
    let at = natural.as_object().and_then(|map| map.keys().position(|key| key == "$schema"));
    if let (Form::Envelope, Some(at @ 1..)) = (form, at) {
        marker.insert("schemaAt".to_owned(), at.into());
    }
    if undo(projected, &marker).is_none_or(|undone| !is_same(&undone, natural)) {
        marker.insert("natural".to_owned(), natural.clone());
    }
    marker
}

/// Returns the form and the natural output schema of a tool, if it carries a marker that fits.
fn marked(tool: &Map<String, Value>) -> Option<(Form, Value)> {
    let marker = marker::read(tool, MARKER)?;
    let form = match marker.get("form")?.as_str()? {
        "envelope" => Form::Envelope,
        "nullable" => Form::NullableObject,
        "object" => Form::Object,
        "natural" => Form::Natural,
        _ => return None,
    };
    let schema = tool.get(OUTPUT)?;
    let fits = match form {
        Form::Envelope => envelope::is_envelope(schema),
        _ => schema.get("type").is_some_and(|name| name == "object"),
    };
    let natural = match marker.get("natural") {
        Some(natural @ (Value::Object(_) | Value::Bool(_))) => Some(natural.clone()),
        Some(_) => None,
        None => undo(schema, marker),
    };
    natural.filter(|_| fits).map(|schema| (form, schema))
}

/// Restores the natural schema from a marker without `natural`.
fn undo(projected: &Value, marker: &Map<String, Value>) -> Option<Value> {
    match marker.get("form")?.as_str()? {
        "envelope" => {
            let at = marker.get("schemaAt").and_then(Value::as_u64).unwrap_or(0);
            envelope::open(projected, usize::try_from(at).ok()?)
        }
        "object" => {
            let mut schema = projected.clone();
            schema.as_object_mut()?.shift_remove("type")?;
            Some(schema)
        }
        _ => None,
    }
}

const fn name_of(form: Form) -> &'static str {
    match form {
        Form::Envelope => "envelope",
        Form::Object => "object",
        Form::NullableObject => "nullable",
        Form::Undeclared | Form::Natural => "natural",
    }
}

/// Whether two values are the same, with members in the same order.
fn is_same(one: &Value, other: &Value) -> bool {
    match (one, other) {
        (Value::Array(one), Value::Array(other)) => {
            one.len() == other.len()
                && one.iter().zip(other).all(|(one, other)| is_same(one, other))
        }
        (Value::Object(one), Value::Object(other)) => {
            one.len() == other.len()
                && one
                    .iter()
                    .zip(other)
                    .all(|((key, one), (other_key, other))| key == other_key && is_same(one, other))
        }
        (one, other) => one == other,
    }
}
