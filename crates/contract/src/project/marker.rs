//! The markers that a changed tool or result carries in `_meta`.
//!
//! A marker of a conversion to another dialect is described in [`dialect`](crate::dialect). The key of a projection is
//! [`MARKER`]. Its value is an object that says what was done:
//!
//! | member | meaning |
//! | --- | --- |
//! | `form` | `envelope`, `object` (the root got `type: "object"`) or `natural` (changes inside only); on a result `envelope` or `error` |
//! | `schemaAt` | where `$schema` stood among the members of the natural schema, if not first |
//! | `natural` | the natural output schema, where it cannot be told from the projected one |
//! | `block`, `added`, `at` | of an error: the text block that holds the structured content, whether that block (or `content` with it) was added, and where `structuredContent` stood |
//! | `kept` | `_meta` was there, and empty |
//! | `was` | what stood in the place of `_meta` or of the marker |

use serde_json::{Map, Value, json};

/// The key of the marker of a projection in `_meta`.
pub const MARKER: &str = "dev.toolbond/projection";

const META: &str = "_meta";

/// Returns the marker `key` of `holder`, a tool or a result.
pub(crate) fn read<'a>(
    holder: &'a Map<String, Value>,
    key: &str,
) -> Option<&'a Map<String, Value>> {
    holder.get(META)?.get(key)?.as_object()
}

/// Puts `marker` on `holder` under `key`.
pub(crate) fn put(holder: &mut Map<String, Value>, key: &str, mut marker: Map<String, Value>) {
    let meta = match holder.get_mut(META) {
        Some(Value::Object(meta)) => {
            if let Some(was) = meta.get(key) {
                marker.insert("was".to_owned(), json!({ key: was }));
            } else if meta.is_empty() {
                marker.insert("kept".to_owned(), true.into());
            }
            meta
        }
        Some(other) => {
            marker.insert("was".to_owned(), json!({ META: other.take() }));
            *other = json!({});
            let Some(meta) = other.as_object_mut() else { return };
            meta
        }
        None => {
            let meta = holder.entry(META).or_insert_with(|| json!({}));
            let Some(meta) = meta.as_object_mut() else { return };
            meta
        }
    };
    meta.insert(key.to_owned(), Value::Object(marker));
}

/// Removes the marker `key` of `holder` and restores what it replaced.
pub(crate) fn take(holder: &mut Map<String, Value>, key: &str) {
    let Some(Value::Object(meta)) = holder.get_mut(META) else { return };
    let Some(Value::Object(mut marker)) = meta.get(key).cloned() else { return };
    let mut was = marker.remove("was");
    if let Some(was) = was.as_mut().and_then(|was| was.get_mut(key)) {
        meta.insert(key.to_owned(), was.take());
        return;
    }
    if let Some(was) = was.as_mut().and_then(|was| was.get_mut(META)) {
        holder.insert(META.to_owned(), was.take());
        return;
    }
    meta.shift_remove(key);
    if meta.is_empty() && !marker.contains_key("kept") {
        holder.shift_remove(META);
    }
}

/// Removes a marker that `holder` should not carry, without restoring anything.
pub(crate) fn remove(holder: &mut Map<String, Value>) {
    let Some(Value::Object(meta)) = holder.get_mut(META) else { return };
    meta.shift_remove(MARKER);
    if meta.is_empty() {
        holder.shift_remove(META);
    }
}
