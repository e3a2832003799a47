//! `tool-name`.

use serde_json::{Map, Value};
use toolbond_schema::Pointer;

use crate::json_type::kind;

declare_rule! {
    /// The name of a tool is missing, empty or not a string.
    ///
    /// ## What it does
    ///
    /// Drops tools whose `name` is missing, empty or not a string.
    ///
    /// ## Why is this bad
    ///
    /// A call selects a tool by name. Without a name it cannot be called, and clients that parse the list as
    /// a whole lose every tool in it.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "title": "Search", "inputSchema": { "type": "object" } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "name": "search", "title": "Search", "inputSchema": { "type": "object" } }
    /// ```
    pub TOOL_NAME = "tool-name", Error
}

/// Returns the name of `tool`, or the place and the description of what is wrong with it.
pub(crate) fn check(tool: &Map<String, Value>) -> Result<&str, (Pointer, String)> {
    let message = match tool.get("name") {
        Some(Value::String(name)) if !name.is_empty() => return Ok(name),
        Some(Value::String(_)) => "expected a name, found an empty string".to_owned(),
        Some(other) => format!("expected a name (a string), found {}", kind(other)),
        None => {
            return Err((Pointer::root(), "missing required member `name`".to_owned()));
        }
    };
    Err((Pointer::root().join("name"), message))
}
