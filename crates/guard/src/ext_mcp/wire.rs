//! The messages of `proto/ext_mcp.proto`.
//!
//! Written by hand: there are few of them, and generating them would need more code than they are. The tests of the
//! command send messages that are built from the interface file.

#![expect(clippy::struct_field_names, reason = "the names are those of the interface")]

use bytes::Bytes;
use envoy_types::pb::google::protobuf::Struct;

/// The name of the service.
pub(super) const SERVICE: &str = "agentgateway.dev.ext_mcp.ExtMcp";

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct McpRequest {
    #[prost(string, repeated, tag = "1")]
    pub(super) service_names: Vec<String>,
    #[prost(string, tag = "2")]
    pub(super) method: String,
    #[prost(message, optional, tag = "3")]
    pub(super) metadata_context: Option<Struct>,
    #[prost(bytes = "bytes", optional, tag = "4")]
    pub(super) mcp_request: Option<Bytes>,
    #[prost(message, repeated, tag = "5")]
    pub(super) headers: Vec<McpHeader>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct McpResponse {
    #[prost(string, repeated, tag = "1")]
    pub(super) service_names: Vec<String>,
    #[prost(string, tag = "2")]
    pub(super) method: String,
    #[prost(message, optional, tag = "3")]
    pub(super) metadata_context: Option<Struct>,
    #[prost(bytes = "bytes", tag = "4")]
    pub(super) mcp_response: Bytes,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct McpRequestResult {
    #[prost(oneof = "Verdict", tags = "1, 2, 3")]
    pub(super) result: Option<Verdict>,
    #[prost(message, optional, tag = "4")]
    pub(super) header_mutation: Option<HeaderMutation>,
    #[prost(message, optional, tag = "5")]
    pub(super) metadata: Option<Struct>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct McpResponseResult {
    #[prost(oneof = "Verdict", tags = "1, 2, 3")]
    pub(super) result: Option<Verdict>,
}

/// What becomes of a message: the same field of both results.
#[derive(Clone, PartialEq, prost::Oneof)]
pub(super) enum Verdict {
    #[prost(message, tag = "1")]
    Pass(Pass),
    #[prost(bytes = "bytes", tag = "2")]
    Mutated(Bytes),
    #[prost(message, tag = "3")]
    Error(AuthorizationError),
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct HeaderMutation {
    #[prost(message, repeated, tag = "1")]
    pub(super) set: Vec<McpHeader>,
    #[prost(string, repeated, tag = "2")]
    pub(super) remove: Vec<String>,
}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct McpHeader {
    #[prost(string, tag = "1")]
    pub(super) key: String,
    #[prost(bytes = "bytes", tag = "2")]
    pub(super) value: Bytes,
}

#[derive(Clone, Copy, PartialEq, prost::Message)]
pub(super) struct Pass {}

#[derive(Clone, PartialEq, prost::Message)]
pub(super) struct AuthorizationError {
    #[prost(enumeration = "Code", tag = "1")]
    pub(super) code: i32,
    #[prost(string, tag = "2")]
    pub(super) reason: String,
    #[prost(bytes = "bytes", optional, tag = "3")]
    pub(super) mcp_error: Option<Bytes>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, prost::Enumeration)]
#[repr(i32)]
pub(super) enum Code {
    Unknown = 0,
    PermissionDenied = 1,
    ResourceExhausted = 2,
    Invalid = 3,
}
