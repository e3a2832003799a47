//! How deep a JSON value is, told without recursion.

use serde_json::Value;
use toolpact_schema::Pointer;

use super::error::{ProjectError, ProjectErrorKind};

/// Nested containers that are followed, in a schema or in structured content. What is read from the
/// wire has at most 128.
pub const MAX_DEPTH: usize = 256;

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

fn is_container(value: &Value) -> bool {
    value.is_array() || value.is_object()
}
