//! Asking the clients of older revisions for input, which cannot be asked with a result.

use rmcp::{
    Peer, RoleServer,
    model::{InputRequest, InputRequiredResult, InputResponses, ServerRequest},
};

use super::{Answers, Context, ToolError};
use crate::protocol::request_revision;

/// How often a tool may ask in one call.
pub(super) const MAX_ROUNDS: usize = 10;

/// Whether the client of a request is asked with requests of the server, not with the result of the call.
pub(super) fn can_be_asked(context: &Context) -> bool {
    let asks = |capabilities: &rmcp::model::ClientCapabilities| {
        capabilities.elicitation.is_some()
            || capabilities.sampling.is_some()
            || capabilities.roots.is_some()
    };
    !request_revision(context).is_natural()
        && context.peer.peer_info().is_some_and(|info| asks(&info.capabilities))
}

/// Whether `input` has questions.
pub(super) fn asks(input: &InputRequiredResult) -> bool {
    input.input_requests.as_ref().is_some_and(|requests| !requests.is_empty())
}

/// Asks the client for `input` and returns its answers.
pub(super) async fn ask(
    input: InputRequiredResult,
    context: &Context,
) -> Result<Answers, ToolError> {
    let mut responses = InputResponses::new();
    for (key, request) in input.input_requests.unwrap_or_default() {
        let answer = context.ct.run_until_cancelled(ask_one(request, &context.peer)).await;
        let cancelled = || Err(ToolError::new("the call was cancelled"));
        responses.insert(key, answer.unwrap_or_else(cancelled)?);
    }
    Ok(Answers::new(Some(responses), input.request_state))
}

async fn ask_one(
    request: InputRequest,
    peer: &Peer<RoleServer>,
) -> Result<serde_json::Value, ToolError> {
    let request = match request {
        InputRequest::Elicitation(request) => ServerRequest::ElicitRequest(request),
        InputRequest::CreateMessage(request) => ServerRequest::CreateMessageRequest(request),
        InputRequest::ListRoots(request) => ServerRequest::ListRootsRequest(request),
        _ => return Err(ToolError::new("the client cannot be asked for this")),
    };
    let answer = peer.send_request(request).await;
    let failed = |error| ToolError::new("the client did not answer the question").caused_by(error);
    Ok(serde_json::to_value(answer.map_err(failed)?)?)
}
