//! Finds the tools or the result in a document.

use serde_json::Value;

/// The content of a document.
pub(crate) enum Shape<'a> {
    /// A list of tools.
    Tools(&'a mut Vec<Value>),
    /// One tool.
    Tool(&'a mut Value),
    /// The result of a call.
    Result(&'a mut Value),
}

impl<'a> Shape<'a> {
    /// Finds the content of `document`: a `tools/list` or `tools/call` result, a JSON-RPC response with one, an array of
    /// tools, or one tool.
    pub(crate) fn find(document: &'a mut Value) -> Option<Self> {
        let has =
            |value: &Value, names: &[&str]| names.iter().any(|name| value.get(name).is_some());
        let is_response = has(document, &["jsonrpc"]) || !has(document, &["tools", "inputSchema"]);
        let here = if is_response && has(document, &["result"]) {
            &mut document["result"]
        } else {
            document
        };
        if has(here, &["tools"]) {
            return here["tools"].as_array_mut().map(Self::Tools);
        }
        if has(here, &["content", "structuredContent", "isError"]) {
            return Some(Self::Result(here));
        }
        if has(here, &["inputSchema", "outputSchema"]) {
            return Some(Self::Tool(here));
        }
        here.as_array_mut().map(Self::Tools)
    }
}
