//! The contract as a service for Envoy: its filter `ext_proc` sends requests and responses here.

mod body;
mod direction;
mod exchange;
mod half;
mod handover;
mod headers;
mod reply;
mod route;

use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use envoy_types::pb::envoy::service::ext_proc::v3::external_processor_server::{
    ExternalProcessor, ExternalProcessorServer,
};
use envoy_types::pb::envoy::service::ext_proc::v3::processing_request::Request as Message;
use envoy_types::pb::envoy::service::ext_proc::v3::{ProcessingRequest, ProcessingResponse};
use futures_util::{FutureExt as _, Stream};
use hyper::{HeaderMap, StatusCode};
use tokio::net::TcpListener;
use tokio::sync::{Semaphore, mpsc};
use tonic::{Request, Response, Status, Streaming};

use self::exchange::{Exchange, MAX_REPLIES};
use self::route::named_server;
use crate::event::Event;
use crate::fleet::Fleet;
use crate::grpc;
use crate::http::media::{Media, media};

/// The most HTTP requests at a time, over all connections of Envoy.
const MAX_STREAMS: usize = 16_384;

/// Serves the servers of a configuration to Envoy.
#[derive(Clone, Debug)]
pub struct ExtProc {
    fleet: Arc<Fleet>,
    streams: Arc<Semaphore>,
}

impl ExtProc {
    /// Serves the servers of `fleet`, which are on HTTP.
    #[must_use]
    pub fn new(fleet: Arc<Fleet>) -> Self {
        Self { fleet, streams: Arc::new(Semaphore::new(MAX_STREAMS)) }
    }

    /// Answers Envoy on `listener`. After `end`, the health check says so for the time `drain`, so that Envoy sends
    /// new requests elsewhere; then the listener closes, and open requests have ten seconds to finish.
    ///
    /// Fails if the listener does.
    pub async fn serve(
        self,
        listener: TcpListener,
        end: impl Future<Output = ()>,
        drain: Duration,
    ) -> Result<(), tonic::transport::Error> {
        let fleet = Arc::clone(&self.fleet);
        let max = grpc::max_message(&fleet);
        let service = ExternalProcessorServer::new(self).max_decoding_message_size(max);
        grpc::serve(service, fleet, listener, end, drain).await
    }

    /// Answers the messages of one HTTP request.
    async fn run(
        &self,
        metadata: &tonic::metadata::MetadataMap,
        mut inbound: Streaming<ProcessingRequest>,
        outbound: mpsc::Sender<Result<ProcessingResponse, Status>>,
    ) -> Result<(), Status> {
        let Some(first) = inbound.message().await? else { return Ok(()) };
        let modes = first
            .protocol_config
            .map_or((0, 0), |config| (config.request_body_mode, config.response_body_mode));
        if first.observability_mode {
            return Err(Status::failed_precondition(
                "the ext_proc filter of Envoy has observability_mode, in which nothing can be refused",
            ));
        }
        let Some(Message::RequestHeaders(headers)) = first.request else {
            return Err(Status::failed_precondition(
                "expected the headers of a request first; set request_header_mode to SEND",
            ));
        };
        let exchange = Exchange::new(inbound, outbound, modes);
        let Ok(_permit) = self.streams.try_acquire() else {
            let reason = format!("{MAX_STREAMS} requests are open, which is the limit");
            return exchange.refuse(StatusCode::SERVICE_UNAVAILABLE, &reason).await;
        };
        let proxy = match named_server(&self.fleet, metadata, &first.attributes, &headers) {
            Ok(proxy) => proxy,
            Err(reason) => {
                self.fleet.report(Event::error(reason.clone()));
                return exchange.refuse(StatusCode::NOT_FOUND, &reason).await;
            }
        };
        if !proxy.server().rules().settings.is_inspecting() {
            return exchange.release().await;
        }
        proxy.keep_watching();
        exchange.check(headers, &proxy).await
    }
}

/// Whether a response with these headers may have messages in its body.
fn is_checked(headers: &HeaderMap) -> bool {
    !matches!(media(headers), Ok(Media::Other))
}

#[tonic::async_trait]
impl ExternalProcessor for ExtProc {
    type ProcessStream = Pin<Box<dyn Stream<Item = Result<ProcessingResponse, Status>> + Send>>;

    async fn process(
        &self,
        request: Request<Streaming<ProcessingRequest>>,
    ) -> Result<Response<Self::ProcessStream>, Status> {
        let (metadata, _, inbound) = request.into_parts();
        let (sender, mut replies) = mpsc::channel(MAX_REPLIES);
        let service = self.clone();
        tokio::spawn(async move {
            let run = AssertUnwindSafe(service.run(&metadata, inbound, sender.clone()));
            let panicked = |_| Err(Status::internal("checking the request failed"));
            if let Err(status) = run.catch_unwind().await.unwrap_or_else(panicked) {
                // Without it Envoy would go on unchecked.
                let _ = sender.send(Err(status)).await;
            }
        });
        let replies = futures_util::stream::poll_fn(move |context| replies.poll_recv(context));
        Ok(Response::new(Box::pin(replies)))
    }
}
