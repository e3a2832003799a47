//! Asking clients for input: whether they can be asked, and those of older revisions with requests of the server.

use rmcp::{
    ErrorData, Peer, RoleServer,
    model::{
        CallToolResponse, ClientCapabilities, ElicitRequestParams, FormElicitationCapability,
        InputRequest, InputRequiredResult, InputResponses, ServerRequest, UrlElicitationCapability,
    },
};

use super::{Answers, Context, ToolError};
use crate::protocol::request_revision;

/// How often a tool may ask in one call.
pub(super) const MAX_ROUNDS: usize = 10;

/// Whether the client of a request is asked with requests of the server, not with the result of the call.
pub(super) fn is_asked_by_requests(context: &Context) -> bool {
    !request_revision(context).is_natural()
}

/// Adds the answers so far to a response that asks for more, so that the client returns them.
///
/// # Errors
///
/// Fails if the client cannot be asked.
pub(super) fn ask_by_result(
    mut response: CallToolResponse,
    so_far: Answers,
    context: &Context,
) -> Result<CallToolResponse, ErrorData> {
    if let CallToolResponse::InputRequired(input) = &mut response {
        if let Some(missing) = missing(input, context) {
            return Err(ErrorData::missing_required_client_capability(missing));
        }
        input.request_state = so_far.carry(input.request_state.take());
    }
    Ok(response)
}

/// The capabilities that `input` needs and the client of a request has not declared, if any.
pub(super) fn missing(
    input: &InputRequiredResult,
    context: &Context,
) -> Option<ClientCapabilities> {
    let has = context.client_capabilities().unwrap_or_default();
    let has_url = has.elicitation.as_ref().is_some_and(|has| has.url.is_some());
    // Without a mode it is the form.
    let has_form = has.elicitation.is_some_and(|has| has.form.is_some() || !has_url);
    let mut missing = ClientCapabilities::default();
    for request in input.input_requests.iter().flat_map(|requests| requests.values()) {
        match request {
            InputRequest::Elicitation(request) => match request.params {
                ElicitRequestParams::FormElicitationParams { .. } if !has_form => {
                    let form = FormElicitationCapability::default();
                    missing.elicitation.get_or_insert_default().form = Some(form);
                }
                ElicitRequestParams::UrlElicitationParams { .. } if !has_url => {
                    let url = UrlElicitationCapability::default();
                    missing.elicitation.get_or_insert_default().url = Some(url);
                }
                _ => {}
            },
            InputRequest::CreateMessage(_) if has.sampling.is_none() => {
                missing.sampling.get_or_insert_default();
            }
            InputRequest::ListRoots(_) if has.roots.is_none() => {
                missing.roots.get_or_insert_default();
            }
            _ => {}
        }
    }
    (missing != ClientCapabilities::default()).then_some(missing)
}

/// What the model reads if the client has no way to ask.
const CANNOT_BE_ASKED: &str = "this tool has to ask the user, and the client does not support that";

/// Whether `input` has questions.
pub(super) fn asks(input: &InputRequiredResult) -> bool {
    input.input_requests.as_ref().is_some_and(|requests| !requests.is_empty())
}

/// Asks the client for `input` and returns its answers with those `so_far`.
pub(super) async fn ask(
    input: InputRequiredResult,
    so_far: Answers,
    context: &Context,
) -> Result<Answers, ToolError> {
    if missing(&input, context).is_some() {
        return Err(ToolError::new(CANNOT_BE_ASKED));
    }
    let mut responses = InputResponses::new();
    for (key, request) in input.input_requests.unwrap_or_default() {
        let answer = context.ct.run_until_cancelled(ask_one(request, &context.peer)).await;
        let cancelled = || Err(ToolError::new("the call was cancelled"));
        responses.insert(key, answer.unwrap_or_else(cancelled)?);
    }
    Ok(so_far.and(responses, input.request_state))
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
