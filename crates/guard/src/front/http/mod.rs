//! Clients on HTTP: listening, the hosts to answer to, and what 2026-07-28 asks of headers.

mod hosts;
mod listen;
pub(crate) mod modern;

use hyper::HeaderMap;
use toolbond_contract::Revision;

pub use self::hosts::Hosts;
pub(crate) use self::listen::listen;

/// The protocol revision that the headers of a request name.
pub(crate) fn named_revision(headers: &HeaderMap) -> Option<Revision> {
    let named = headers.get("mcp-protocol-version").and_then(|value| value.to_str().ok());
    named.map(Revision::from)
}
