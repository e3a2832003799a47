//! Errors of a client.

use std::time::Duration;

use rmcp::{
    model::CallToolResult,
    service::{ClientInitializeError, ServiceError},
};

use crate::check::RuntimeStopped;
#[cfg(feature = "otel")]
use crate::trace::Failure;

/// Why connecting or a call failed.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ClientError {
    /// The handshake with the server failed.
    #[error("could not connect to the server")]
    Connect(#[source] Box<ClientInitializeError>),
    /// The server lists no such tool, or the tool cannot be used.
    #[error("no usable tool `{tool}`")]
    UnknownTool {
        /// The name of the tool.
        tool: String,
    },
    /// The arguments cannot be serialized.
    #[error("tool `{tool}`: could not serialize the arguments")]
    Arguments {
        /// The name of the tool.
        tool: String,
        /// The error of `serde`.
        source: serde_json::Error,
    },
    /// The arguments break the input schema. Nothing was sent.
    #[error("{problem}")]
    InvalidArguments {
        /// The tool, and one violation per line.
        problem: String,
    },
    /// The result breaks the output schema, or its validation exceeded the limits.
    #[error("{problem}")]
    InvalidResult {
        /// The tool, and one violation per line.
        problem: String,
    },
    /// The tool answered with an error.
    #[error("tool `{tool}`: {message}")]
    Tool {
        /// The name of the tool.
        tool: String,
        /// The text of the error.
        message: String,
        /// The whole answer. Details, such as those of a [`ToolError`](crate::ToolError), are its structured content.
        result: Box<CallToolResult>,
    },
    /// The result is neither structured content nor a single text.
    #[error("tool `{tool}`: expected structured content or one text, found other content")]
    Content {
        /// The name of the tool.
        tool: String,
        /// The whole answer.
        result: Box<CallToolResult>,
    },
    /// The result does not have the type that the caller asked for.
    #[error("tool `{tool}`: expected `{expected}`, found {found}")]
    Type {
        /// The name of the tool.
        tool: String,
        /// The type that the caller asked for.
        expected: &'static str,
        /// The value, shortened.
        found: String,
        /// The error of `serde`.
        source: serde_json::Error,
    },
    /// The tool list has too many pages.
    #[error("the tool list has more than {limit} pages")]
    TooManyPages {
        /// The limit.
        limit: usize,
    },
    /// The tool list is too long.
    #[error("{found} tools exceed the limit of {limit}")]
    TooManyTools {
        /// The number of tools read so far.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// The server did not answer in time. The request was cancelled.
    #[error("no answer within {limit:?}")]
    Timeout {
        /// The limit, set with [`ClientOptions::timeout`](crate::ClientOptions::timeout).
        limit: Duration,
    },
    /// The server answered with a protocol error, or the connection failed.
    #[error("the request failed")]
    Service(#[from] Box<ServiceError>),
    /// The runtime is shutting down.
    #[error("the runtime is shutting down")]
    Stopped,
}

impl From<RuntimeStopped> for ClientError {
    fn from(_: RuntimeStopped) -> Self {
        Self::Stopped
    }
}

#[cfg(feature = "otel")]
impl ClientError {
    /// What the span of the call says.
    pub(super) fn failure(&self) -> Failure {
        match self {
            Self::Tool { .. } => Failure::Tool,
            Self::Service(error) => match &**error {
                ServiceError::McpError(error) => Failure::Server(error.code.0.into()),
                _ => Failure::Other("connection"),
            },
            Self::Timeout { .. } => Failure::Other("timeout"),
            Self::UnknownTool { .. } => Failure::Other("unknown_tool"),
            Self::InvalidArguments { .. } | Self::Arguments { .. } => {
                Failure::Other("invalid_arguments")
            }
            Self::InvalidResult { .. } => Failure::Other("invalid_result"),
            _ => Failure::Other("_OTHER"),
        }
    }
}
