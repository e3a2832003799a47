//! The error of a tool.

use std::{error::Error, fmt, ops::Deref};

use rmcp::{
    ErrorData,
    model::{CallToolResponse, CallToolResult, ContentBlock},
};
use serde_json::Value;

use crate::report::error_chain;

/// What the model reads instead of errors that are meant for the log.
const INTERNAL: &str = "internal error";

/// Why a call failed: a message for the model, with optional details.
///
/// [`ToolError::new`] makes an error whose message the model reads. `?` converts any [`std::error::Error`]: its message
/// goes to the log, and the model reads "internal error". An [`ErrorData`] is meant for the client, not for the model:
/// the call is answered with that protocol error.
///
/// ```
/// use toolbond::ToolError;
///
/// fn read(hour: &str) -> Result<u8, ToolError> {
///     let hour: u8 = hour.parse()?;
///     if hour > 23 {
///         return Err(ToolError::new("no such hour").details(serde_json::json!({ "last": 23 })));
///     }
///     Ok(hour)
/// }
///
/// assert_eq!(read("24").unwrap_err().to_string(), "no such hour");
/// assert_eq!(read("noon").unwrap_err().to_string(), "internal error");
/// ```
pub struct ToolError {
    message: String,
    details: Option<Value>,
    source: Option<Box<dyn Error + Send + Sync>>,
    /// The call is refused: the message says what is wrong with its arguments.
    is_refusal: bool,
}

impl ToolError {
    /// Makes an error with a message for the model.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), details: None, source: None, is_refusal: false }
    }

    /// Makes the error of a call whose arguments the schema accepts and the type of a parameter does not.
    pub(super) fn invalid_arguments(problem: String) -> Self {
        Self { is_refusal: true, ..Self::new(problem) }
    }

    /// Adds details. They are sent as structured content if the protocol revision allows it, and as text otherwise.
    #[must_use]
    pub fn details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// Adds the cause, for the log.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// Returns the result for the model and logs the cause. Fails with the cause if it is a protocol error.
    pub(crate) fn into_response(self, tool: &str) -> Result<CallToolResponse, ErrorData> {
        if let Some(source) = self.source {
            let source = match source.downcast::<ErrorData>() {
                Ok(error) => return Err(*error),
                Err(source) => source,
            };
            tracing::error!(target: "toolbond", "tool `{tool}` failed: {}", error_chain(source.as_ref()));
        }
        let text = if self.is_refusal {
            tracing::error!(target: "toolbond", "invalid arguments for tool `{tool}`: {}", self.message);
            format!("invalid arguments for tool `{tool}`:\n{}", self.message)
        } else {
            self.message
        };
        let mut result = CallToolResult::error(vec![ContentBlock::text(text)]);
        result.structured_content = self.details;
        Ok(result.into())
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl fmt::Debug for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolError")
            .field("message", &self.message)
            .field("details", &self.details)
            .field("source", &self.source)
            .field("is_refusal", &self.is_refusal)
            .finish()
    }
}

/// The error goes to the log; the model reads "internal error".
impl<E: Error + Send + Sync + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::new(INTERNAL).caused_by(error)
    }
}

/// The error types that a tool may return: [`ToolError`], text for the model, or any error, boxed ones included.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool",
    label = "not an error that a tool may return",
    note = "return `toolbond::ToolError`, a `String`, or a type that implements `std::error::Error`, boxed with `Send + Sync`"
)]
pub trait IntoToolError<Kind> {
    /// Converts the error.
    fn into_tool_error(self) -> ToolError;
}

/// Marker types that keep the implementations of [`IntoToolError`](super::IntoToolError) apart.
pub(crate) mod kind {
    /// A [`ToolError`](super::ToolError).
    #[derive(Debug)]
    pub struct Ready;
    /// Text for the model.
    #[derive(Debug)]
    pub struct Message;
    /// Any [`Error`](std::error::Error).
    #[derive(Debug)]
    pub struct Any;
    /// An error whose type is erased.
    #[derive(Debug)]
    pub struct Erased;
}

impl IntoToolError<kind::Ready> for ToolError {
    fn into_tool_error(self) -> ToolError {
        self
    }
}

impl IntoToolError<kind::Message> for String {
    fn into_tool_error(self) -> ToolError {
        ToolError::new(self)
    }
}

impl IntoToolError<kind::Message> for &str {
    fn into_tool_error(self) -> ToolError {
        ToolError::new(self)
    }
}

impl<E: Error + Send + Sync + 'static> IntoToolError<kind::Any> for E {
    fn into_tool_error(self) -> ToolError {
        self.into()
    }
}

/// `Box<dyn Error + Send + Sync>`, `anyhow::Error` and similar types, which do not implement `Error`.
impl<E> IntoToolError<kind::Erased> for E
where
    E: Deref<Target = dyn Error + Send + Sync> + Into<Box<dyn Error + Send + Sync>>,
{
    fn into_tool_error(self) -> ToolError {
        ToolError::new(INTERNAL).caused_by(self)
    }
}
