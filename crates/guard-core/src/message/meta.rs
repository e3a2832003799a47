//! The members of `_meta` that say what a modern request is about.

use serde_json::Value;

use crate::json::object::Object;

pub const VERSION: &str = "io.modelcontextprotocol/protocolVersion";
pub const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";
pub const CAPABILITIES: &str = "io.modelcontextprotocol/clientCapabilities";
/// The extension of 2026-07-28 by which a call becomes a task, among the capabilities of clients and servers.
pub const TASKS: &str = "io.modelcontextprotocol/tasks";
pub const LOG_LEVEL: &str = "io.modelcontextprotocol/logLevel";
pub const SERVER_INFO: &str = "io.modelcontextprotocol/serverInfo";
pub const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The `_meta` of a request in the name of a client whose own `_meta` is `client`: what it says of itself, as far as that
/// has the form that the protocol asks for.
pub fn on_behalf_of(client: &Object, version: &str) -> String {
    let mut meta = Object::default();
    meta.set(VERSION, Value::from(version).to_string());
    if let Some(info) = client.get(CLIENT_INFO).filter(|info| is_info(info)).cloned() {
        meta.set(CLIENT_INFO, info);
    }
    meta.set(CAPABILITIES, client.object(CAPABILITIES).to_string());
    meta.to_string()
}

/// Whether `text` names a program and its version.
pub fn is_info(text: &str) -> bool {
    let info = Object::copied(text);
    info.string("name").is_some() && info.string("version").is_some()
}
