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

/// The service on gRPC.
#[derive(Clone)]
pub(super) struct Rpc(ExtMcp);

impl Rpc {
    pub(super) fn new(service: ExtMcp) -> Self {
        Self(service)
    }

    async fn answer(self, request: HttpRequest<Body>) -> HttpResponse<Body> {
        let max = Some(grpc::max_message(&self.0.fleet));
        let method = request.uri().path().strip_prefix('/');
        let method = method.and_then(|path| path.strip_prefix(SERVICE)?.strip_prefix('/'));
        match method {
            Some("CheckRequest") => {
                codec()
                    .apply_max_message_size_config(max, None)
                    .unary(CheckRequest(self.0), request)
                    .await
            }
            Some("CheckResponse") => {
                codec()
                    .apply_max_message_size_config(max, None)
                    .unary(CheckResponse(self.0), request)
                    .await
            }
            _ => Status::unimplemented("expected CheckRequest or CheckResponse").into_http(),
        }
    }
}

fn codec<T, U>() -> Grpc<ProstCodec<T, U>>
where
    T: Message + Send + 'static,
    U: Message + Default + Send + 'static,
{
    Grpc::new(ProstCodec::default())
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
