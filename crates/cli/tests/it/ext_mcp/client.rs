//! What agentgateway does with the service, message by message: a client whose messages come from the interface file.

use std::sync::LazyLock;

use http_body_util::{BodyExt as _, Full};
use hyper::Request;
use hyper::body::Bytes;
use hyper_util::rt::{TokioExecutor, TokioIo};
use prost_reflect::prost::Message as _;
use prost_reflect::{DescriptorPool, DynamicMessage, Value as Field};
use serde_json::{Value, json};
use tokio::net::TcpStream;
use tokio::runtime::Runtime;

/// The interface.
static POOL: LazyLock<DescriptorPool> = LazyLock::new(|| {
    let folder = concat!(env!("CARGO_MANIFEST_DIR"), "/../guard/proto");
    let files = protox::compile(["ext_mcp.proto"], [folder]).unwrap();
    DescriptorPool::from_file_descriptor_set(files).unwrap()
});

pub(super) const SERVICE: &str = "agentgateway.dev.ext_mcp.ExtMcp";

/// A request of a client, as the gateway knows it.
#[derive(Clone, Default)]
pub(super) struct Asked<'a> {
    pub(super) servers: &'a [&'a str],
    pub(super) method: &'a str,
    pub(super) params: Option<Bytes>,
    pub(super) headers: &'a [(&'a str, &'a str)],
}

/// What the service says about a request or a result.
#[derive(Debug)]
pub(super) struct Reply {
    pub(super) verdict: Verdict,
    /// The headers to set, and to remove.
    pub(super) headers: Vec<(String, Option<String>)>,
    /// What the gateway keeps with the request.
    pub(super) metadata: Option<Field>,
}

#[derive(Debug, PartialEq)]
pub(super) enum Verdict {
    Pass,
    Mutated(Value),
    Error { code: i32, reason: String, mcp_error: Value },
}

impl Verdict {
    /// The reason of an error.
    pub(super) fn reason(&self) -> &str {
        match self {
            Self::Error { reason, .. } => reason,
            other => panic!("{other:?}"),
        }
    }
}

impl Reply {
    /// The note in the metadata.
    pub(super) fn note(&self) -> Value {
        let Some(Field::Message(metadata)) = &self.metadata else { return Value::Null };
        serde_json::to_value(metadata).unwrap()["toolbond"].clone()
    }
}

/// A gRPC error.
#[derive(Debug, PartialEq)]
pub(super) struct Status(pub(super) i32);

/// Sends `body` to a method of a service.
pub(super) fn unary(port: u16, path: &str, body: Vec<u8>) -> Result<Bytes, Status> {
    Runtime::new().unwrap().block_on(async {
        let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let io = TokioIo::new(stream);
        let (mut sender, connection) =
            hyper::client::conn::http2::handshake(TokioExecutor::new(), io).await.unwrap();
        tokio::spawn(connection);
        let request = Request::post(format!("http://127.0.0.1:{port}/{path}"))
            .header("content-type", "application/grpc")
            .header("te", "trailers")
            .body(Full::new(Bytes::from(body)))
            .unwrap();
        let response = sender.send_request(request).await.unwrap();
        let status = response.headers().get("grpc-status").cloned();
        let body = response.into_body().collect().await.unwrap();
        let status = status.or_else(|| body.trailers()?.get("grpc-status").cloned()).unwrap();
        match status.to_str().unwrap() {
            "0" => Ok(body.to_bytes().slice(5..)),
            code => Err(Status(code.parse().unwrap())),
        }
    })
}

/// `message` as a frame of gRPC.
pub(super) fn frame(message: &[u8]) -> Vec<u8> {
    let length = u32::try_from(message.len()).unwrap().to_be_bytes();
    [&[0], &length[..], message].concat()
}

fn message(name: &str) -> DynamicMessage {
    let name = format!("agentgateway.dev.ext_mcp.{name}");
    DynamicMessage::new(POOL.get_message_by_name(&name).unwrap())
}

fn strings(texts: &[&str]) -> Field {
    Field::List(texts.iter().map(|text| Field::String((*text).to_owned())).collect())
}

fn header((key, value): &(&str, &str)) -> Field {
    let mut header = message("McpHeader");
    header.set_field_by_name("key", Field::String((*key).to_owned()));
    header.set_field_by_name("value", Field::Bytes(value.to_string().into()));
    Field::Message(header)
}

/// Asks the service about a request.
pub(super) fn check_request(port: u16, asked: &Asked<'_>) -> Result<Reply, Status> {
    let mut request = message("McpRequest");
    request.set_field_by_name("service_names", strings(asked.servers));
    request.set_field_by_name("method", Field::String(asked.method.to_owned()));
    if let Some(params) = &asked.params {
        request.set_field_by_name("mcp_request", Field::Bytes(params.clone()));
    }
    let headers = asked.headers.iter().map(header).collect();
    request.set_field_by_name("headers", Field::List(headers));
    let path = format!("{SERVICE}/CheckRequest");
    let reply = unary(port, &path, frame(&request.encode_to_vec()))?;
    Ok(read("McpRequestResult", &reply))
}

/// Asks the service about a result; `metadata` is what it said about the request.
pub(super) fn check_response(
    port: u16,
    asked: &Asked<'_>,
    metadata: Option<Field>,
    result: impl Into<Bytes>,
) -> Result<Reply, Status> {
    let mut response = message("McpResponse");
    response.set_field_by_name("service_names", strings(asked.servers));
    response.set_field_by_name("method", Field::String(asked.method.to_owned()));
    if let Some(metadata) = metadata {
        response.set_field_by_name("metadata_context", metadata);
    }
    response.set_field_by_name("mcp_response", Field::Bytes(result.into()));
    let path = format!("{SERVICE}/CheckResponse");
    let reply = unary(port, &path, frame(&response.encode_to_vec()))?;
    Ok(read("McpResponseResult", &reply))
}

fn read(name: &str, bytes: &[u8]) -> Reply {
    let mut reply = message(name);
    reply.merge(bytes).unwrap();
    let field = |message: &DynamicMessage, name: &str| {
        message.get_field_by_name(name).unwrap().into_owned()
    };
    let parse = |field: Field| serde_json::from_slice(field.as_bytes().unwrap()).unwrap();
    let verdict = if reply.has_field_by_name("mutated") {
        Verdict::Mutated(parse(field(&reply, "mutated")))
    } else if reply.has_field_by_name("error") {
        let error = field(&reply, "error");
        let error = error.as_message().unwrap();
        Verdict::Error {
            code: field(error, "code").as_enum_number().unwrap(),
            reason: field(error, "reason").as_str().unwrap().to_owned(),
            mcp_error: parse(field(error, "mcp_error")),
        }
    } else {
        assert!(reply.has_field_by_name("pass"), "{reply:?}");
        Verdict::Pass
    };
    let mut headers = Vec::new();
    let mut metadata = None;
    if name == "McpRequestResult" {
        let mutation = field(&reply, "header_mutation");
        let mutation = mutation.as_message().unwrap();
        for set in field(mutation, "set").as_list().unwrap() {
            let set = set.as_message().unwrap();
            let value =
                String::from_utf8(field(set, "value").as_bytes().unwrap().to_vec()).unwrap();
            headers.push((field(set, "key").as_str().unwrap().to_owned(), Some(value)));
        }
        for remove in field(mutation, "remove").as_list().unwrap() {
            headers.push((remove.as_str().unwrap().to_owned(), None));
        }
        metadata = reply.has_field_by_name("metadata").then(|| field(&reply, "metadata"));
    }
    Reply { verdict, headers, metadata }
}

/// A call of a tool.
pub(super) fn call<'a>(
    servers: &'a [&'a str],
    params: &Value,
    headers: &'a [(&'a str, &'a str)],
) -> Asked<'a> {
    Asked { servers, method: "tools/call", params: Some(params.to_string().into()), headers }
}

/// A request for the tool list: agentgateway sends no `params` of it.
pub(super) fn list<'a>(servers: &'a [&'a str], headers: &'a [(&'a str, &'a str)]) -> Asked<'a> {
    Asked { servers, method: "tools/list", params: None, headers }
}

/// The health of a service: 1 while it serves.
pub(super) fn health(port: u16) -> u8 {
    let name = SERVICE.as_bytes();
    let request = [&[0x0a, u8::try_from(name.len()).unwrap()], name].concat();
    let reply = unary(port, "grpc.health.v1.Health/Check", frame(&request)).unwrap();
    assert_eq!((reply.len(), reply[0]), (2, 8), "{reply:?}");
    reply[1]
}

/// `{ "name": …, "arguments": … }`.
pub(super) fn params(name: &str, arguments: &Value) -> Value {
    json!({ "name": name, "arguments": arguments })
}
