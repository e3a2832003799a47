//! Messages that the guard writes itself.

use serde_json::Value;

use super::id::Id;
use crate::json::members::members;

/// The codes of JSON-RPC that the guard answers with.
pub mod code {
    /// Not JSON.
    pub const PARSE: i32 = -32700;
    /// Not a request.
    pub const REQUEST: i32 = -32600;
    /// Wrong parameters, and in MCP an unknown tool.
    pub const PARAMS: i32 = -32602;
    /// The server failed.
    pub const INTERNAL: i32 = -32603;
    /// No such method.
    pub const METHOD: i32 = -32601;
    /// The headers of a request contradict its body, or are missing.
    pub const HEADER_MISMATCH: i32 = -32020;
    /// The request needs a capability that the client did not declare.
    pub const CAPABILITY: i32 = -32021;
    /// The protocol version is not supported.
    pub const VERSION: i32 = -32022;
    /// 2025-11-25 and earlier: no such resource.
    pub const NO_RESOURCE: i32 = -32002;
    /// 2025-11-25: the user has to visit a URL first.
    pub const URL_ELICITATION: i32 = -32042;
}

/// A response to the request `id` with `result`, which is JSON.
pub fn response(id: &Id, result: &str) -> Vec<u8> {
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}").into_bytes()
}

/// An error response; without an `id`, to no request in particular.
pub fn error(id: Option<&Id>, code: i32, message: &str) -> Vec<u8> {
    error_response(id, &error_object(code, message, None))
}

/// An error response with `data`.
pub fn error_with_data(id: Option<&Id>, code: i32, message: &str, data: &Value) -> Vec<u8> {
    error_response(id, &error_object(code, message, Some(data)))
}

fn error_response(id: Option<&Id>, error: &str) -> Vec<u8> {
    let id = id.map_or_else(|| "null".to_owned(), ToString::to_string);
    format!("{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{error}}}").into_bytes()
}

/// An error object.
pub fn error_object(code: i32, message: &str, data: Option<&Value>) -> String {
    let message = Value::from(message);
    let data = data.map_or_else(String::new, |data| format!(",\"data\":{data}"));
    format!("{{\"code\":{code},\"message\":{message}{data}}}")
}

/// The code of the error response `text`.
pub fn error_code(text: &str) -> Option<i32> {
    let [error] = members(text, ["error"]).ok()?;
    error_object_code(error?)
}

/// The code of an error object.
pub fn error_object_code(error: &str) -> Option<i32> {
    let [code] = members(error, ["code"]).ok()?;
    code?.parse().ok()
}

/// The message of an error object.
pub fn error_message(error: &str) -> Option<String> {
    let [message] = members(error, ["message"]).ok()?;
    serde_json::from_str(message?).ok()
}
