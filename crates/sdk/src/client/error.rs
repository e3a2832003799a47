//! Why a call failed.

use std::time::Duration;

use rmcp::{model::CallToolResult, service::ServiceError};

use crate::check::Stopped;

/// Why a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The server lists no such tool, or none that can be used.
    #[error("no usable tool `{tool}`")]
    UnknownTool {
        /// The name.
        tool: String,
    },
    /// The arguments cannot be written as JSON.
    #[error("tool `{tool}`: the arguments cannot be written as JSON")]
    Arguments {
        /// The tool.
        tool: String,
        /// Why not.
        source: serde_json::Error,
    },
    /// The arguments break the input schema; nothing was sent.
    #[error("{problem}")]
    InvalidArguments {
        /// Which tool, and each violation on a line.
        problem: String,
    },
    /// The result breaks the output schema, or could not be checked within the limits.
    #[error("{problem}")]
    InvalidResult {
        /// Which tool, and each violation on a line.
        problem: String,
    },
    /// The tool answered with an error.
    #[error("tool `{tool}`: {message}")]
    Tool {
        /// The tool.
        tool: String,
        /// Its text.
        message: String,
        /// All of the answer. Details, such as those of a [`ToolError`](crate::ToolError), are its structured
        /// content.
        result: Box<CallToolResult>,
    },
    /// The result is neither structured content nor one text.
    #[error("tool `{tool}`: expected structured content or one text, found other content")]
    Content {
        /// The tool.
        tool: String,
        /// All of the answer.
        result: Box<CallToolResult>,
    },
    /// The result is of another type than the caller asked for.
    #[error("tool `{tool}`: the result is of another type")]
    Type {
        /// The tool.
        tool: String,
        /// What is different.
        source: serde_json::Error,
    },
    /// The list of tools does not end.
    #[error("the list of tools goes on after {limit} pages")]
    TooManyPages {
        /// The limit.
        limit: usize,
    },
    /// The list of tools is too long.
    #[error("{found} tools exceed the limit of {limit}")]
    TooManyTools {
        /// How many there are, so far.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// The server did not answer in time; it was told that nobody waits any more.
    #[error("no answer within {limit:?}")]
    Timeout {
        /// The limit, set with [`Client::timeout`](crate::Client::timeout).
        limit: Duration,
    },
    /// The server did not answer, or answered with an error.
    #[error("the server did not answer as expected")]
    Service(#[from] Box<ServiceError>),
    /// The runtime is shutting down.
    #[error("the runtime is shutting down")]
    Stopped,
}

impl From<Stopped> for ClientError {
    fn from(_: Stopped) -> Self {
        Self::Stopped
    }
}
