//! A result, or a question first.

use rmcp::model::{CallToolResponse, InputRequiredResult};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::{Map, Value};

use super::{Output, Returns, StructuredOutput as _, ToolError};

/// The result of a tool that may have to ask the client first; see [`Answers`](crate::Answers).
///
/// The output schema is that of `T`. Clients before 2026-07-28 cannot be asked this way: for them the
/// question is a protocol error.
#[derive(Clone, Debug)]
pub enum Reply<T> {
    /// The result.
    Complete(T),
    /// What the client is asked for.
    InputRequired(InputRequiredResult),
}

impl<T: Serialize + JsonSchema> Output<Reply<T>> for Returns<Reply<T>> {
    fn schema(&self) -> Option<Map<String, Value>> {
        (&Returns::<T>::new()).schema()
    }

    fn respond(&self, value: Reply<T>) -> Result<CallToolResponse, ToolError> {
        match value {
            Reply::Complete(value) => (&Returns::<T>::new()).respond(value),
            Reply::InputRequired(question) => Ok(question.into()),
        }
    }
}
