//! How deep a JSON value is and how much its places take to name.

use serde_json::Value;
use toolpact_schema::Pointer;

use super::error::{ProjectError, ProjectErrorKind};

/// Nested containers that are followed, in a schema or in structured content. What is read from the
/// wire has at most 128.
pub(crate) const MAX_DEPTH: usize = 256;

/// Bytes of the JSON Pointers to all places of a schema, together.
pub(crate) const MAX_POINTER_BYTES: usize = 1 << 26;

/// Bytes of the URIs that the names and references of a schema resolve to, together.
pub(crate) const MAX_URI_BYTES: usize = 1 << 24;

/// Nested containers of a tool or result that was projected, its marker included. Most readers of JSON
/// stop at 127 or 128 and a tool stands three levels down in its response: one that is deeper makes the
/// whole list unreadable.
pub(crate) const MAX_PROJECTED_DEPTH: usize = 120;

/// Nested containers of a tool or result that are followed at all.
pub(crate) const MAX_READ_DEPTH: usize = 3 * MAX_DEPTH;

/// Refuses what is deeper than `limit`, so that everything after may recurse.
pub(crate) fn check(value: &Value, at: &str, limit: usize) -> Result<(), ProjectError> {
    if is_within(value, limit) {
        return Ok(());
    }
    Err(ProjectError::new(Pointer::from(at), ProjectErrorKind::Depth { limit }))
}

/// Refuses a result for what is inside of its `levels` outer containers, as [`check`] would refuse the whole.
pub(crate) fn check_below(value: &Value, levels: usize, limit: usize) -> Result<(), ProjectError> {
    if is_within(value, limit - levels) {
        return Ok(());
    }
    Err(ProjectError::new(Pointer::root(), ProjectErrorKind::Depth { limit }))
}

/// Whether no more than `limit` containers are inside of each other.
fn is_within(value: &Value, limit: usize) -> bool {
    // Most of what is in a container is none.
    let fits = |value: &Value| {
        !matches!(value, Value::Array(_) | Value::Object(_)) || is_within(value, limit - 1)
    };
    match value {
        Value::Array(list) => limit > 0 && list.iter().all(fits),
        Value::Object(map) => limit > 0 && map.values().all(fits),
        _ => true,
    }
}

/// Refuses a schema whose places take more than [`MAX_POINTER_BYTES`] to name, all together: a long key
/// with much below it is in the pointer of all of that.
pub(crate) fn check_pointers(schema: &Value, at: &str) -> Result<(), ProjectError> {
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
    check_total(total, at)
}

/// Refuses pointers of more than [`MAX_POINTER_BYTES`] together.
pub(crate) fn check_total(total: usize, at: &str) -> Result<(), ProjectError> {
    if total <= MAX_POINTER_BYTES {
        return Ok(());
    }
    let kind = ProjectErrorKind::PointerBytes { found: total, limit: MAX_POINTER_BYTES };
    Err(ProjectError::new(Pointer::from(at), kind))
}

/// Refuses URIs of more than [`MAX_URI_BYTES`] together.
pub(crate) fn check_uris(total: usize) -> Result<(), ProjectError> {
    if total <= MAX_URI_BYTES {
        return Ok(());
    }
    let kind = ProjectErrorKind::UriBytes { found: total, limit: MAX_URI_BYTES };
    Err(ProjectError::new(Pointer::root(), kind))
}
