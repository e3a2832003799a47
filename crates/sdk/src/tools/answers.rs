//! Input that a tool has asked the client for.

use rmcp::{
    RoleServer,
    model::{ElicitResult, ElicitationAction, InputResponses},
    service::RequestContext,
};
use serde::{Deserialize, Serialize, de::DeserializeOwned};

use super::{FromContext, ToolError, read::read};

/// The client's answers to the input that this tool asked for, and the state that the tool sent along. Empty in the
/// first round.
///
/// A tool that needs input returns a [`Reply`](super::Reply) that asks for it, and is called again with the answers to
/// all questions so far. Trust them no more than arguments: the answers of earlier rounds and the state come back through
/// the client. `rmcp`'s `RequestStateCodec` verifies that it is the state that was sent.
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

/// What the state of a request begins with if it has answers of earlier rounds.
const CARRIED: &str = "toolbond.answers:";

/// The answers so far, and the state of the tool. The client may change it, as it may answer anything.
#[derive(Serialize, Deserialize)]
struct Carried {
    answers: InputResponses,
    state: Option<String>,
}

impl Answers {
    /// The answers of a request: those in it, and those of earlier rounds, which come back in its state.
    pub(super) fn new(responses: Option<InputResponses>, state: Option<String>) -> Self {
        let carried = state.as_deref().and_then(|state| state.strip_prefix(CARRIED));
        let carried = carried.and_then(|state| serde_json::from_str::<Carried>(state).ok());
        let first = match carried {
            Some(Carried { answers, state }) => Self { responses: answers, state },
            None => Self { responses: InputResponses::new(), state },
        };
        let state = first.state.clone();
        first.and(responses.unwrap_or_default(), state)
    }

    /// These answers and those of the next round, with its state.
    pub(super) fn and(mut self, responses: InputResponses, state: Option<String>) -> Self {
        self.responses.extend(responses);
        Self { state, ..self }
    }

    /// The state with which the client comes back: that of the tool, and the answers so far.
    pub(super) fn carry(self, state: Option<String>) -> Option<String> {
        if self.responses.is_empty() {
            return state;
        }
        let carried = serde_json::to_string(&Carried { answers: self.responses, state });
        carried.ok().map(|carried| format!("{CARRIED}{carried}"))
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
    /// Fails with a message for the model if the user declines or closes the form, or if the answer is not a `T`.
    pub fn form<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, ToolError> {
        let Some(answer) = self.responses.get(key) else { return Ok(None) };
        let wrong = |error: String| ToolError::new(format!("invalid answer to `{key}`: {error}"));
        let answer: ElicitResult = read(answer).map_err(wrong)?;
        let refused = match answer.action {
            ElicitationAction::Accept => {
                return read(&answer.content.unwrap_or_default()).map(Some).map_err(wrong);
            }
            ElicitationAction::Cancel => "has closed the question",
            _ => "has declined to answer",
        };
        Err(ToolError::new(format!("the user {refused} `{key}`")))
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
