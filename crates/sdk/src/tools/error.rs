//! Errors that a model can act on.

use std::{error::Error, fmt, ops::Deref};

use rmcp::{
    ErrorData,
    model::{CallToolResponse, CallToolResult, ContentBlock},
};
use serde_json::Value;

use crate::report::chain;

/// What the model is told of errors that are for the log.
const INTERNAL: &str = "internal error";

/// Why a tool could not do what it was asked to: a message for the model, and optional details.
///
/// `?` turns any [`std::error::Error`] into one. What such an error says is for the log: the model is told
/// "internal error". A message that the model should see is written with [`ToolError::new`]. An
/// [`ErrorData`] is for the client, not for the model: the call is answered with that protocol error.
///
/// ```
/// use toolpact::ToolError;
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
}

impl ToolError {
    /// An error with a message for the model.
    pub fn new(message: impl Into<String>) -> Self {
        Self { message: message.into(), details: None, source: None }
    }

    /// Adds details, which travel as structured content where the protocol revision allows it, and as
    /// text elsewhere.
    #[must_use]
    pub fn details(mut self, details: Value) -> Self {
        self.details = Some(details);
        self
    }

    /// Adds what caused it, for the log.
    #[must_use]
    pub fn caused_by(mut self, source: impl Into<Box<dyn Error + Send + Sync>>) -> Self {
        self.source = Some(source.into());
        self
    }

    /// The result that tells the model, and a line in the log that says what caused it; or the protocol
    /// error, if that is what caused it.
    pub(crate) fn into_response(self, tool: &str) -> Result<CallToolResponse, ErrorData> {
        if let Some(source) = self.source {
            let source = match source.downcast::<ErrorData>() {
                Ok(error) => return Err(*error),
                Err(source) => source,
            };
            tracing::error!(target: "toolpact", "tool `{tool}` failed: {}", chain(source.as_ref()));
        }
        let mut result = CallToolResult::error(vec![ContentBlock::text(self.message)]);
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
            .finish()
    }
}

/// The error goes to the log, the model is told "internal error".
impl<E: Error + Send + Sync + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::new(INTERNAL).caused_by(error)
    }
}

/// What may be the error of a tool: a [`ToolError`], a text for the model, or any error, boxed ones included.
#[diagnostic::on_unimplemented(
    message = "`{Self}` cannot be the error of a tool",
    label = "not an error that a tool may return",
    note = "return `toolpact::ToolError`, a `String`, or a type that implements `std::error::Error`, boxed with `Send + Sync`"
)]
pub trait IntoToolError<Kind> {
    /// The error for the model.
    fn into_tool_error(self) -> ToolError;
}

/// Kinds of errors.
pub(crate) mod kind {
    /// One that is ready.
    #[derive(Debug)]
    pub struct Ready;
    /// A message.
    #[derive(Debug)]
    pub struct Message;
    /// Any other.
    #[derive(Debug)]
    pub struct Any;
    /// One whose type is not known any more.
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

/// `Box<dyn Error + Send + Sync>`, `anyhow::Error` and the like, which are no errors themselves.
impl<E> IntoToolError<kind::Erased> for E
where
    E: Deref<Target = dyn Error + Send + Sync> + Into<Box<dyn Error + Send + Sync>>,
{
    fn into_tool_error(self) -> ToolError {
        ToolError::new(INTERNAL).caused_by(self)
    }
}
