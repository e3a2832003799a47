//! Our messages of Envoy and those that are generated from its interface: both are the same bytes.

use std::fmt::Debug;

use envoy_types::pb::envoy::config::core::v3 as core;
use envoy_types::pb::envoy::service::ext_proc::v3 as full;
use envoy_types::pb::google::protobuf as json;
use prost::Message;

use crate::wire::{BodySendMode, ProcessingRequest, Received, Struct, Trailers, Value};

/// Requests and responses of the types that are in scope. Every field has a value that is not the default, and that no
/// other field of its message has.
macro_rules! messages {
    () => {{
        let value = |kind| Value { kind: Some(kind) };
        let text =
            || Struct { fields: [("b".to_owned(), value(Kind::StringValue("c".into())))].into() };
        let object =
            || Struct { fields: [("a".to_owned(), value(Kind::StructValue(text())))].into() };
        let header = |key: &str| HeaderValue {
            key: key.into(),
            value: "value".into(),
            raw_value: "raw value".into(),
        };
        let headers = || HttpHeaders {
            headers: Some(HeaderMap { headers: vec![header("one"), header("two")] }),
            end_of_stream: true,
            ..Default::default()
        };
        let body = || HttpBody { body: "body".into(), end_of_stream: true, ..Default::default() };
        let requests = [
            Received::RequestHeaders(headers()),
            Received::ResponseHeaders(headers()),
            Received::RequestBody(body()),
            Received::ResponseBody(body()),
            Received::RequestTrailers(HttpTrailers::default()),
            Received::ResponseTrailers(HttpTrailers::default()),
        ];
        let requests = requests.map(|request| ProcessingRequest {
            request: Some(request),
            attributes: [("filter".to_owned(), object())].into(),
            observability_mode: true,
            protocol_config: Some(ProtocolConfiguration {
                request_body_mode: BodySendMode::Streamed as i32,
                response_body_mode: BodySendMode::FullDuplexStreamed as i32,
                ..Default::default()
            }),
            ..Default::default()
        });
        let mutation = || HeaderMutation {
            set_headers: vec![HeaderValueOption {
                header: Some(header("set")),
                append_action: HeaderAppendAction::OverwriteIfExistsOrAdd as i32,
                keep_empty_value: true,
                ..Default::default()
            }],
            remove_headers: vec!["one".into(), "two".into()],
        };
        let common = || CommonResponse {
            header_mutation: Some(mutation()),
            body_mutation: Some(streamed(StreamedBodyResponse {
                body: "piece".into(),
                end_of_stream: true,
                ..Default::default()
            })),
            ..Default::default()
        };
        let headers = || HeadersResponse { response: Some(common()) };
        let body = || BodyResponse { response: Some(common()) };
        let immediate = ImmediateResponse {
            status: Some(HttpStatus { code: 503 }),
            headers: Some(mutation()),
            body: "body".into(),
            details: "why".into(),
            ..Default::default()
        };
        let responses = [
            Reply::RequestHeaders(headers()),
            Reply::ResponseHeaders(headers()),
            Reply::RequestBody(body()),
            Reply::ResponseBody(body()),
            Reply::RequestTrailers(TrailersResponse::default()),
            Reply::ResponseTrailers(TrailersResponse::default()),
            Reply::ImmediateResponse(immediate),
        ];
        let responses = responses.map(|response| ProcessingResponse {
            response: Some(response),
            dynamic_metadata: Some(object()),
            ..Default::default()
        });
        (requests, responses)
    }};
}

mod ours {
    use crate::wire::{
        PartResponse as BodyResponse, PartResponse as HeadersResponse, Trailers as HttpTrailers,
        Trailers as TrailersResponse, *,
    };

    fn streamed(piece: StreamedBodyResponse) -> BodyMutation {
        BodyMutation { streamed_response: Some(piece) }
    }

    #[expect(clippy::needless_update, reason = "the generated messages have more fields")]
    pub(super) fn messages() -> ([ProcessingRequest; 6], [ProcessingResponse; 7]) {
        messages!()
    }
}

mod generated {
    use super::core::header_value_option::HeaderAppendAction;
    use super::core::{HeaderMap, HeaderValue, HeaderValueOption};
    use super::full::processing_request::Request as Received;
    use super::full::processing_response::Response as Reply;
    use super::full::*;
    use super::json::value::Kind;
    use super::json::{Struct, Value};
    use crate::wire::BodySendMode;
    use envoy_types::pb::envoy::r#type::v3::HttpStatus;

    fn streamed(piece: StreamedBodyResponse) -> BodyMutation {
        BodyMutation { mutation: Some(body_mutation::Mutation::StreamedResponse(piece)) }
    }

    pub(super) fn messages() -> ([ProcessingRequest; 6], [ProcessingResponse; 7]) {
        messages!()
    }
}

/// Both encode messages to the same bytes, and read them from these.
#[track_caller]
fn assert_alike<M, F, const N: usize>(ours: [M; N], generated: [F; N])
where
    M: Message + Default + PartialEq + Debug,
    F: Message + Default + PartialEq + Debug,
{
    for (ours, generated) in ours.into_iter().zip(generated) {
        let bytes = ours.encode_to_vec();
        assert_eq!(bytes, generated.encode_to_vec(), "{ours:?}");
        assert_eq!(M::decode(&*bytes).unwrap(), ours);
        assert_eq!(F::decode(&*bytes).unwrap(), generated);
    }
}

#[test]
fn messages_are_those_of_envoy() {
    let (ours, generated) = (ours::messages(), generated::messages());
    assert_alike(ours.0, generated.0);
    assert_alike(ours.1, generated.1);
}

#[test]
fn the_names_of_modes_are_those_of_envoy() {
    use envoy_types::pb::envoy::extensions::filters::http::ext_proc::v3::processing_mode::BodySendMode as Full;
    for mode in 0..8 {
        let name = Full::try_from(mode).ok().map(|mode| mode.as_str_name());
        assert_eq!(BodySendMode::try_from(mode).ok().map(BodySendMode::name), name);
    }
}

#[test]
fn fields_that_are_not_used_are_skipped() {
    let number = json::Value { kind: Some(json::value::Kind::NumberValue(1.0)) };
    let attributes = [("a".to_owned(), json::Struct { fields: [("b".to_owned(), number)].into() })];
    let trailers = core::HeaderMap { headers: vec![core::HeaderValue::default()] };
    let sent = full::ProcessingRequest {
        request: Some(full::processing_request::Request::RequestTrailers(full::HttpTrailers {
            trailers: Some(trailers),
        })),
        attributes: attributes.into(),
        metadata_context: Some(core::Metadata::default()),
        flow_control_init: Some(full::processing_request::FlowControlInit::default()),
        ..Default::default()
    };
    let read = ProcessingRequest::decode(&*sent.encode_to_vec()).unwrap();
    let value = Struct { fields: [("b".to_owned(), Value { kind: None })].into() };
    let expected = ProcessingRequest {
        request: Some(Received::RequestTrailers(Trailers {})),
        attributes: [("a".to_owned(), value)].into(),
        ..Default::default()
    };
    assert_eq!(read, expected);
}
