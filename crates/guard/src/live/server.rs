//! Asking a live server, over any transport, and why that fails.

use std::io;

use serde_json::{Value, json};

use crate::back::child::SAYS;
use toolbond_guard_core::conversation::MAX_PAGES;
use toolbond_guard_core::message::Id;

/// The most tools of a list, as in front of a server on HTTP.
pub(super) const MAX_TOOLS: usize = 10_000;

/// The most bytes of a list.
pub(super) const MAX_LIST: usize = 16 << 20;

/// Why the tools of a server cannot be fetched.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ToolsError {
    /// The server cannot be written to or read from.
    #[error("the connection to the server failed")]
    Io(#[from] io::Error),
    /// The server cannot be reached.
    #[error("{0}")]
    Unreached(String),
    /// The server answered with something other than a message.
    #[error("the server answered `{method}` with {status} and no message")]
    Status {
        /// The method of the request.
        method: &'static str,
        /// The status of the response.
        status: hyper::StatusCode,
    },
    /// The server ended.
    #[error("the server ended before it answered `{method}`{}", how.as_ref().map_or_else(String::new, |how| format!(": {how}")))]
    Ended {
        /// The method of the request.
        method: &'static str,
        /// Its exit status, and what it said last on standard error.
        how: Option<String>,
    },
    /// The server did not answer in time.
    #[error("the server did not answer `{method}` within {seconds} s{}", noise.as_ref().map_or_else(String::new, |line| format!("; it printed a line that is no message: {line}")))]
    Silent {
        /// The method of the request.
        method: &'static str,
        /// How long it could take.
        seconds: u64,
        /// The first line that it printed and that is no message.
        noise: Option<String>,
    },
    /// The server does not read what it is sent.
    #[error("the server did not read its input for {seconds} s")]
    Unread {
        /// How long it could take.
        seconds: u64,
    },
    /// The server answers, but its list takes too long.
    #[error("the server did not finish its list of tools within {seconds} s")]
    Slow {
        /// How long all of it could take.
        seconds: u64,
    },
    /// The server answered with an error.
    #[error("the server refused `{method}`: {error}")]
    Refused {
        /// The method of the request.
        method: &'static str,
        /// The error, as JSON.
        error: String,
    },
    /// The list does not end.
    #[error("expected at most {MAX_PAGES} pages of tools, each with another cursor")]
    Endless,
    /// The list is too long.
    #[error("expected at most {MAX_TOOLS} tools with {MAX_LIST} bytes in all")]
    TooLong,
    /// A call has no result that can be checked.
    #[error("`{tool}`: {error}")]
    Call {
        /// The tool.
        tool: String,
        /// Why.
        error: CallError,
    },
    /// A signal ended this process.
    #[error("interrupted by a signal")]
    Interrupted {
        /// 128 plus the number of the signal.
        code: u8,
    },
}

impl ToolsError {
    /// What it quotes of the server.
    pub fn quote_mut(&mut self) -> Option<&mut String> {
        match self {
            Self::Ended { how, .. } => how.as_mut(),
            Self::Silent { noise, .. } => noise.as_mut(),
            Self::Refused { error, .. } | Self::Unreached(error) => Some(error),
            _ => None,
        }
    }

    /// The same, where the server ended: `how` says with which status, and what it wrote last.
    pub(super) fn with_end(self, how: impl FnOnce() -> String) -> Self {
        match self {
            Self::Ended { method, .. } => Self::Ended { method, how: Some(how()) },
            Self::Call { tool, error: CallError::Refused(error) } => {
                let error = CallError::Refused(Box::new(error.with_end(how)));
                Self::Call { tool, error }
            }
            other => other,
        }
    }

    /// Whether the server may have ended because of `initialize`, which servers of 2026-07-28 do not know: it says so, or
    /// nothing. Some refuse it and then end.
    #[must_use]
    pub fn may_want_modern(&self) -> bool {
        let Self::Ended { method: method @ ("initialize" | "tools/list"), how } = self else {
            return false;
        };
        let how = how.as_deref().unwrap_or_default().to_ascii_lowercase();
        let is_silent = *method == "initialize" && !how.contains(SAYS);
        is_silent || ["initialize", "protocol", "server/discover"].iter().any(|it| how.contains(it))
    }
}

/// A server that can be asked.
pub(super) trait LiveServer {
    /// Sends a request with this `id` and returns the message that answers it. Refuses requests of the
    /// server meanwhile.
    async fn ask(
        &mut self,
        method: &'static str,
        id: &Id,
        request: &Value,
    ) -> Result<Value, ToolsError>;

    /// Sends a notification.
    async fn notify(&mut self, notification: &Value) -> Result<(), ToolsError>;

    /// Prepares for a call of `tool`, whose input schema this is.
    fn set_call(&mut self, _tool: &str, _arguments: &Value, _schema: &Value) {}

    /// Uses this revision from now on.
    fn set_revision(&mut self, _revision: &str) {}
}

/// Why a call has no result.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CallError {
    /// The server does not list the tool.
    #[error("the server does not list this tool")]
    Unlisted,
    /// The tool may change something.
    #[error("the tool does not say `readOnlyHint: true`; `--yes` calls it")]
    MayWrite,
    /// The server did not answer.
    #[error("no result within {0} s")]
    Silent(u64),
    /// The server cannot be reached, or it refused the call.
    #[error("{0}")]
    Refused(Box<ToolsError>),
    /// The result is a tool error.
    #[error("the tool failed: {0}")]
    ToolError(String),
    /// The result is still to come.
    #[error("expected a final result, found `{0}`")]
    NotFinal(String),
}

/// Sends a request, whose id is one more than `asked`, and returns its result.
pub(super) async fn ask(
    peer: &mut impl LiveServer,
    asked: &mut i64,
    method: &'static str,
    params: Value,
) -> Result<Value, ToolsError> {
    *asked += 1;
    let id = Id::Integer(*asked);
    let request = json!({ "jsonrpc": "2.0", "id": *asked, "method": method, "params": params });
    let mut answer = peer.ask(method, &id, &request).await?;
    match answer.get_mut("result") {
        Some(result) => Ok(result.take()),
        None => {
            let error = answer["error"].to_string().chars().take(200).collect();
            Err(ToolsError::Refused { method, error })
        }
    }
}
