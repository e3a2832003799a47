//! The contract as a service for Envoy: its filter `ext_proc` sends requests and responses here.

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use futures_util::FutureExt as _;
use futures_util::future::LocalBoxFuture;
use hyper::body::Incoming;
use hyper::{HeaderMap, Request, StatusCode};
use tokio::net::TcpListener;
use tokio::sync::Semaphore;
use toolbond_guard::gateway::Servers;
use toolbond_guard::{Event, Fleet};

use crate::exchange::Exchange;
use crate::grpc::{self, Code, Delivered, Messages, Replies, ReplySender, Status, replies};
use crate::mode;
use crate::route::named_server;
use crate::wire::{ProcessingRequest, Received};

/// The service of Envoy.
const NAME: &str = "envoy.service.ext_proc.v3.ExternalProcessor";

/// The most HTTP requests at a time, over all connections of Envoy, unless another limit is set.
const MAX_STREAMS: usize = 16_384;

/// The most bytes of a message of Envoy beside the body in it: names, headers and metadata.
const BESIDE_BODY: usize = 1 << 20;

/// The messages to Envoy that wait to be sent.
const MAX_REPLIES: usize = 4;

/// Serves the servers of a configuration to Envoy.
#[derive(Clone, Debug)]
pub struct ExtProc {
    servers: Servers,
    max_streams: usize,
    streams: Arc<Semaphore>,
}

impl ExtProc {
    /// Serves the servers of `fleet`, which are on HTTP.
    #[must_use]
    pub fn new(fleet: Arc<Fleet>) -> Self {
        let (servers, streams) = (Servers::new(fleet), Arc::new(Semaphore::new(MAX_STREAMS)));
        Self { servers, max_streams: MAX_STREAMS, streams }
    }

    /// Limits the HTTP requests at a time, over all connections of Envoy. The default is 16384.
    #[must_use]
    pub fn max_requests(self, max: usize) -> Self {
        Self { max_streams: max, streams: Arc::new(Semaphore::new(max)), ..self }
    }

    /// Answers Envoy on `listener`. After `end`, the health check says so for the time `drain`, so that Envoy sends
    /// new requests elsewhere; then the listener closes, and open requests have ten seconds to finish.
    pub fn serve(
        self,
        listener: TcpListener,
        end: LocalBoxFuture<'static, ()>,
        drain: Duration,
    ) -> LocalBoxFuture<'static, ()> {
        let servers = self.servers.clone();
        let answer =
            move |method: &str, request| (method == "Process").then(|| self.answer(request));
        Box::pin(async move { grpc::serve(NAME, answer, &servers, listener, end, drain).await })
    }

    /// Answers the messages of one HTTP request.
    async fn run(
        &self,
        metadata: &HeaderMap,
        mut inbound: Messages<ProcessingRequest>,
        outbound: ReplySender,
    ) -> Result<(), Status> {
        let Some(first) = inbound.next().await? else { return Ok(()) };
        let Delivered { message: first, memory: _memory } = first;
        if first.observability_mode {
            return Err(Status::new(
                Code::FailedPrecondition,
                "the ext_proc filter of Envoy has observability_mode, in which nothing can be refused",
            ));
        }
        let Some(Received::RequestHeaders(headers)) = first.request else {
            return Err(Status::new(
                Code::FailedPrecondition,
                "expected the headers of a request first; set request_header_mode to SEND",
            ));
        };
        let exchange = Exchange::new(inbound, outbound);
        let Ok(_permit) = self.streams.try_acquire() else {
            let reason = format!("{} requests are open, which is the limit", self.max_streams);
            return exchange.refuse(StatusCode::SERVICE_UNAVAILABLE, &reason).await;
        };
        let server = match named_server(&self.servers, metadata, &first.attributes, &headers) {
            Ok(server) => server,
            Err(reason) => {
                self.servers.report(Event::error(reason.clone()));
                return exchange.refuse(StatusCode::NOT_FOUND, &reason).await;
            }
        };
        if let Some(reason) = mode::unusable(&first.protocol_config.unwrap_or_default()) {
            server.report_once(Event::error(reason.clone()));
            return exchange.refuse(StatusCode::INTERNAL_SERVER_ERROR, &reason).await;
        }
        if !server.is_inspecting() {
            return exchange.pass_on().await;
        }
        exchange.check(headers, &server).await
    }

    /// Answers the gRPC request for one HTTP request.
    fn answer(&self, request: Request<Incoming>) -> Replies {
        let (parts, body) = request.into_parts();
        let max = self.servers.max_message().saturating_add(BESIDE_BODY);
        let inbound = Messages::new(body, max, self.servers.memory());
        let (sender, replies) = replies(MAX_REPLIES, self.servers.memory());
        let service = self.clone();
        tokio::spawn(async move {
            let run = AssertUnwindSafe(service.run(&parts.headers, inbound, sender.clone()));
            let panicked = |_| Err(Status::new(Code::Internal, "checking the request failed"));
            if let Err(status) = run.catch_unwind().await.unwrap_or_else(panicked) {
                // Without it Envoy would go on unchecked.
                sender.end(status).await;
            }
        });
        replies
    }
}
