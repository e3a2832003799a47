//! What clients of both revisions say.

use serde_json::json;
use toolbond_harness::mcp::initialize;

/// How a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// 2026-07-28: every request says who asks.
    Modern,
    /// 2025-11-25: requests after a handshake.
    Legacy,
}

/// What every request of 2026-07-28 says.
const META: &str = concat!(
    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientInfo":{"name":"bench","version":"1"},"#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}"#
);

impl Era {
    /// The protocol revision.
    pub(crate) const fn revision(self) -> &'static str {
        match self {
            Self::Modern => "2026-07-28",
            Self::Legacy => "2025-11-25",
        }
    }

    /// What a client says first, where there is a handshake.
    pub(crate) fn hello(self) -> Option<String> {
        (self == Self::Legacy).then(|| initialize(self.revision(), &json!({})))
    }

    /// A call of `tool`.
    pub(crate) fn call(self, id: usize, tool: &str, arguments: &str) -> String {
        let (comma, meta) = if self == Self::Modern { (",", META) } else { ("", "") };
        format!(
            r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"{tool}","arguments":{arguments}{comma}{meta}}}}}"#
        )
    }
}

/// A request of 2026-07-28 for the tool list.
pub(crate) fn list() -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{{{META}}}}}"#)
}

/// Arguments that `forecast` and `report` take as they are.
pub(crate) const VALID: &str = r#"{"city":"Zürich","hours":20}"#;

/// Arguments that are valid after one repair.
pub(crate) const REPAIRABLE: &str = r#"{"city":"Zürich","hours":"20"}"#;
