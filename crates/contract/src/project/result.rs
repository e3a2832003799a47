//! Results, mirrored, projected and lifted.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use toolpact_schema::Pointer;

use super::error::{ProjectError, ProjectErrorKind};
use super::error_text;
use super::form::Form;
use super::{bounds, fastmcp, marker};
use crate::json_type::kind;
use crate::{Revision, Structured};

const CONTENT: &str = "content";
const FORM: &str = "form";

/// The marker of a result in the envelope.
fn enveloped() -> Map<String, Value> {
    single(FORM, "envelope".into())
}

// `json!` would copy the value.
fn single(name: &str, value: Value) -> Map<String, Value> {
    let mut members = Map::new();
    members.insert(name.to_owned(), value);
    members
}

/// `result` with its structured content mirrored as text, where a reader needs that.
///
/// In every revision a value that is no object gets a text block with its JSON unless there is a text
/// block already, and so does an object where there is no content at all. Content that is there is
/// never touched. A result is mirrored before it is projected; one that was projected is left alone.
///
/// # Errors
///
/// Where `result` is no object, or its structured content is deeper than
/// [`MAX_DEPTH`](super::MAX_DEPTH).
///
/// ```
/// use serde_json::json;
/// use toolpact_contract::mirror_result;
///
/// let result = json!({ "content": [], "structuredContent": [1, 2] });
/// let mirrored = mirror_result(&result)?;
/// assert_eq!(mirrored["content"], json!([{ "type": "text", "text": "[1,2]" }]));
/// # Ok::<(), toolpact_contract::ProjectError>(())
/// ```
pub fn mirror_result(result: &Value) -> Result<Cow<'_, Value>, ProjectError> {
    mirror(Cow::Borrowed(result))
}

fn mirror(result: Cow<'_, Value>) -> Result<Cow<'_, Value>, ProjectError> {
    let members = members(&result)?;
    let Some(value) = Structured::of_map(members).value() else { return Ok(result) };
    let needed = match members.get(CONTENT) {
        None => true,
        Some(Value::Array(blocks)) if value.is_object() => blocks.is_empty(),
        Some(Value::Array(blocks)) => !blocks.iter().any(is_text),
        Some(_) => false,
    };
    if !needed || mark(members).is_some() {
        return Ok(result);
    }
    bounds::check(&result, "", bounds::MAX_READ_DEPTH)?;
    bounds::check(value, "/structuredContent", bounds::MAX_DEPTH)?;
    let block = json!({ "type": "text", "text": value.to_string() });
    let mut members = into_members(result);
    match members.get_mut(CONTENT) {
        Some(Value::Array(blocks)) => blocks.push(block),
        // `content` comes first in a result, as the SDKs write it.
        _ => drop(members.shift_insert(0, CONTENT.to_owned(), json!([block]))),
    }
    Ok(Cow::Owned(Value::Object(members)))
}

/// `result`, in its natural shape, as the revision `to` can carry it; `form` is that of its tool.
///
/// Toward a natural revision nothing changes. Toward a legacy one, structured content goes into the
/// envelope if the schema of the tool did, or if it is no object and no schema was declared; that of
/// an error leaves as text, because a legacy reader would hold it against the output schema. A result
/// that was changed carries a [marker](super::MARKER), and is left as it is when projected again.
///
/// # Errors
///
/// Where `result` is no object, or it, projected, or the structured content of an error is deeper than
/// [`MAX_PROJECTED_DEPTH`](super::MAX_PROJECTED_DEPTH).
///
/// ```
/// use serde_json::json;
/// use toolpact_contract::{Form, Revision, project_result};
///
/// let result = json!({ "content": [{ "type": "text", "text": "42" }], "structuredContent": 42 });
/// let projected = project_result(&result, Form::Envelope, &Revision::V2025_11_25)?;
/// assert_eq!(projected["structuredContent"], json!({ "result": 42 }));
/// # Ok::<(), toolpact_contract::ProjectError>(())
/// ```
pub fn project_result<'a>(
    result: &'a Value,
    form: Form,
    to: &Revision,
) -> Result<Cow<'a, Value>, ProjectError> {
    project(Cow::Borrowed(result), form, to)
}

fn project<'a>(
    result: Cow<'a, Value>,
    form: Form,
    to: &Revision,
) -> Result<Cow<'a, Value>, ProjectError> {
    let members = members(&result)?;
    let structured = Structured::of_map(members);
    let Some(value) = structured.value() else { return Ok(result) };
    if to.is_natural() || mark(members).is_some() {
        return Ok(result);
    }
    bounds::check(&result, "", bounds::MAX_READ_DEPTH)?;
    if is_error(members) {
        return Ok(error_text::hide(members, value)?.map_or(result, Cow::Owned));
    }
    if !is_wrapped_as(form, value) {
        return Ok(result);
    }
    let mut members = into_members(result);
    if let Some(value) = members.get_mut(Structured::KEY) {
        *value = envelope(value.take());
    }
    marker::put(&mut members, enveloped());
    let projected = Value::Object(members);
    bounds::check(&projected, "", bounds::MAX_PROJECTED_DEPTH)?;
    Ok(Cow::Owned(projected))
}

/// `result`, mirrored and then projected: what a server sends.
///
/// # Errors
///
/// As [`mirror_result`] and [`project_result`].
pub fn send_result<'a>(
    result: &'a Value,
    form: Form,
    to: &Revision,
) -> Result<Cow<'a, Value>, ProjectError> {
    project(mirror(Cow::Borrowed(result))?, form, to)
}

/// [`send_result`] of a result that is not needed any more: nothing of it is copied.
///
/// # Errors
///
/// As [`send_result`].
pub fn send_result_owned(result: Value, form: Form, to: &Revision) -> Result<Value, ProjectError> {
    Ok(project(mirror(Cow::Owned(result))?, form, to)?.into_owned())
}

/// What [`send_result`] makes of `value`, the structured content of a result that has a text block, no `_meta` and
/// is no error: what to send in its place, and the `_meta` that marks it where it is in the envelope. Nothing of it is
/// copied.
///
/// # Errors
///
/// As [`send_result`].
///
/// ```
/// use serde_json::json;
/// use toolpact_contract::{Form, Revision, send_structured};
///
/// let (value, meta) = send_structured(json!([1]), Form::Envelope, &Revision::V2025_11_25)?;
/// assert_eq!(value, json!({ "result": [1] }));
/// assert!(meta.is_some());
/// # Ok::<(), toolpact_contract::ProjectError>(())
/// ```
pub fn send_structured(
    value: Value,
    form: Form,
    to: &Revision,
) -> Result<(Value, Option<Map<String, Value>>), ProjectError> {
    if to.is_natural() {
        return Ok((value, None));
    }
    if !is_wrapped_as(form, &value) {
        bounds::check_below(&value, 1, bounds::MAX_READ_DEPTH)?;
        return Ok((value, None));
    }
    // The result and the envelope are around it.
    bounds::check_below(&value, 2, bounds::MAX_PROJECTED_DEPTH)?;
    Ok((envelope(value), Some(single(marker::MARKER, enveloped().into()))))
}

/// Whether `value`, of a tool whose output has this form, goes into the envelope toward a legacy revision.
fn is_wrapped_as(form: Form, value: &Value) -> bool {
    match form {
        Form::Envelope => true,
        Form::Undeclared => !value.is_object(),
        Form::NullableObject => value.is_null(),
        Form::Natural | Form::Object => false,
    }
}

fn envelope(value: Value) -> Value {
    Value::Object(single("result", value))
}

/// `result` in its natural shape; `form` is what [`lift_tool`](super::lift_tool) said of its tool.
///
/// Undoes [`project_result`] exactly. A peer can write a [marker](super::MARKER) on any result, so the
/// form decides what the marker may do:
///
/// | form | lifted |
/// | --- | --- |
/// | [`Form::Envelope`] | any value |
/// | [`Form::Undeclared`] | a value that is not an object |
/// | [`Form::NullableObject`] | `null` |
/// | [`Form::Natural`], [`Form::Object`] | nothing |
///
/// The structured content of an error comes back out of its text whatever the form, and only where
/// `isError` is `true`. A marker that may not do what it says is removed, so that neither
/// [`project_result`] nor the next reader acts on it.
///
/// A result that `FastMCP` marked as wrapped is taken out of the envelope if the form is
/// [`Form::Envelope`] or [`Form::Undeclared`], and an unmarked `{"result": …}` if it is
/// [`Form::Envelope`]. A text mirror stays: it is right in every revision.
///
/// # Errors
///
/// Where `result` is no object, or deeper than projecting can make it.
///
/// ```
/// use serde_json::json;
/// use toolpact_contract::{Form, lift_result};
///
/// let result = json!({ "content": [], "structuredContent": { "result": null } });
/// assert_eq!(lift_result(&result, Form::Envelope)?["structuredContent"], json!(null));
/// assert_eq!(*lift_result(&result, Form::Natural)?, result);
/// # Ok::<(), toolpact_contract::ProjectError>(())
/// ```
pub fn lift_result(result: &Value, form: Form) -> Result<Cow<'_, Value>, ProjectError> {
    let members = members(result)?;
    bounds::check(result, "", bounds::MAX_READ_DEPTH)?;
    let by_marker = mark(members).is_some();
    // FastMCP marks results of tools whose schema is not in an envelope, too; those stay together.
    let by_fastmcp = matches!(form, Form::Envelope | Form::Undeclared) && fastmcp::marks(members);
    let unmarked = form == Form::Envelope && !is_error(members);
    if !by_marker && (wrapped(members).is_none() || !(by_fastmcp || unmarked)) {
        return Ok(Cow::Borrowed(result));
    }
    let mut members = members.clone();
    match mark(&members) {
        Some(Mark::Envelope) => {
            if wrapped(&members).is_some_and(|value| is_wrapped_as(form, value)) {
                unwrap(&mut members);
                marker::take(&mut members);
            }
        }
        Some(Mark::Error) => {
            error_text::show(&mut members);
            marker::take(&mut members);
        }
        None => {
            unwrap(&mut members);
            if by_fastmcp {
                fastmcp::unmark(&mut members);
            }
        }
    }
    if mark(&members).is_some() {
        marker::remove(&mut members);
    }
    Ok(Cow::Owned(Value::Object(members)))
}

/// What a marker that fits its result says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Envelope,
    Error,
}

fn mark(result: &Map<String, Value>) -> Option<Mark> {
    match marker::read(result)?.get(FORM)?.as_str()? {
        "envelope" => (!is_error(result) && wrapped(result).is_some()).then_some(Mark::Envelope),
        "error" => {
            (is_error(result) && error_text::hidden(result).is_some()).then_some(Mark::Error)
        }
        _ => None,
    }
}

/// The value in the envelope, where the structured content is `{"result": …}` and nothing else.
fn wrapped(result: &Map<String, Value>) -> Option<&Value> {
    let envelope = result.get(Structured::KEY)?.as_object()?;
    envelope.get("result").filter(|_| envelope.len() == 1)
}

fn unwrap(result: &mut Map<String, Value>) {
    if let Some(value) = result.get_mut(Structured::KEY) {
        *value = value.get_mut("result").map(Value::take).unwrap_or_default();
    }
}

/// The members of a result that is known to be an object.
fn into_members(result: Cow<'_, Value>) -> Map<String, Value> {
    match result {
        Cow::Owned(Value::Object(members)) => members,
        Cow::Borrowed(Value::Object(members)) => members.clone(),
        _ => Map::new(),
    }
}

fn is_error(result: &Map<String, Value>) -> bool {
    result.get("isError") == Some(&Value::Bool(true))
}

fn is_text(block: &Value) -> bool {
    block.get("type").is_some_and(|kind| kind == "text")
}

fn members(result: &Value) -> Result<&Map<String, Value>, ProjectError> {
    result.as_object().ok_or_else(|| {
        ProjectError::new(Pointer::root(), ProjectErrorKind::NotAnObject { found: kind(result) })
    })
}
