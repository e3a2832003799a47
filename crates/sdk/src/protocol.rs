//! Who sent a request: its protocol revision, and the name of its client.

use rmcp::{RoleServer, service::RequestContext};
use serde_json::Value;
use toolbond_contract::Revision;

/// The `_meta` member that names the revision of a request.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The `_meta` member that says who the client of a request is.
const CLIENT_INFO: &str = "io.modelcontextprotocol/clientInfo";

/// Returns the name of the client of a request: from its own `_meta`, else from `initialize`.
pub(crate) fn request_client(context: &RequestContext<RoleServer>) -> Option<String> {
    let own = context.meta.get(CLIENT_INFO).and_then(|info| info.get("name")?.as_str());
    own.map(str::to_owned).or_else(|| Some(context.peer.peer_info()?.client_info.name.clone()))
}

/// Returns the revision of a request: from its own `_meta`, else the one that its session or its
/// `MCP-Protocol-Version` header agreed on, else a legacy one.
///
/// The same as [`RequestContext::protocol_version`], without a copy.
pub(crate) fn request_revision(context: &RequestContext<RoleServer>) -> Revision {
    if let Some(name) = context.meta.get(VERSION).and_then(Value::as_str) {
        return Revision::from(name);
    }
    let info = context.peer.peer_info();
    Revision::named(info.as_ref().map(|info| info.protocol_version.as_str()))
}
