//! A result, or a request for input.

use rmcp::model::{CallToolResponse, InputRequiredResult};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Output, ReturnType, StructuredOutput as _, ToolError};

/// The return type of a tool that may ask the client for input first; see [`Answers`](crate::Answers).
///
/// The output schema is that of `T`. Clients before 2026-07-28 do not support this and get a protocol error.
#[derive(Clone, Debug)]
pub enum Reply<T> {
    /// The result.
    Complete(T),
    /// The input that the tool asks for.
    InputRequired(InputRequiredResult),
}

impl<T: Serialize + JsonSchema> Output<Reply<T>> for ReturnType<Reply<T>> {
    fn schema(&self) -> Option<Map<String, Value>> {
        (&ReturnType::<T>::new()).schema()
    }

    fn respond(&self, value: Reply<T>) -> Result<CallToolResponse, ToolError> {
        match value {
            Reply::Complete(value) => (&ReturnType::<T>::new()).respond(value),
            Reply::InputRequired(input) => Ok(input.into()),
        }
    }
}
