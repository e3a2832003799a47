//! Errors of a test client.

use serde_json::Value;

/// Why a request to a server under test failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TestError {
    /// The server answered with an error.
    #[error("error {code}: {message}")]
    Rpc {
        /// The code of the error.
        code: i64,
        /// The message of the error.
        message: String,
        /// The data of the error, if any.
        data: Option<Value>,
    },
    /// The server agreed to another revision than the client requested.
    #[error("expected revision {expected}, found {found}")]
    Revision {
        /// The revision that the client requested.
        expected: String,
        /// The revision that the server agreed to.
        found: String,
    },
    /// The tool list has too many pages.
    #[error("the tool list has more than {limit} pages")]
    TooManyPages {
        /// The limit.
        limit: usize,
    },
    /// The server closed the connection.
    #[error("the server closed the connection")]
    Closed,
    /// The server did not answer within a minute.
    #[error("no answer to `{method}` within 60 s")]
    Timeout {
        /// The method of the request.
        method: String,
    },
    /// The tool answered with an error.
    #[error("tool `{tool}`: {message}")]
    Tool {
        /// The name of the tool.
        tool: String,
        /// The text of the error.
        message: String,
        /// The whole result.
        result: Value,
    },
    /// The result does not have the type that the caller asked for.
    #[error("tool `{tool}`: expected `{expected}`, found {found}: {reason}")]
    Type {
        /// The name of the tool.
        tool: String,
        /// The type.
        expected: &'static str,
        /// The value, shortened.
        found: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The server sent something other than a JSON-RPC message.
    #[error("expected a JSON-RPC message, found {found}")]
    Malformed {
        /// The line, shortened.
        found: String,
    },
}

impl TestError {
    /// Reads the `error` member of a JSON-RPC response.
    pub(super) fn from_json(error: &Value) -> Self {
        Self::Rpc {
            code: error.get("code").and_then(Value::as_i64).unwrap_or_default(),
            message: error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned(),
            data: error.get("data").cloned(),
        }
    }
}
