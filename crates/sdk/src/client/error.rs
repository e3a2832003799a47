//! Why a call failed.

use rmcp::service::ServiceError;

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
    },
    /// The result is of another type than the caller asked for.
    #[error("tool `{tool}`: the result is of another type")]
    Type {
        /// The tool.
        tool: String,
        /// What is different.
        source: serde_json::Error,
    },
    /// The server did not answer, or answered with an error.
    #[error("the server did not answer as expected")]
    Service(#[from] Box<ServiceError>),
    /// The runtime is shutting down.
    #[error("the runtime is shutting down")]
    Stopped,
}
