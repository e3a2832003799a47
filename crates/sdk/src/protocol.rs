//! The protocol revision of a request, as `rmcp` reports it.

use rmcp::{RoleServer, service::RequestContext};
use toolpact_contract::Revision;

/// The revision that the request of `context` speaks: its own `_meta`, else what its session or its
/// `MCP-Protocol-Version` header agreed on; legacy where there is none.
pub(crate) fn revision_of(context: &RequestContext<RoleServer>) -> Revision {
    let version = context.protocol_version();
    Revision::named(version.as_ref().map(rmcp::model::ProtocolVersion::as_str))
}
