//! Input that a tool has asked the client for.

use rmcp::{
    RoleServer,
    model::{ElicitResult, ElicitationAction, InputResponses},
    service::RequestContext,
};
use serde::{Deserialize as _, de::DeserializeOwned};

use super::{FromContext, ToolError};

/// The client's answers to the input that this tool asked for, and the state that the tool sent along. Empty in the
/// first round.
///
/// A tool that needs input returns a [`Reply`](super::Reply) that asks for it, and is called again with the answers.
/// Trust them no more than arguments: the state comes back through the client. `rmcp`'s `RequestStateCodec` verifies
/// that it is the state that was sent.
///
/// ```
/// use schemars::JsonSchema;
/// use serde::Deserialize;
/// use toolbond::{Answers, Reply, ToolError};
///
/// #[derive(Deserialize, JsonSchema)]
/// struct Visitor {
///     name: String,
/// }
///
/// # #[derive(Clone)] struct Greeter;
/// #[toolbond::tools]
/// impl Greeter {
///     /// Greets whoever is there.
///     #[tool]
///     fn greet(&self, answers: Answers) -> Result<Reply<String>, ToolError> {
///         let Some(visitor) = answers.form::<Visitor>("visitor")? else {
///             return Reply::ask::<Visitor>("visitor", "Who is there?");
///         };
///         Ok(Reply::Complete(format!("Hello, {}!", visitor.name)))
///     }
/// }
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

    /// Returns what the user has written into the form `key` ([`Reply::ask`](super::Reply::ask)), or `None` if the user
    /// was not asked yet.
    ///
    /// # Errors
    ///
    /// Fails with a message for the model if the user declines, or if the answer is not a `T`.
    pub fn form<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, ToolError> {
        let Some(answer) = self.responses.get(key) else { return Ok(None) };
        let wrong = |error| ToolError::new(format!("invalid answer to `{key}`: {error}"));
        let answer = ElicitResult::deserialize(answer).map_err(wrong)?;
        if answer.action != ElicitationAction::Accept {
            return Err(ToolError::new(format!("the user has declined to answer `{key}`")));
        }
        T::deserialize(answer.content.unwrap_or_default()).map(Some).map_err(wrong)
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
