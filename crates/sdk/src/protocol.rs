//! The protocol revision of a request, as `rmcp` reports it.

use rmcp::{RoleServer, service::RequestContext};
use serde_json::Value;
use toolpact_contract::Revision;

/// Where a request names its revision.
const VERSION: &str = "io.modelcontextprotocol/protocolVersion";

/// The revision that the request of `context` speaks: its own `_meta`, else what its session or its
/// `MCP-Protocol-Version` header agreed on; legacy where there is none.
///
/// What [`RequestContext::protocol_version`] says, without a copy.
pub(crate) fn revision_of(context: &RequestContext<RoleServer>) -> Revision {
    if let Some(name) = context.meta.get(VERSION).and_then(Value::as_str) {
        return Revision::from(name);
    }
    let info = context.peer.peer_info();
    Revision::named(info.as_ref().map(|info| info.protocol_version.as_str()))
}
