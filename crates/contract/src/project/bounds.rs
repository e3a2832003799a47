//! Limits on the depth of values and on the size of pointers and URIs.

use serde_json::Value;
use toolbond_schema::Pointer;

use super::error::{ProjectError, ProjectErrorKind};

/// Nesting of a schema or of structured content. JSON from the wire has at most 128 levels.
pub(crate) const MAX_DEPTH: usize = 256;

/// Total bytes of the JSON Pointers to all places of a schema.
pub(crate) const MAX_POINTER_BYTES: usize = 1 << 26;

/// Total bytes of the URIs that the names and references of a schema resolve to.
pub(crate) const MAX_URI_BYTES: usize = 1 << 24;

/// Nesting of a projected tool or result, with its marker. Most JSON parsers stop at 127 or 128 levels, and a tool is
/// three levels down in its response: a deeper tool would make the whole list unreadable.
pub(crate) const MAX_PROJECTED_DEPTH: usize = 120;

/// Nesting of any tool or result. Deeper ones are refused.
pub(crate) const MAX_READ_DEPTH: usize = 3 * MAX_DEPTH;

/// Refuses a value that is nested deeper than `limit`, so that later steps may recurse.
pub(crate) fn check(value: &Value, at: &str, limit: usize) -> Result<(), ProjectError> {
    if is_within(value, limit) {
        return Ok(());
    }
    Err(ProjectError::new(Pointer::from(at), ProjectErrorKind::Depth { limit }))
}

/// Does what [`check`] does, for a value inside `levels` outer containers.
pub(crate) fn check_below(value: &Value, levels: usize, limit: usize) -> Result<(), ProjectError> {
    if is_within(value, limit - levels) {
        return Ok(());
    }
    Err(ProjectError::new(Pointer::root(), ProjectErrorKind::Depth { limit }))
}

/// Whether `value` has at most `limit` nested containers.
fn is_within(value: &Value, limit: usize) -> bool {
    // Most values in a container are not containers.
    let fits = |value: &Value| {
        !matches!(value, Value::Array(_) | Value::Object(_)) || is_within(value, limit - 1)
    };
    match value {
        Value::Array(list) => limit > 0 && list.iter().all(fits),
        Value::Object(map) => limit > 0 && map.values().all(fits),
        _ => true,
    }
}

/// Refuses a schema if the pointers to all its places take more than [`MAX_POINTER_BYTES`].
pub(crate) fn check_pointers(schema: &Value, at: &str) -> Result<(), ProjectError> {
    check_total(pointer_bytes(schema), at)
}

/// Returns the bytes of the pointers to all places of a schema: a long key is part of the pointer to everything below
/// it.
pub(crate) fn pointer_bytes(schema: &Value) -> usize {
    let mut total = 0_usize;
    let mut stack = vec![(schema, 0_usize)];
    while let Some((value, length)) = stack.pop() {
        total = total.saturating_add(length);
        match value {
            Value::Array(list) => stack.extend(list.iter().map(|value| (value, length + 8))),
            Value::Object(map) => {
                stack.extend(map.iter().map(|(key, value)| (value, length + key.len() + 1)));
            }
            _ => {}
        }
    }
    total
}

/// Refuses pointers that take more than [`MAX_POINTER_BYTES`] in total.
pub(crate) fn check_total(total: usize, at: &str) -> Result<(), ProjectError> {
    if total <= MAX_POINTER_BYTES {
        return Ok(());
    }
    let kind = ProjectErrorKind::PointerBytes { found: total, limit: MAX_POINTER_BYTES };
    Err(ProjectError::new(Pointer::from(at), kind))
}

/// Refuses URIs that take more than [`MAX_URI_BYTES`] in total.
pub(crate) fn check_uris(total: usize) -> Result<(), ProjectError> {
    if total <= MAX_URI_BYTES {
        return Ok(());
    }
    let kind = ProjectErrorKind::UriBytes { found: total, limit: MAX_URI_BYTES };
    Err(ProjectError::new(Pointer::root(), kind))
}
