//! Input that a tool has asked the client for.

use rmcp::{RoleServer, model::InputResponses, service::RequestContext};
use serde::de::DeserializeOwned;

use super::{FromContext, ToolError};

/// The client's answers to the input that this tool asked for, and the state that the tool sent along. Empty in the
/// first round.
///
/// From 2026-07-28 on, a tool that needs input returns an `InputRequiredResult` and is called again with the answers.
/// Trust them no more than arguments: the state comes back through the client. `rmcp`'s `RequestStateCodec` verifies
/// that it is the state that was sent.
///
/// ```
/// use rmcp::model::{
///     CallToolResponse, CallToolResult, ElicitResult, InputRequiredResult, InputRequests,
/// };
/// use serde_json::json;
/// use toolbond::{Answers, ToolError};
///
/// # #[derive(Clone)] struct Greeter;
/// #[toolbond::tools]
/// impl Greeter {
///     /// Greets whoever is there.
///     #[tool]
///     fn greet(&self, answers: Answers) -> Result<CallToolResponse, ToolError> {
///         let Some(name) = answers.get::<ElicitResult>("name") else {
///             return Ok(InputRequiredResult::from_input_requests(ask()).into());
///         };
///         let greeting = json!({ "greeting": "hello", "answer": name.content });
///         Ok(CallToolResult::structured(greeting).into())
///     }
/// }
/// # fn ask() -> InputRequests { InputRequests::new() }
/// ```
#[derive(Clone, Debug, Default)]
pub struct Answers {
    responses: InputResponses,
    state: Option<String>,
}

impl Answers {
    pub(super) fn new(responses: Option<InputResponses>, state: Option<String>) -> Self {
        Self { responses: responses.unwrap_or_default(), state }
    }

    /// Returns the answer to the request `key`, or `None` if there is none or it is not a `T`.
    #[must_use]
    pub fn get<T: DeserializeOwned>(&self, key: &str) -> Option<T> {
        T::deserialize(self.responses.get(key)?).ok()
    }

    /// The state that the tool sent along.
    #[must_use]
    pub fn state(&self) -> Option<&str> {
        self.state.as_deref()
    }
}

impl FromContext for Answers {
    fn from_context(context: &RequestContext<RoleServer>) -> Result<Self, ToolError> {
        Ok(context.extensions.get::<Self>().cloned().unwrap_or_default())
    }
}
