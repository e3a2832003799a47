//! Answers to agentgateway.

use serde_json::{Value, json};

use super::wire::{AuthorizationError, Code, Pass, Verdict};
use crate::http::body::BodyError;
use crate::message::code;
use crate::proxy::{Answer, Unread};

/// Lets a message go on as it is.
pub(super) fn pass() -> Verdict {
    Verdict::Pass(Pass {})
}

/// Refuses a message for this reason.
pub(super) fn refusal(code: Code, reason: &str) -> Verdict {
    let rpc = match code {
        Code::Invalid => code::REQUEST,
        _ => code::INTERNAL,
    };
    error(code, reason, &json!({ "code": rpc, "message": reason }))
}

fn error(code: Code, reason: &str, mcp_error: &Value) -> Verdict {
    Verdict::Error(AuthorizationError {
        code: code.into(),
        reason: reason.to_owned(),
        mcp_error: Some(mcp_error.to_string().into()),
    })
}

/// Refuses `what`, which could not be checked.
pub(super) fn failure(unread: &Unread, what: &str) -> Verdict {
    let code = match unread {
        Unread::Body(BodyError::NoMemory(_)) => Code::ResourceExhausted,
        Unread::Body(_) | Unread::Json(_) => Code::Invalid,
        Unread::Failed => Code::Unknown,
    };
    refusal(code, &format!("could not check {what}: {unread}"))
}

/// What the client gets of a checked result.
pub(super) fn verdict(checked: Option<Answer>) -> Verdict {
    match checked {
        None => pass(),
        Some(Answer::Result(result)) => Verdict::Mutated(result),
        Some(refused @ Answer::Error(_)) => answered(refused),
    }
}

/// Refuses a call with `answer`.
///
/// The interface has no way to answer a call with a result. So the text of a tool error, which a model can act on, is the
/// reason, and the tool error is the data of the JSON-RPC error.
pub(super) fn answered(answer: Answer) -> Verdict {
    match answer {
        Answer::Result(result) => {
            let result: Value = serde_json::from_slice(&result).unwrap_or_default();
            let blocks = result["content"].as_array().into_iter().flatten();
            let texts: Vec<_> = blocks.filter_map(|block| block["text"].as_str()).collect();
            let reason = texts.join("\n");
            let mcp = json!({ "code": code::PARAMS, "message": reason, "data": result });
            error(Code::Invalid, &reason, &mcp)
        }
        Answer::Error(bytes) => {
            let mcp: Value = serde_json::from_slice(&bytes).unwrap_or_default();
            let reason = mcp["message"].as_str().unwrap_or("refused");
            let is_internal = mcp["code"] == code::INTERNAL;
            error(if is_internal { Code::Unknown } else { Code::Invalid }, reason, &mcp)
        }
    }
}
