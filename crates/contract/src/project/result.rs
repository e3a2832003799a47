//! Projecting and lifting results.

use std::borrow::Cow;

use serde_json::{Map, Value, json};
use toolbond_schema::Pointer;

use super::error::{ProjectError, ProjectErrorKind};
use super::error_text;
use super::form::Form;
use super::marker::{self, MARKER};
use super::{bounds, fastmcp};
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

/// Gives `result`, in its natural shape, the shape that the revision `to` can carry. `form` is the form that
/// [`project_tool`](super::project_tool) returned for its tool.
///
/// In every revision, structured content that is not an object gets a text block with its JSON, unless there is a text
/// block already. So does an object if `content` is missing. Existing content stays as it is.
///
/// Toward a natural revision, nothing else changes. Toward a legacy one, structured content goes into the envelope if
/// the schema of the tool did, or if it is not an object and the tool declares no schema. The structured content of an
/// error becomes text, because a legacy client may check it against the output schema; content that
/// [`Contract::allows_in_error`](crate::Contract::allows_in_error) need not be projected. A changed result carries a
/// [marker](super::MARKER), and projecting it again changes nothing.
///
/// Pass `Cow::Owned` if the result is no longer needed: then nothing is copied. Returns `Cow::Borrowed` if nothing had
/// to change.
///
/// # Errors
///
/// Fails if `result` is not an object, or if it is nested too deeply.
///
/// ```
/// use std::borrow::Cow;
///
/// use serde_json::json;
/// use toolbond_contract::{Form, Revision, project_result};
///
/// let result = json!({ "content": [], "structuredContent": 42 });
/// let projected =
///     project_result(Cow::Borrowed(&result), Form::Envelope, &Revision::V2025_11_25)?;
/// assert_eq!(projected["structuredContent"], json!({ "result": 42 }));
/// assert_eq!(projected["content"], json!([{ "type": "text", "text": "42" }]));
/// # Ok::<(), toolbond_contract::ProjectError>(())
/// ```
pub fn project_result<'a>(
    result: Cow<'a, Value>,
    form: Form,
    to: &Revision,
) -> Result<Cow<'a, Value>, ProjectError> {
    wrap(mirror(result)?, form, to)
}

/// Adds a text block with the structured content if a client needs one. A result that was projected stays as it is.
fn mirror(result: Cow<'_, Value>) -> Result<Cow<'_, Value>, ProjectError> {
    let members = members(&result)?;
    let Some(value) = Structured::from_members(members).value() else { return Ok(result) };
    let needed = match members.get(CONTENT) {
        None => true,
        Some(Value::Array(blocks)) => !value.is_object() && !blocks.iter().any(is_text),
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

/// Puts structured content into the envelope, or that of an error into its text, if `to` needs that.
fn wrap<'a>(
    result: Cow<'a, Value>,
    form: Form,
    to: &Revision,
) -> Result<Cow<'a, Value>, ProjectError> {
    if to.is_natural() {
        return Ok(result);
    }
    let members = members(&result)?;
    let Some(value) = Structured::from_members(members).value() else { return Ok(result) };
    if mark(members).is_some() {
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
    marker::put(&mut members, MARKER, enveloped());
    let projected = Value::Object(members);
    bounds::check(&projected, "", bounds::MAX_PROJECTED_DEPTH)?;
    Ok(Cow::Owned(projected))
}

impl Form {
    /// Does what [`project_result`] does, for a result of which only the structured content can change: it has a text
    /// block and no `_meta`, and is not an error. Returns the structured content to send, and the `_meta` that marks it
    /// if it is in the envelope. Copies nothing.
    ///
    /// # Errors
    ///
    /// Fails if `value` is nested too deeply.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolbond_contract::{Form, Revision};
    ///
    /// let (value, meta) = Form::Envelope.project_value(json!([1]), &Revision::V2025_11_25)?;
    /// assert_eq!(value, json!({ "result": [1] }));
    /// assert!(meta.is_some());
    /// # Ok::<(), toolbond_contract::ProjectError>(())
    /// ```
    pub fn project_value(
        self,
        value: Value,
        to: &Revision,
    ) -> Result<(Value, Option<Map<String, Value>>), ProjectError> {
        if to.is_natural() {
            return Ok((value, None));
        }
        if !is_wrapped_as(self, &value) {
            bounds::check_below(&value, 1, bounds::MAX_READ_DEPTH)?;
            return Ok((value, None));
        }
        // The result and the envelope are around it.
        bounds::check_below(&value, 2, bounds::MAX_PROJECTED_DEPTH)?;
        Ok((envelope(value), Some(single(marker::MARKER, enveloped().into()))))
    }
}

/// Whether `value` goes into the envelope toward a legacy revision. `form` is the form of its tool.
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

/// Gives `result` its natural shape. `form` is the form that [`lift_tool`](super::lift_tool) returned for its tool.
///
/// Undoes [`project_result`], except that an added text block stays. A peer can write a [marker](super::MARKER) on any
/// result, so the form decides what the marker may do:
///
/// | form | lifted |
/// | --- | --- |
/// | [`Form::Envelope`] | any value |
/// | [`Form::Undeclared`] | a value that is not an object |
/// | [`Form::NullableObject`] | `null` |
/// | [`Form::Natural`], [`Form::Object`] | nothing |
///
/// The structured content of an error comes back out of its text with any form, but only if `isError` is `true`. A
/// marker that may not do what it says is removed, so that neither [`project_result`] nor the next reader acts on it.
///
/// A result that `FastMCP` marked as wrapped leaves the envelope if the form is [`Form::Envelope`] or
/// [`Form::Undeclared`]. An unmarked `{"result": …}` leaves it if the form is
/// [`Form::Envelope`].
///
/// # Errors
///
/// Fails if `result` is not an object, or if it is nested more deeply than projecting can make it.
///
/// ```
/// use serde_json::json;
/// use toolbond_contract::{Form, lift_result};
///
/// let result = json!({ "content": [], "structuredContent": { "result": null } });
/// assert_eq!(lift_result(&result, Form::Envelope)?["structuredContent"], json!(null));
/// assert_eq!(*lift_result(&result, Form::Natural)?, result);
/// # Ok::<(), toolbond_contract::ProjectError>(())
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
                marker::take(&mut members, MARKER);
            }
        }
        Some(Mark::Error) => {
            error_text::show(&mut members);
            marker::take(&mut members, MARKER);
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

/// What a marker says that fits its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mark {
    Envelope,
    Error,
}

fn mark(result: &Map<String, Value>) -> Option<Mark> {
    match marker::read(result, MARKER)?.get(FORM)?.as_str()? {
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

/// Returns the members of a result that is known to be an object.
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
