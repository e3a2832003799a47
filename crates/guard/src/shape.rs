//! A result as the client reads it, changed in as few places as that needs.

use serde_json::Value;
use toolpact_contract::{
    Form, MAX_PROJECTED_DEPTH, ProjectError, Revision, Structured, lift_result, mirror_result,
    send_result,
};

use crate::patch::{members, minify, patch_value};

/// The text of `result`, which is the value of `text`, as the client reads it; nothing where that is
/// how it came. The value is not whole any more after it.
pub(crate) fn shape(
    text: &str,
    result: &mut Value,
    form: Form,
    revision: &Revision,
) -> Result<Option<String>, ProjectError> {
    if !result.is_object() {
        return Ok(None);
    }
    put_aside(result);
    let result = &*result;
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

/// Empties an array that is the structured content, in its envelope or without: it goes from one to
/// the other as it is, and so does its text, without being copied or compared.
fn put_aside(result: &mut Value) {
    let is_error = result.get("isError") == Some(&Value::Bool(true));
    let Some(content) = result.get_mut(Structured::KEY).filter(|_| !is_error) else { return };
    let inside = match content {
        Value::Object(members) if members.len() == 1 => members.get_mut("result"),
        Value::Array(_) => Some(content),
        _ => None,
    };
    // How deep a result may be is told by its value.
    if let Some(inside) = inside.filter(|inside| inside.is_array() && is_within(inside, DEPTH)) {
        *inside = Value::Array(Vec::new());
    }
}

/// So deep that every revision can carry it, however it is wrapped.
const DEPTH: usize = MAX_PROJECTED_DEPTH - 10;

/// Whether at most `levels` of arrays and objects are in each other.
fn is_within(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => levels > 0 && items.iter().all(|item| is_within(item, levels - 1)),
        Value::Object(members) => {
            levels > 0 && members.values().all(|member| is_within(member, levels - 1))
        }
        _ => true,
    }
}

/// Lets a text block that was added say the structured content as the server wrote it: a number
/// beyond what a double holds is another one once it was read.
fn keep_numbers(text: &str, result: &Value, shaped: &mut Value) {
    let blocks = |value: &Value| value.get("content").and_then(Value::as_array).map_or(0, Vec::len);
    if blocks(shaped) <= blocks(result) {
        return;
    }
    let Some(old) = result.get(Structured::KEY) else { return };
    let Some(members) = members(text) else { return };
    let Some(raw) = members.iter().find(|member| member.0 == Structured::KEY) else { return };
    // What is said is what was there, or what was in its envelope.
    let new = shaped.get(Structured::KEY).filter(|new| old.get("result") == Some(new));
    let said = minify(&patch_value(raw.2, old, new.unwrap_or(old)));
    if let Some(Value::Array(blocks)) = shaped.get_mut("content")
        && let Some(block) = blocks.last_mut()
    {
        block["text"] = said.into();
    }
}
