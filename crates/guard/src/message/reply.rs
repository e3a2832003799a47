//! Messages that the guard writes itself.

use super::Id;

/// The codes of JSON-RPC that the guard answers with.
pub(crate) mod code {
    /// Not JSON.
    pub(crate) const PARSE: i32 = -32700;
    /// Not a request.
    pub(crate) const REQUEST: i32 = -32600;
    /// Wrong parameters, and in MCP an unknown tool.
    pub(crate) const PARAMS: i32 = -32602;
    /// The server failed.
    pub(crate) const INTERNAL: i32 = -32603;
}

/// A response to the request `id` with `result`, which is JSON.
pub(crate) fn response(id: &Id, result: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}").into_bytes()
}

/// An error response; without an `id`, to no request in particular.
pub(crate) fn error(id: Option<&Id>, code: i32, message: &str) -> Vec<u8> {
    let id = id.map_or_else(|| "null".to_owned(), ToString::to_string);
    let message = serde_json::Value::from(message);
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":{code},\"message\":{message}}}}}"
    )
    .into_bytes()
}
