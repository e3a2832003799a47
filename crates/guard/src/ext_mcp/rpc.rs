//! The two gRPC methods of the service.

use std::convert::Infallible;
use std::task::{Context, Poll};

use hyper::Request as HttpRequest;
use prost::Message;
use tonic::body::Body;
use tonic::codegen::http::Response as HttpResponse;
use tonic::codegen::{BoxFuture, Service};
use tonic::server::{Grpc, NamedService, UnaryService};
use tonic::{Request, Response, Status};
use tonic_prost::ProstCodec;

use super::ExtMcp;
use super::wire::{McpRequest, McpRequestResult, McpResponse, McpResponseResult, SERVICE};
use crate::grpc;
use crate::http::body::{BodyError, Sender, read_body};
use crate::http::respond::full;

/// The service on gRPC.
#[derive(Clone)]
pub(super) struct Rpc(ExtMcp);

impl Rpc {
    pub(super) fn new(service: ExtMcp) -> Self {
        Self(service)
    }

    async fn answer(self, request: HttpRequest<Body>) -> HttpResponse<Body> {
        let max = grpc::max_message(&self.0.fleet);
        let (parts, body) = request.into_parts();
        // All of it is read before the codec sees it: the codec holds what has come without counting it.
        let limit = max + FRAME_HEAD;
        let body = match read_body(body, Sender::Client, limit, self.0.fleet.memory()).await {
            Ok(body) => full(body),
            Err(error) => return status(&error).into_http(),
        };
        let request = HttpRequest::from_parts(parts, body);
        let path = request.uri().path().strip_prefix('/');
        match path.and_then(|path| path.strip_prefix(SERVICE)?.strip_prefix('/')) {
            Some("CheckRequest") => grpc_within(max).unary(CheckRequest(self.0), request).await,
            Some("CheckResponse") => grpc_within(max).unary(CheckResponse(self.0), request).await,
            _ => Status::unimplemented("expected CheckRequest or CheckResponse").into_http(),
        }
    }
}

/// The bytes before each message.
const FRAME_HEAD: usize = 5;

fn status(error: &BodyError) -> Status {
    let text = error.to_string();
    match error {
        BodyError::TooLong(_) => Status::out_of_range(text),
        BodyError::NoMemory(_) => Status::resource_exhausted(text),
        BodyError::TimedOut => Status::deadline_exceeded(text),
        BodyError::Incomplete => Status::cancelled(text),
    }
}

/// Reads messages of at most `max` bytes.
fn grpc_within<T, U>(max: usize) -> Grpc<ProstCodec<T, U>>
where
    T: Message + Send + 'static,
    U: Message + Default + Send + 'static,
{
    Grpc::new(ProstCodec::default()).apply_max_message_size_config(Some(max), None)
}

impl NamedService for Rpc {
    const NAME: &'static str = SERVICE;
}

impl Service<HttpRequest<Body>> for Rpc {
    type Response = HttpResponse<Body>;
    type Error = Infallible;
    type Future = BoxFuture<Self::Response, Infallible>;

    fn poll_ready(&mut self, _: &mut Context<'_>) -> Poll<Result<(), Infallible>> {
        Poll::Ready(Ok(()))
    }

    fn call(&mut self, request: HttpRequest<Body>) -> Self::Future {
        let service = self.clone();
        Box::pin(async move { Ok(service.answer(request).await) })
    }
}

struct CheckRequest(ExtMcp);

impl UnaryService<McpRequest> for CheckRequest {
    type Response = McpRequestResult;
    type Future = BoxFuture<Response<McpRequestResult>, Status>;

    fn call(&mut self, request: Request<McpRequest>) -> Self::Future {
        let service = self.0.clone();
        Box::pin(
            async move { Ok(Response::new(service.check_request(request.into_inner()).await)) },
        )
    }
}

struct CheckResponse(ExtMcp);

impl UnaryService<McpResponse> for CheckResponse {
    type Response = McpResponseResult;
    type Future = BoxFuture<Response<McpResponseResult>, Status>;

    fn call(&mut self, response: Request<McpResponse>) -> Self::Future {
        let service = self.0.clone();
        Box::pin(
            async move { Ok(Response::new(service.check_response(response.into_inner()).await)) },
        )
    }
}
