//! Messages to Envoy.

use bytes::Bytes;
use envoy_types::pb::envoy::extensions::filters::http::ext_proc::v3::ProcessingMode;
use envoy_types::pb::envoy::extensions::filters::http::ext_proc::v3::processing_mode::{
    BodySendMode, HeaderSendMode,
};
use envoy_types::pb::envoy::service::ext_proc::v3::body_mutation::Mutation;
use envoy_types::pb::envoy::service::ext_proc::v3::processing_response::Response as Reply;
use envoy_types::pb::envoy::service::ext_proc::v3::{
    BodyMutation, BodyResponse, CommonResponse, HeaderMutation, HeadersResponse, ImmediateResponse,
    ProcessingResponse, StreamedBodyResponse, TrailersResponse,
};
use envoy_types::pb::envoy::r#type::v3::HttpStatus;
use envoy_types::pb::google::protobuf::value::Kind;
use envoy_types::pb::google::protobuf::{Struct, Value};
use hyper::http::response::Parts;

use super::direction::Direction;
use super::headers;

fn message(reply: Reply) -> ProcessingResponse {
    ProcessingResponse { response: Some(reply), ..ProcessingResponse::default() }
}

fn common(header_mutation: Option<HeaderMutation>, mutation: Option<Mutation>) -> CommonResponse {
    let body_mutation = mutation.map(|mutation| BodyMutation { mutation: Some(mutation) });
    CommonResponse { header_mutation, body_mutation, ..CommonResponse::default() }
}

impl Direction {
    /// Lets headers go on, with these changes.
    pub(super) fn headers(self, mutation: Option<HeaderMutation>) -> ProcessingResponse {
        let response = HeadersResponse { response: Some(common(mutation, None)) };
        message(match self {
            Self::Request => Reply::RequestHeaders(response),
            Self::Response => Reply::ResponseHeaders(response),
        })
    }

    fn body_reply(self, response: CommonResponse) -> ProcessingResponse {
        let response = BodyResponse { response: Some(response) };
        message(match self {
            Self::Request => Reply::RequestBody(response),
            Self::Response => Reply::ResponseBody(response),
        })
    }

    /// Lets a body or a piece of it go on as it is.
    pub(super) fn same_body(self) -> ProcessingResponse {
        self.body_reply(common(None, None))
    }

    /// Replaces a body or a piece of it.
    pub(super) fn body(
        self,
        mutation: Option<HeaderMutation>,
        bytes: &Bytes,
    ) -> ProcessingResponse {
        let new = if bytes.is_empty() {
            Mutation::ClearBody(true)
        } else {
            Mutation::Body(bytes.to_vec())
        };
        self.body_reply(common(mutation, Some(new)))
    }

    /// Sends a piece of a body where pieces need not be those that came.
    pub(super) fn piece(self, bytes: &Bytes, end_of_stream: bool) -> ProcessingResponse {
        let body = bytes.to_vec();
        let piece = StreamedBodyResponse { body, end_of_stream, ..StreamedBodyResponse::default() };
        self.body_reply(common(None, Some(Mutation::StreamedResponse(piece))))
    }

    /// Lets trailers go on.
    pub(super) fn trailers(self) -> ProcessingResponse {
        message(match self {
            Self::Request => Reply::RequestTrailers(TrailersResponse::default()),
            Self::Response => Reply::ResponseTrailers(TrailersResponse::default()),
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
pub(super) fn immediate(parts: &Parts, body: &Bytes) -> ProcessingResponse {
    message(Reply::ImmediateResponse(ImmediateResponse {
        status: Some(HttpStatus { code: i32::from(parts.status.as_u16()) }),
        headers: Some(headers::all(&parts.headers)),
        body: body.to_vec(),
        details: "toolbond".to_owned(),
        ..ImmediateResponse::default()
    }))
}

/// The mode in which Envoy sends nothing more.
pub(super) fn released() -> ProcessingMode {
    ProcessingMode {
        request_header_mode: HeaderSendMode::Skip.into(),
        response_header_mode: HeaderSendMode::Skip.into(),
        ..response_mode(BodySendMode::None)
    }
}

/// The mode in which Envoy sends the body of the response in this way, and nothing after it.
pub(super) fn response_mode(mode: BodySendMode) -> ProcessingMode {
    ProcessingMode {
        request_body_mode: BodySendMode::None.into(),
        response_body_mode: mode.into(),
        request_trailer_mode: HeaderSendMode::Skip.into(),
        response_trailer_mode: HeaderSendMode::Skip.into(),
        ..ProcessingMode::default()
    }
}
