//! The structured content of an error, which legacy revisions carry as text.

use serde_json::{Map, Value, json};

use super::bounds;
use super::error::ProjectError;
use super::marker::{self, MARKER};
use crate::Structured;

const CONTENT: &str = "content";

/// Moves the structured content `value` of an error to a text block, unless there is one with the same text. Returns
/// `None`, and changes nothing, if `content` is not a list.
pub(crate) fn hide(
    members: &Map<String, Value>,
    value: &Value,
) -> Result<Option<Value>, ProjectError> {
    let none = Vec::new();
    let blocks = match members.get(CONTENT) {
        None => &none,
        Some(Value::Array(blocks)) => blocks,
        Some(_) => return Ok(None),
    };
    // It has to be read again to be lifted.
    bounds::check(value, "/structuredContent", bounds::MAX_PROJECTED_DEPTH)?;
    let block = json!({ "type": "text", "text": value.to_string() });
    let said = blocks.iter().position(|authored| {
        authored.get("type") == block.get("type") && authored.get("text") == block.get("text")
    });
    let mut marker = Map::new();
    marker.insert("form".to_owned(), "error".into());
    marker.insert("block".to_owned(), said.unwrap_or(blocks.len()).into());
    let at = members.keys().position(|key| key == Structured::KEY).unwrap_or_default();
    marker.insert("at".to_owned(), at.into());
    let mut members = members.clone();
    members.shift_remove(Structured::KEY);
    if said.is_none() {
        let added = if members.contains_key(CONTENT) { "block" } else { CONTENT };
        marker.insert("added".to_owned(), added.into());
        if let Value::Array(blocks) = members.entry(CONTENT).or_insert_with(|| json!([])) {
            blocks.push(block);
        }
    }
    marker::put(&mut members, MARKER, marker);
    Ok(Some(Value::Object(members)))
}

/// Returns the structured content that is in a text block, according to the marker of `result`.
pub(crate) fn hidden(result: &Map<String, Value>) -> Option<Value> {
    let marker = marker::read(result, MARKER)?;
    if result.contains_key(Structured::KEY) {
        return None;
    }
    let block = usize::try_from(marker.get("block")?.as_u64()?).ok()?;
    serde_json::from_str(result.get(CONTENT)?.get(block)?.get("text")?.as_str()?).ok()
}

/// Moves the structured content of `result` back out of its text block.
pub(crate) fn show(result: &mut Map<String, Value>) {
    let Some(value) = hidden(result) else { return };
    let Some(marker) = marker::read(result, MARKER).cloned() else { return };
    let number =
        |key| marker.get(key).and_then(Value::as_u64).and_then(|at| usize::try_from(at).ok());
    match (marker.get("added").and_then(Value::as_str), result.get_mut(CONTENT), number("block")) {
        (Some("block"), Some(Value::Array(blocks)), Some(block)) if block < blocks.len() => {
            blocks.remove(block);
        }
        (Some(CONTENT), ..) => drop(result.shift_remove(CONTENT)),
        _ => {}
    }
    let at = number("at").unwrap_or(result.len()).min(result.len());
    result.shift_insert(at, Structured::KEY.to_owned(), value);
}
