//! Questions to clients of revisions that have no `input_required` results: the server asks while the call runs.

use rmcp::{
    ErrorData, Peer, RoleServer, ServiceError,
    model::{InputRequest, InputRequiredResult, InputResponses, ProtocolVersion},
    service::RequestContext,
};
use serde_json::{Value, to_value};

/// The client's answers to `result`; `None` if its revision has such results.
pub(crate) async fn answers(
    result: &InputRequiredResult,
    context: &RequestContext<RoleServer>,
) -> Result<Option<InputResponses>, ErrorData> {
    if context.protocol_version().is_some_and(|it| it >= ProtocolVersion::V_2026_07_28) {
        return Ok(None);
    }
    let mut answers = InputResponses::new();
    for (key, request) in result.input_requests.iter().flatten() {
        let answer = answer(request.clone(), &context.peer).await;
        let answer = answer.map_err(|error| ErrorData::internal_error(error.to_string(), None))?;
        answers.insert(key.clone(), answer);
    }
    Ok(Some(answers))
}

async fn answer(request: InputRequest, peer: &Peer<RoleServer>) -> Result<Value, ServiceError> {
    let answer = match request {
        InputRequest::CreateMessage(it) => to_value(peer.create_message(it.params).await?),
        InputRequest::Elicitation(it) => to_value(peer.create_elicitation(it.params).await?),
        InputRequest::ListRoots(_) => to_value(peer.list_roots().await?),
        _ => return Err(ServiceError::UnexpectedResponse),
    };
    answer.map_err(|_| ServiceError::UnexpectedResponse)
}
