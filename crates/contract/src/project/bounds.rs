//! How deep a JSON value is and how much its places take to name, told without recursion.

use serde_json::Value;
use toolpact_schema::Pointer;

use super::error::{ProjectError, ProjectErrorKind};

/// Nested containers that are followed, in a schema or in structured content. What is read from the
/// wire has at most 128.
pub const MAX_DEPTH: usize = 256;

/// Bytes of the JSON Pointers to all places of a schema, together.
pub const MAX_POINTER_BYTES: usize = 1 << 26;

/// What projecting makes of [`MAX_DEPTH`] levels at most: a veil around each, and the envelope.
pub(crate) const MAX_PROJECTED_DEPTH: usize = 3 * MAX_DEPTH + 8;

/// Refuses what is deeper than `limit`, so that everything after may recurse.
pub(crate) fn check(value: &Value, at: &str, limit: usize) -> Result<(), ProjectError> {
    let mut level = vec![value];
    for _ in 0..=limit {
        let mut next = Vec::new();
        for value in level {
            match value {
                Value::Array(list) => next.extend(list.iter().filter(|value| is_container(value))),
                Value::Object(map) => next.extend(map.values().filter(|value| is_container(value))),
                _ => {}
            }
        }
        if next.is_empty() {
            return Ok(());
        }
        level = next;
    }
    Err(ProjectError::new(Pointer::from(at), ProjectErrorKind::Depth { limit }))
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

fn is_container(value: &Value) -> bool {
    value.is_array() || value.is_object()
}
