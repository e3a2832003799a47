//! A result as the client reads it, changed in as few places as that needs.

use std::borrow::Cow;

use serde_json::Value;
use toolbond_contract::{
    Form, ProjectError, Revision, Structured, lift_result, project::MARKER, project_result,
};

use crate::json::edit::{minify, patch_value};
use crate::json::members::entries;

/// The text of `result`, which is the value of `text` or the outline of it, as the client reads it;
/// nothing where that is how it came. With `keeps_error`, the structured content of an error stays.
pub(crate) fn shape(
    text: &str,
    result: &Value,
    form: Form,
    revision: &Revision,
    keeps_error: bool,
) -> Result<Option<String>, ProjectError> {
    if !result.is_object() {
        return Ok(None);
    }
    let lifted = if !revision.is_natural() {
        Cow::Borrowed(result)
    } else if may_lift(result, form) {
        lift_result(result, form)?
    } else {
        without_marker(result)
    };
    // What suits every revision needs no other shape than the natural one.
    let revision = if keeps_error { &Revision::V2026_07_28 } else { revision };
    let Cow::Owned(mut shaped) = project_result(lifted, form, revision)? else { return Ok(None) };
    keep_numbers(text, result, &mut shaped);
    Ok(Some(patch_value(text, result, &shaped)))
}

/// Whether the form of the tool allows a change of its result: what was checked is what the client
/// reads.
fn may_lift(result: &Value, form: Form) -> bool {
    let is_error = result.get("isError") == Some(&Value::Bool(true));
    form == Form::Envelope || (form == Form::Undeclared && !is_error)
}

/// `result` without the marker of a projection, on which its reader may act.
pub(super) fn without_marker(result: &Value) -> Cow<'_, Value> {
    let marked = |meta: &Value| meta.get(MARKER).is_some();
    if !result.get("_meta").is_some_and(marked) {
        return Cow::Borrowed(result);
    }
    let mut result = result.clone();
    if let Some(Value::Object(meta)) = result.get_mut("_meta") {
        meta.shift_remove(MARKER);
    }
    Cow::Owned(result)
}

/// The text of `told`, the error `result` whose structured content became text.
pub(super) fn told_error(text: &str, result: &Value, mut told: Value) -> String {
    keep_numbers(text, result, &mut told);
    patch_value(text, result, &told)
}

/// Repeats the structured content in an added text block as the server wrote it: a number
/// beyond what a double holds is another one once it was read.
fn keep_numbers(text: &str, result: &Value, shaped: &mut Value) {
    let blocks = |value: &Value| value.get("content").and_then(Value::as_array).map_or(0, Vec::len);
    if blocks(shaped) <= blocks(result) {
        return;
    }
    let Some(old) = result.get(Structured::KEY) else { return };
    let Some(entries) = entries(text) else { return };
    let Some(raw) = entries.iter().find(|entry| entry.0 == Structured::KEY) else { return };
    // What is said is what was there, or what was in its envelope.
    let new = shaped.get(Structured::KEY).filter(|new| old.get("result") == Some(new));
    let said = minify(&patch_value(raw.2, old, new.unwrap_or(old)));
    if let Some(Value::Array(blocks)) = shaped.get_mut("content")
        && let Some(block) = blocks.last_mut()
    {
        block["text"] = said.into();
    }
}
