//! Messages, heads and sessions of both revisions, as a test sends them over HTTP.

use std::fmt::Write as _;

use serde_json::{Value, json};

use crate::http::{ask, body};

/// The head of a request of 2025-11-25 to `/mcp` outside of a session.
pub const POST: &str = "POST /mcp HTTP/1.1\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: 2025-11-25";

/// A request that every server answers before 2026-07-28.
pub const PING: &str = r#"{"jsonrpc":"2.0","id":99,"method":"ping"}"#;

/// The notification after a handshake.
pub const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A request without parameters.
pub fn request(id: usize, method: &str) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method }).to_string()
}

/// A call of a tool.
pub fn call(id: u32, name: &str, arguments: &Value) -> String {
    let params = json!({ "name": name, "arguments": arguments });
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": params }).to_string()
}

/// A handshake.
pub fn initialize(revision: &str, capabilities: &Value) -> String {
    let client = json!({ "name": "test", "version": "1" });
    let params =
        json!({ "protocolVersion": revision, "capabilities": capabilities, "clientInfo": client });
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": params }).to_string()
}

/// The URL of a server on this port.
pub fn url(port: u16) -> String {
    format!("http://127.0.0.1:{port}/mcp")
}

/// The head of a POST to `path`, with `more` headers, each after `\r\n`.
pub fn post(path: &str, more: &str) -> String {
    format!("POST {path} HTTP/1.1\r\naccept: application/json, text/event-stream{more}")
}

/// The head and the body of `message` as a request of 2026-07-28 to `path`.
pub fn modern(path: &str, message: &str) -> (String, String) {
    let mut message: Value = serde_json::from_str(message).unwrap();
    let meta = &mut message["params"]["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    if meta.get("io.modelcontextprotocol/clientCapabilities").is_none() {
        meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    }
    let method = message["method"].as_str().unwrap();
    let mut more = format!("\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: {method}");
    if let Some(name) = message["params"]["name"].as_str() {
        write!(more, "\r\nmcp-name: {name}").unwrap();
    }
    (post(path, &more), message.to_string())
}

/// The answer to `message` as a request of 2026-07-28 to `path`.
pub fn ask_modern(port: u16, path: &str, message: &str) -> String {
    let (head, body) = modern(path, message);
    ask(port, &head, &body)
}

/// Opens a session of 2025-11-25 at `path`, and returns the head of the requests in it.
#[track_caller]
pub fn open(port: u16, path: &str) -> String {
    let answer = ask(port, &post(path, ""), &initialize("2025-11-25", &json!({})));
    assert!(body(&answer)["result"]["serverInfo"].is_object(), "{answer}");
    let id = answer.split("mcp-session-id: ").nth(1).unwrap_or_else(|| panic!("{answer}"));
    post(path, &format!("\r\nmcp-session-id: {}", id.split("\r\n").next().unwrap()))
}
