//! Why an exchange with a server under test failed.

use serde_json::Value;

/// Why an exchange with a server under test failed.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum TestError {
    /// The server answered with an error.
    #[error("error {code}: {message}")]
    Rpc {
        /// The code of the error.
        code: i64,
        /// Its message.
        message: String,
        /// Its data, where there are any.
        data: Option<Value>,
    },
    /// The server agreed to another revision than was asked for.
    #[error("expected revision {wanted}, found {found}")]
    Revision {
        /// What the client asked for.
        wanted: String,
        /// What the server agreed to.
        found: String,
    },
    /// The list of tools does not end.
    #[error("the list of tools goes on after {limit} pages")]
    TooManyPages {
        /// The limit.
        limit: usize,
    },
    /// The server closed the pipe.
    #[error("the server closed the connection")]
    Closed,
    /// No answer within a minute.
    #[error("no answer to `{method}` within 60 s")]
    Silent {
        /// The method that was called.
        method: String,
    },
    /// The server sent what is no message.
    #[error("expected a JSON-RPC message, found {found}")]
    Malformed {
        /// The line, shortened.
        found: String,
    },
}

impl TestError {
    /// The error in a JSON-RPC response.
    pub(super) fn of(error: &Value) -> Self {
        Self::Rpc {
            code: error.get("code").and_then(Value::as_i64).unwrap_or_default(),
            message: error.get("message").and_then(Value::as_str).unwrap_or_default().to_owned(),
            data: error.get("data").cloned(),
        }
    }
}
