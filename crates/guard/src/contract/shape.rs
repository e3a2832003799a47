//! A result as the client reads it, changed in as few places as that needs.

use serde_json::Value;
use toolpact_contract::{
    Form, ProjectError, Revision, Structured, lift_result, mirror_result, send_result,
};

use crate::json::edit::{entries, minify, patch_value};

/// The text of `result`, which is the value of `text` or the outline of it, as the client reads it;
/// nothing where that is how it came.
pub(crate) fn shape(
    text: &str,
    result: &Value,
    form: Form,
    revision: &Revision,
) -> Result<Option<String>, ProjectError> {
    if !result.is_object() {
        return Ok(None);
    }
    let shaped = if revision.is_natural() {
        let lifted = lift_result(result, form)?;
        let mirrored = match mirror_result(&lifted)? {
            std::borrow::Cow::Owned(mirrored) => Some(mirrored),
            std::borrow::Cow::Borrowed(_) => None,
        };
        match (mirrored, lifted) {
            (Some(mirrored), _) => mirrored,
            (None, std::borrow::Cow::Owned(lifted)) => lifted,
            (None, std::borrow::Cow::Borrowed(_)) => return Ok(None),
        }
    } else {
        match send_result(result, form, revision)? {
            std::borrow::Cow::Owned(sent) => sent,
            std::borrow::Cow::Borrowed(_) => return Ok(None),
        }
    };
    let mut shaped = shaped;
    keep_numbers(text, result, &mut shaped);
    Ok(Some(patch_value(text, result, &shaped)))
}

/// Lets a text block that was added say the structured content as the server wrote it: a number
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
