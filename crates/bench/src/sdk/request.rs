//! Requests of each era, as text.

use serde_json::{Value, json};

/// How a client speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Era {
    /// 2025-11-25: `initialize`, then requests.
    Legacy,
    /// 2026-07-28: every request says who asks.
    Modern,
}

impl Era {
    pub(crate) const ALL: [Self; 2] = [Self::Modern, Self::Legacy];

    /// The protocol revision.
    pub(crate) const fn revision(self) -> &'static str {
        match self {
            Self::Legacy => "2025-11-25",
            Self::Modern => "2026-07-28",
        }
    }

    /// What a connection says before its calls.
    pub(crate) fn hello(self) -> Vec<Value> {
        match self {
            Self::Legacy => vec![
                json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
                    "protocolVersion": self.revision(),
                    "capabilities": {},
                    "clientInfo": { "name": "bench", "version": "1" }
                } }),
                json!({ "jsonrpc": "2.0", "method": "notifications/initialized" }),
            ],
            Self::Modern => Vec::new(),
        }
    }

    /// A call of `tool`.
    pub(crate) fn call(self, tool: &str) -> String {
        let mut params = json!({ "name": tool, "arguments": {} });
        if self == Self::Modern {
            params["_meta"] = json!({
                "io.modelcontextprotocol/protocolVersion": self.revision(),
                "io.modelcontextprotocol/clientInfo": { "name": "bench", "version": "1" },
                "io.modelcontextprotocol/clientCapabilities": {}
            });
        }
        json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call", "params": params }).to_string()
    }
}
