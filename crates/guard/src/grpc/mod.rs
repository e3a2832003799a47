//! Serving a gRPC service to a gateway: with health checks, and until it is asked to end.

mod connection;

use std::convert::Infallible;
use std::sync::Arc;
use std::time::Duration;

use hyper::Request;
use tokio::net::TcpListener;
use tonic::body::Body;
use tonic::codegen::Service;
use tonic::codegen::http::Response;
use tonic::server::NamedService;
use tonic_health::ServingStatus;

use crate::fleet::Fleet;

/// The most bytes of a message of a gateway beside the body or the JSON in it: names, headers and metadata.
const BESIDE_BODY: usize = 1 << 20;

/// The most requests at a time over one connection; a gateway opens more connections when it needs them.
const STREAMS_OF_CONNECTION: u32 = 1024;

/// The bytes of one request that a gateway may send before they are read. The connection takes as much for each request, so
/// that one whose body is not read holds up no other.
const STREAM_WINDOW: u32 = 64 << 10;

/// How long open requests may take after the service was asked to end.
const GRACE_PERIOD: Duration = Duration::from_secs(10);

/// The most bytes of a message of a gateway about one of the servers of `fleet`.
pub(crate) fn max_message(fleet: &Fleet) -> usize {
    fleet.max_message().saturating_add(BESIDE_BODY)
}

/// Answers a gateway on `listener`. After `end`, the health check says so for the time `drain`, so that the gateway
/// sends new requests elsewhere; then the listener closes, and open requests have [`GRACE_PERIOD`] to finish.
///
/// Fails if the listener does.
pub(crate) async fn serve<S>(
    service: S,
    fleet: Arc<Fleet>,
    listener: TcpListener,
    end: impl Future<Output = ()>,
    drain: Duration,
) -> Result<(), tonic::transport::Error>
where
    S: Service<Request<Body>, Response = Response<Body>, Error = Infallible>
        + NamedService
        + Clone
        + Send
        + Sync
        + 'static,
    S::Future: Send,
{
    let (health, health_service) = tonic_health::server::health_reporter();
    health.set_service_status(S::NAME, ServingStatus::Serving).await;
    let ended = Arc::new(tokio::sync::Notify::new());
    let told = Arc::clone(&ended);
    let end = async move {
        end.await;
        health.set_service_status(S::NAME, ServingStatus::NotServing).await;
        health.set_service_status("", ServingStatus::NotServing).await;
        tokio::time::sleep(drain).await;
        fleet.close_streams();
        told.notify_one();
    };
    let served = tonic::transport::Server::builder()
        .http2_keepalive_interval(Some(Duration::from_secs(30)))
        .max_concurrent_streams(Some(STREAMS_OF_CONNECTION))
        .initial_stream_window_size(Some(STREAM_WINDOW))
        .initial_connection_window_size(Some(STREAM_WINDOW * STREAMS_OF_CONNECTION))
        // A gateway resets the streams of clients that leave. By default the 21st that was not accepted yet ends the
        // connection, and with it the requests of all other clients.
        .http2_max_pending_accept_reset_streams(Some(STREAMS_OF_CONNECTION as usize))
        .add_service(health_service)
        .add_service(service)
        .serve_with_incoming_shutdown(connection::accept(listener), end);
    let overtime = async {
        ended.notified().await;
        tokio::time::sleep(GRACE_PERIOD).await;
    };
    tokio::select! {
        served = served => served,
        () = overtime => Ok(()),
    }
}
