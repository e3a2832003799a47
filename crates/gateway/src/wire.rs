//! The messages of Envoy's service `envoy.service.ext_proc.v3.ExternalProcessor`: those that are used, with the fields
//! that are. Others are skipped.

use std::collections::HashMap;

use bytes::Bytes;
use prost::{Enumeration, Message, Oneof};

/// What Envoy sends.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ProcessingRequest {
    #[prost(oneof = "Received", tags = "2, 3, 4, 5, 6, 7")]
    pub(super) request: Option<Received>,
    /// The attributes that the filter was asked for, by the name of a filter.
    #[prost(map = "string, message", tag = "9")]
    pub(super) attributes: HashMap<String, Struct>,
    /// Whether Envoy ignores every answer.
    #[prost(bool, tag = "10")]
    pub(super) observability_mode: bool,
    /// In the first message of a stream.
    #[prost(message, optional, tag = "11")]
    pub(super) protocol_config: Option<ProtocolConfiguration>,
}

/// The part of an HTTP request or response that Envoy sends.
#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Received {
    #[prost(message, tag = "2")]
    RequestHeaders(HttpHeaders),
    #[prost(message, tag = "3")]
    ResponseHeaders(HttpHeaders),
    #[prost(message, tag = "4")]
    RequestBody(HttpBody),
    #[prost(message, tag = "5")]
    ResponseBody(HttpBody),
    #[prost(message, tag = "6")]
    RequestTrailers(Trailers),
    #[prost(message, tag = "7")]
    ResponseTrailers(Trailers),
}

/// How the filter of Envoy is configured.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ProtocolConfiguration {
    #[prost(enumeration = "BodySendMode", tag = "1")]
    pub(super) request_body_mode: i32,
    #[prost(enumeration = "BodySendMode", tag = "2")]
    pub(super) response_body_mode: i32,
}

/// How Envoy sends bodies.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Enumeration)]
pub(super) enum BodySendMode {
    None = 0,
    Streamed = 1,
    Buffered = 2,
    BufferedPartial = 3,
    FullDuplexStreamed = 4,
    Grpc = 5,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct HttpHeaders {
    #[prost(message, optional, tag = "1")]
    pub(super) headers: Option<HeaderMap>,
    #[prost(bool, tag = "3")]
    pub(super) end_of_stream: bool,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct HeaderMap {
    #[prost(message, repeated, tag = "1")]
    pub(super) headers: Vec<HeaderValue>,
}

/// A header: one of `value` and `raw_value` is empty.
#[derive(Clone, PartialEq, Message)]
pub(super) struct HeaderValue {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    #[prost(string, tag = "2")]
    pub(super) value: String,
    #[prost(bytes = "vec", tag = "3")]
    pub(super) raw_value: Vec<u8>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct HttpBody {
    #[prost(bytes = "bytes", tag = "1")]
    pub(super) body: Bytes,
    #[prost(bool, tag = "2")]
    pub(super) end_of_stream: bool,
}

/// What Envoy calls `HttpTrailers`, and `TrailersResponse`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Trailers {}

/// An object of JSON.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Struct {
    #[prost(map = "string, message", tag = "1")]
    pub(super) fields: HashMap<String, Value>,
}

/// A value of JSON.
#[derive(Clone, PartialEq, Message)]
pub(super) struct Value {
    #[prost(oneof = "Kind", tags = "3, 5")]
    pub(super) kind: Option<Kind>,
}

/// The kinds of values that are used.
#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Kind {
    #[prost(string, tag = "3")]
    StringValue(String),
    #[prost(message, tag = "5")]
    StructValue(Struct),
}

/// What Envoy is answered.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ProcessingResponse {
    #[prost(oneof = "Reply", tags = "1, 2, 3, 4, 5, 6, 7")]
    pub(super) response: Option<Reply>,
    /// For other parts of Envoy.
    #[prost(message, optional, tag = "8")]
    pub(super) dynamic_metadata: Option<Struct>,
}

/// What becomes of a part of an HTTP request or response.
#[derive(Clone, PartialEq, Oneof)]
pub(super) enum Reply {
    #[prost(message, tag = "1")]
    RequestHeaders(PartResponse),
    #[prost(message, tag = "2")]
    ResponseHeaders(PartResponse),
    #[prost(message, tag = "3")]
    RequestBody(PartResponse),
    #[prost(message, tag = "4")]
    ResponseBody(PartResponse),
    #[prost(message, tag = "5")]
    RequestTrailers(Trailers),
    #[prost(message, tag = "6")]
    ResponseTrailers(Trailers),
    #[prost(message, tag = "7")]
    ImmediateResponse(ImmediateResponse),
}

/// What Envoy calls `HeadersResponse` and `BodyResponse`.
#[derive(Clone, PartialEq, Message)]
pub(super) struct PartResponse {
    #[prost(message, optional, tag = "1")]
    pub(super) response: Option<CommonResponse>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct CommonResponse {
    #[prost(message, optional, tag = "2")]
    pub(super) header_mutation: Option<HeaderMutation>,
    #[prost(message, optional, tag = "3")]
    pub(super) body_mutation: Option<BodyMutation>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct HeaderMutation {
    #[prost(message, repeated, tag = "1")]
    pub(super) set_headers: Vec<HeaderValueOption>,
    #[prost(string, repeated, tag = "2")]
    pub(super) remove_headers: Vec<String>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct HeaderValueOption {
    #[prost(message, optional, tag = "1")]
    pub(super) header: Option<HeaderValue>,
    #[prost(enumeration = "HeaderAppendAction", tag = "3")]
    pub(super) append_action: i32,
    #[prost(bool, tag = "4")]
    pub(super) keep_empty_value: bool,
}

/// What becomes of a header that is there already.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Enumeration)]
pub(super) enum HeaderAppendAction {
    AppendIfExistsOrAdd = 0,
    OverwriteIfExistsOrAdd = 2,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct BodyMutation {
    #[prost(message, optional, tag = "3")]
    pub(super) streamed_response: Option<StreamedBodyResponse>,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct StreamedBodyResponse {
    #[prost(bytes = "bytes", tag = "1")]
    pub(super) body: Bytes,
    #[prost(bool, tag = "2")]
    pub(super) end_of_stream: bool,
}

/// An answer to the client in place of the server.
#[derive(Clone, PartialEq, Message)]
pub(super) struct ImmediateResponse {
    #[prost(message, optional, tag = "1")]
    pub(super) status: Option<HttpStatus>,
    #[prost(message, optional, tag = "2")]
    pub(super) headers: Option<HeaderMutation>,
    #[prost(bytes = "bytes", tag = "3")]
    pub(super) body: Bytes,
    /// Why, for the log of Envoy.
    #[prost(string, tag = "5")]
    pub(super) details: String,
}

#[derive(Clone, PartialEq, Message)]
pub(super) struct HttpStatus {
    #[prost(int32, tag = "1")]
    pub(super) code: i32,
}
