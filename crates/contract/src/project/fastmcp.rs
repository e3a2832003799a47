//! The markers that `FastMCP` puts on wrapped results.

use serde_json::{Map, Value};

const META: &str = "_meta";
const FASTMCP: &str = "fastmcp";
const WRAPPED: &str = "wrap_result";

/// Whether `FastMCP` says that the structured content of `result` is in an envelope.
pub(crate) fn marks(result: &Map<String, Value>) -> bool {
    result
        .get(META)
        .and_then(|meta| meta.get(FASTMCP)?.get(WRAPPED))
        .is_some_and(|wrapped| *wrapped == Value::Bool(true))
}

/// Removes the marker and the objects that contained nothing else. A `FastMCP` client that still found it would unwrap
/// a value that is no longer wrapped.
pub(crate) fn unmark(result: &mut Map<String, Value>) {
    let Some(Value::Object(meta)) = result.get_mut(META) else { return };
    let Some(Value::Object(fastmcp)) = meta.get_mut(FASTMCP) else { return };
    fastmcp.shift_remove(WRAPPED);
    if fastmcp.is_empty() {
        meta.shift_remove(FASTMCP);
        if meta.is_empty() {
            result.shift_remove(META);
        }
    }
}
