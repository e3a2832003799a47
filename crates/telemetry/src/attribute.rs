//! The names of attributes.

use toolbond_contract::{Outcome, Side, judge::CallCheck};

/// Of the semantic conventions for MCP.
pub(crate) const METHOD: &str = "mcp.method.name";
pub(crate) const REVISION: &str = "mcp.protocol.version";
pub(crate) const SESSION: &str = "mcp.session.id";
pub(crate) const OPERATION: &str = "gen_ai.operation.name";
pub(crate) const TOOL: &str = "gen_ai.tool.name";
pub(crate) const ARGUMENTS: &str = "gen_ai.tool.call.arguments";
pub(crate) const RESULT: &str = "gen_ai.tool.call.result";
pub(crate) const REQUEST_ID: &str = "jsonrpc.request.id";
pub(crate) const STATUS_CODE: &str = "rpc.response.status_code";
pub(crate) const ERROR_TYPE: &str = "error.type";
pub(crate) const TRANSPORT: &str = "network.transport";

/// Our own, about a call.
pub(crate) const SERVER: &str = "toolbond.server.name";
pub(crate) const REFUSED: &str = "toolbond.arguments.refused";
pub(crate) const WITHHELD: &str = "toolbond.result.withheld";
pub(crate) const PROJECTED: &str = "toolbond.result.projected";
pub(crate) const RULES: &str = "toolbond.rules";

/// Our own, about a check.
pub(crate) const SIDE: &str = "toolbond.side";
pub(crate) const VERDICT: &str = "toolbond.verdict";

/// Our own, about a finding.
pub(crate) const RULE: &str = "toolbond.rule";
pub(crate) const SEVERITY: &str = "toolbond.severity";
pub(crate) const POINTER: &str = "toolbond.pointer";
pub(crate) const MESSAGE: &str = "toolbond.message";
pub(crate) const ACTION: &str = "toolbond.action";

/// Our own, about exporting.
pub(crate) const SIGNAL: &str = "toolbond.signal";

/// The most characters of a name, an id or a pointer that are exported.
pub(crate) const MAX_NAME: usize = 200;

/// The most characters of a message that are exported.
pub(crate) const MAX_MESSAGE: usize = 1000;

/// The first `max` characters of `text`.
pub(crate) fn shorten(text: &str, max: usize) -> String {
    match text.char_indices().nth(max) {
        Some((end, _)) => format!("{}…", &text[..end]),
        None => text.to_owned(),
    }
}

/// The value for what was checked.
pub(crate) fn side(check: &CallCheck) -> &'static str {
    if check.side == Side::Result { "result" } else { "arguments" }
}

/// The value for what a check found.
pub(crate) fn verdict(check: &CallCheck) -> &'static str {
    match check.outcome {
        Outcome::Valid => "valid",
        Outcome::Repaired => "repaired",
        Outcome::Invalid => "invalid",
        Outcome::Unfinished => "unfinished",
        _ => "unchecked",
    }
}
