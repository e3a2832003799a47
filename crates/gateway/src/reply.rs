//! Messages to Envoy.

use bytes::Bytes;
use hyper::HeaderMap;
use hyper::http::response::Parts;

use crate::headers::changes;
use crate::wire::{
    BodyMutation, CommonResponse, HeaderMutation, HttpStatus, ImmediateResponse, Kind,
    PartResponse, ProcessingResponse, Reply, StreamedBodyResponse, Struct, Trailers, Value,
};

/// Which way a message of Envoy goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Direction {
    Request,
    Response,
}

fn message(reply: Reply) -> ProcessingResponse {
    ProcessingResponse { response: Some(reply), dynamic_metadata: None }
}

impl Direction {
    /// Lets headers go on, with these changes.
    pub(super) fn headers(self, changes: HeaderMutation) -> ProcessingResponse {
        let header_mutation = (changes != HeaderMutation::default()).then_some(changes);
        let response = CommonResponse { header_mutation, body_mutation: None };
        let response = PartResponse { response: Some(response) };
        message(match self {
            Self::Request => Reply::RequestHeaders(response),
            Self::Response => Reply::ResponseHeaders(response),
        })
    }

    /// Sends a piece of a body. Pieces need not be those that came.
    pub(super) fn piece(self, body: Bytes, end_of_stream: bool) -> ProcessingResponse {
        let piece = StreamedBodyResponse { body, end_of_stream };
        let body_mutation = Some(BodyMutation { streamed_response: Some(piece) });
        let response = CommonResponse { header_mutation: None, body_mutation };
        let response = PartResponse { response: Some(response) };
        message(match self {
            Self::Request => Reply::RequestBody(response),
            Self::Response => Reply::ResponseBody(response),
        })
    }

    /// Lets trailers go on.
    pub(super) fn trailers(self) -> ProcessingResponse {
        message(match self {
            Self::Request => Reply::RequestTrailers(Trailers {}),
            Self::Response => Reply::ResponseTrailers(Trailers {}),
        })
    }
}

/// Tells other parts of Envoy, in the dynamic metadata `toolbond.retry`, whether the request that leaves with this reply
/// may be sent again. Until a request leaves, it may.
pub(super) fn with_retry(reply: ProcessingResponse, is_safe: bool) -> ProcessingResponse {
    if is_safe {
        return reply;
    }
    let retry = Value { kind: Some(Kind::StringValue("unsafe".to_owned())) };
    let ours = Struct { fields: [("retry".to_owned(), retry)].into() };
    let ours = Value { kind: Some(Kind::StructValue(ours)) };
    let all = Struct { fields: [("toolbond".to_owned(), ours)].into() };
    ProcessingResponse { dynamic_metadata: Some(all), ..reply }
}

/// Answers the client in place of the server.
pub(super) fn immediate(parts: &Parts, body: Bytes) -> ProcessingResponse {
    message(Reply::ImmediateResponse(ImmediateResponse {
        status: Some(HttpStatus { code: i32::from(parts.status.as_u16()) }),
        headers: Some(changes(&HeaderMap::new(), &parts.headers)),
        body,
        details: "toolbond".to_owned(),
    }))
}
