//! Calling tools of a server after they were listed.

use std::time::Duration;

use serde_json::{Value, json};
use tokio::time::timeout;

use super::server::{CallError, LiveServer, ToolsError, ask};

/// The most characters that are shown of a tool error.
const MAX_SHOWN: usize = 200;

/// Calls to make after the tools are listed.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct Calls {
    /// Tools and their arguments.
    pub calls: Vec<(String, Value)>,
    /// Whether to call tools that do not say `readOnlyHint: true`.
    pub allows_writing: bool,
    /// How long each call may take.
    pub timeout: Duration,
    /// How long a process may take for each answer, if that is limited. Its list may take twice as long in all.
    pub answer_within: Option<Duration>,
    /// Whether the list is fetched only once.
    pub lists_once: bool,
}

/// Makes `calls` one after the other, all or none of them allowed by what `list` says, and returns their results.
pub(super) async fn call(
    peer: &mut impl LiveServer,
    asked: &mut i64,
    meta: Option<&Value>,
    list: &Value,
    calls: &Calls,
) -> Result<Vec<(String, Value)>, ToolsError> {
    let failed = |name: &str, error| ToolsError::Call { tool: name.to_owned(), error };
    let tools = list["tools"].as_array().map_or(&[][..], Vec::as_slice);
    let mut found = Vec::new();
    for (name, arguments) in &calls.calls {
        let tool = tools.iter().find(|tool| tool["name"] == name.as_str());
        let tool = tool.ok_or_else(|| failed(name, CallError::Unlisted))?;
        if !calls.allows_writing && tool["annotations"]["readOnlyHint"] != true {
            return Err(failed(name, CallError::MayWrite));
        }
        found.push((name, arguments, &tool["inputSchema"]));
    }
    let mut results = Vec::new();
    for (name, arguments, schema) in found {
        peer.set_call(name, arguments, schema);
        let mut params = json!({ "name": name, "arguments": arguments });
        if let Some(meta) = meta {
            params["_meta"] = meta.clone();
        }
        let seconds = calls.timeout.as_secs();
        let result = timeout(calls.timeout, ask(peer, asked, "tools/call", params))
            .await
            .map_err(|_| failed(name, CallError::Silent(seconds)))?
            .map_err(|error| failed(name, CallError::Refused(Box::new(error))))?;
        check_final(&result).map_err(|error| failed(name, error))?;
        results.push((name.clone(), result));
    }
    Ok(results)
}

/// Fails if the output schema does not apply to `result`: it is an error, or not the last result of the call.
fn check_final(result: &Value) -> Result<(), CallError> {
    if result["isError"] == true {
        let text = result["content"][0]["text"].as_str().unwrap_or("it does not say why");
        return Err(CallError::ToolError(text.chars().take(MAX_SHOWN).collect()));
    }
    if result.get("structuredContent").is_some() {
        return Ok(());
    }
    match result["resultType"].as_str() {
        Some(kind @ ("input_required" | "task")) => Err(CallError::NotFinal(kind.to_owned())),
        _ if result["content"].is_null() && result["task"].is_object() => {
            Err(CallError::NotFinal("task".to_owned()))
        }
        _ => Ok(()),
    }
}
