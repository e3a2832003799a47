//! Our messages of Envoy and those that are generated from its interface: both are the same bytes.

use std::fmt::Debug;

use envoy_types::pb::envoy::config::core::v3 as core;
use envoy_types::pb::envoy::service::ext_proc::v3 as full;
use envoy_types::pb::envoy::r#type::v3::HttpStatus as FullStatus;
use envoy_types::pb::google::protobuf as json;
use proptest::collection::{hash_map, vec};
use proptest::option;
use proptest::prelude::*;
use prost::Message;

use super::wire::*;

/// The generated type of one of ours, field by field.
trait Generated {
    type Full: Message + Default;

    fn full(self) -> Self::Full;
}

impl Generated for ProcessingRequest {
    type Full = full::ProcessingRequest;

    fn full(self) -> Self::Full {
        use full::processing_request::Request;
        let request = self.request.map(|request| match request {
            Received::RequestHeaders(it) => Request::RequestHeaders(it.full()),
            Received::ResponseHeaders(it) => Request::ResponseHeaders(it.full()),
            Received::RequestBody(it) => Request::RequestBody(it.full()),
            Received::ResponseBody(it) => Request::ResponseBody(it.full()),
            Received::RequestTrailers(HttpTrailers {}) => {
                Request::RequestTrailers(full::HttpTrailers::default())
            }
            Received::ResponseTrailers(HttpTrailers {}) => {
                Request::ResponseTrailers(full::HttpTrailers::default())
            }
        });
        let protocol_config = self.protocol_config.map(|config| full::ProtocolConfiguration {
            request_body_mode: config.request_body_mode,
            response_body_mode: config.response_body_mode,
            ..Default::default()
        });
        full::ProcessingRequest {
            request,
            attributes: self.attributes.into_iter().map(|(key, it)| (key, it.full())).collect(),
            observability_mode: self.observability_mode,
            protocol_config,
            ..Default::default()
        }
    }
}

impl Generated for HttpHeaders {
    type Full = full::HttpHeaders;

    fn full(self) -> Self::Full {
        let headers = self.headers.map(|all| core::HeaderMap {
            headers: all.headers.into_iter().map(Generated::full).collect(),
        });
        full::HttpHeaders { headers, end_of_stream: self.end_of_stream, ..Default::default() }
    }
}

impl Generated for HeaderValue {
    type Full = core::HeaderValue;

    fn full(self) -> Self::Full {
        core::HeaderValue { key: self.key, value: self.value, raw_value: self.raw_value }
    }
}

impl Generated for HttpBody {
    type Full = full::HttpBody;

    fn full(self) -> Self::Full {
        let Self { body, end_of_stream } = self;
        full::HttpBody { body: body.into(), end_of_stream, ..Default::default() }
    }
}

impl Generated for Struct {
    type Full = json::Struct;

    fn full(self) -> Self::Full {
        let full = |value: Value| json::Value {
            kind: value.kind.map(|kind| match kind {
                Kind::StringValue(text) => json::value::Kind::StringValue(text),
                Kind::StructValue(it) => json::value::Kind::StructValue(it.full()),
            }),
        };
        json::Struct { fields: self.fields.into_iter().map(|(key, it)| (key, full(it))).collect() }
    }
}

impl Generated for ProcessingResponse {
    type Full = full::ProcessingResponse;

    fn full(self) -> Self::Full {
        use full::processing_response::Response;
        let headers = |it: HeadersResponse| full::HeadersResponse {
            response: it.response.map(Generated::full),
        };
        let body =
            |it: BodyResponse| full::BodyResponse { response: it.response.map(Generated::full) };
        let response = self.response.map(|response| match response {
            Reply::RequestHeaders(it) => Response::RequestHeaders(headers(it)),
            Reply::ResponseHeaders(it) => Response::ResponseHeaders(headers(it)),
            Reply::RequestBody(it) => Response::RequestBody(body(it)),
            Reply::ResponseBody(it) => Response::ResponseBody(body(it)),
            Reply::RequestTrailers(TrailersResponse {}) => {
                Response::RequestTrailers(full::TrailersResponse::default())
            }
            Reply::ResponseTrailers(TrailersResponse {}) => {
                Response::ResponseTrailers(full::TrailersResponse::default())
            }
            Reply::ImmediateResponse(it) => Response::ImmediateResponse(it.full()),
        });
        full::ProcessingResponse {
            response,
            dynamic_metadata: self.dynamic_metadata.map(Generated::full),
            ..Default::default()
        }
    }
}

impl Generated for CommonResponse {
    type Full = full::CommonResponse;

    fn full(self) -> Self::Full {
        let body_mutation = self.body_mutation.map(|mutation| full::BodyMutation {
            mutation: mutation.streamed_response.map(|piece| {
                full::body_mutation::Mutation::StreamedResponse(full::StreamedBodyResponse {
                    body: piece.body.to_vec(),
                    end_of_stream: piece.end_of_stream,
                    ..Default::default()
                })
            }),
        });
        let header_mutation = self.header_mutation.map(Generated::full);
        full::CommonResponse { header_mutation, body_mutation, ..Default::default() }
    }
}

impl Generated for HeaderMutation {
    type Full = full::HeaderMutation;

    fn full(self) -> Self::Full {
        let set = |option: HeaderValueOption| core::HeaderValueOption {
            header: option.header.map(Generated::full),
            append_action: option.append_action,
            keep_empty_value: option.keep_empty_value,
            ..Default::default()
        };
        let set_headers = self.set_headers.into_iter().map(set).collect();
        full::HeaderMutation { set_headers, remove_headers: self.remove_headers }
    }
}

impl Generated for ImmediateResponse {
    type Full = full::ImmediateResponse;

    fn full(self) -> Self::Full {
        full::ImmediateResponse {
            status: self.status.map(|status| FullStatus { code: status.code }),
            headers: self.headers.map(Generated::full),
            body: self.body.to_vec(),
            details: self.details,
            ..Default::default()
        }
    }
}

fn text() -> impl Strategy<Value = String> {
    "[a-zä:]{0,4}"
}

fn bytes() -> impl Strategy<Value = Vec<u8>> {
    vec(any::<u8>(), 0..4)
}

/// An object with at most one member: the order of more is not fixed.
fn object() -> impl Strategy<Value = Struct> {
    let value = prop_oneof![
        Just(Value { kind: None }),
        text().prop_map(|text| Value { kind: Some(Kind::StringValue(text)) }),
    ];
    let object = hash_map(text(), value, 0..2).prop_map(|fields| Struct { fields });
    object.prop_recursive(2, 4, 1, |inner| {
        let value = inner.prop_map(|it| Value { kind: Some(Kind::StructValue(it)) });
        hash_map(text(), value, 0..2).prop_map(|fields| Struct { fields })
    })
}

fn header() -> impl Strategy<Value = HeaderValue> {
    (text(), text(), bytes()).prop_map(|(key, value, raw_value)| HeaderValue {
        key,
        value,
        raw_value,
    })
}

fn headers() -> impl Strategy<Value = HttpHeaders> {
    let all = vec(header(), 0..3).prop_map(|headers| HeaderMap { headers });
    (option::of(all), any::<bool>())
        .prop_map(|(headers, end_of_stream)| HttpHeaders { headers, end_of_stream })
}

fn body() -> impl Strategy<Value = HttpBody> {
    (bytes(), any::<bool>())
        .prop_map(|(body, end_of_stream)| HttpBody { body: body.into(), end_of_stream })
}

fn request() -> impl Strategy<Value = ProcessingRequest> {
    let received = prop_oneof![
        headers().prop_map(Received::RequestHeaders),
        headers().prop_map(Received::ResponseHeaders),
        body().prop_map(Received::RequestBody),
        body().prop_map(Received::ResponseBody),
        Just(Received::RequestTrailers(HttpTrailers {})),
        Just(Received::ResponseTrailers(HttpTrailers {})),
    ];
    let config = (0..7, 0..7).prop_map(|(request_body_mode, response_body_mode)| {
        ProtocolConfiguration { request_body_mode, response_body_mode }
    });
    let attributes = hash_map(text(), object(), 0..2);
    (option::of(received), attributes, any::<bool>(), option::of(config)).prop_map(
        |(request, attributes, observability_mode, protocol_config)| ProcessingRequest {
            request,
            attributes,
            observability_mode,
            protocol_config,
        },
    )
}

fn mutation() -> impl Strategy<Value = HeaderMutation> {
    let actions = [
        HeaderAppendAction::AppendIfExistsOrAdd as i32,
        HeaderAppendAction::OverwriteIfExistsOrAdd as i32,
    ];
    let set = (option::of(header()), proptest::sample::select(actions.to_vec()), any::<bool>())
        .prop_map(|(header, append_action, keep_empty_value)| HeaderValueOption {
            header,
            append_action,
            keep_empty_value,
        });
    (vec(set, 0..3), vec(text(), 0..3))
        .prop_map(|(set_headers, remove_headers)| HeaderMutation { set_headers, remove_headers })
}

fn common() -> impl Strategy<Value = Option<CommonResponse>> {
    let piece = (bytes(), any::<bool>()).prop_map(|(body, end_of_stream)| StreamedBodyResponse {
        body: body.into(),
        end_of_stream,
    });
    let body = option::of(piece).prop_map(|streamed_response| BodyMutation { streamed_response });
    let common =
        (option::of(mutation()), option::of(body)).prop_map(|(header_mutation, body_mutation)| {
            CommonResponse { header_mutation, body_mutation }
        });
    option::of(common)
}

fn response() -> impl Strategy<Value = ProcessingResponse> {
    let status = (0..600).prop_map(|code| HttpStatus { code });
    let immediate = (option::of(status), option::of(mutation()), bytes(), text()).prop_map(
        |(status, headers, body, details)| ImmediateResponse {
            status,
            headers,
            body: body.into(),
            details,
        },
    );
    let reply = prop_oneof![
        common().prop_map(|response| Reply::RequestHeaders(HeadersResponse { response })),
        common().prop_map(|response| Reply::ResponseHeaders(HeadersResponse { response })),
        common().prop_map(|response| Reply::RequestBody(BodyResponse { response })),
        common().prop_map(|response| Reply::ResponseBody(BodyResponse { response })),
        Just(Reply::RequestTrailers(TrailersResponse {})),
        Just(Reply::ResponseTrailers(TrailersResponse {})),
        immediate.prop_map(Reply::ImmediateResponse),
    ];
    (option::of(reply), option::of(object()))
        .prop_map(|(response, dynamic_metadata)| ProcessingResponse { response, dynamic_metadata })
}

/// Both encode `ours` to the same bytes, and read it from them.
fn is_alike<M>(ours: M) -> Result<(), TestCaseError>
where
    M: Message + Default + Clone + Debug + PartialEq + Generated<Full: Debug + PartialEq>,
{
    let full = ours.clone().full();
    let bytes = ours.encode_to_vec();
    prop_assert_eq!(&bytes, &full.encode_to_vec());
    prop_assert_eq!(M::decode(&*bytes).unwrap(), ours);
    prop_assert_eq!(M::Full::decode(&*bytes).unwrap(), full);
    Ok(())
}

proptest! {
    #[test]
    fn what_envoy_sends_is_alike(message in request()) {
        is_alike(message)?;
    }

    #[test]
    fn what_envoy_gets_is_alike(message in response()) {
        is_alike(message)?;
    }
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
        request: Some(Received::RequestTrailers(HttpTrailers {})),
        attributes: [("a".to_owned(), value)].into(),
        ..Default::default()
    };
    assert_eq!(read, expected);
}
