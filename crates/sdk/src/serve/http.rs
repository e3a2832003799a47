//! Streamable HTTP, set up for production.

use std::{io, net::SocketAddr, sync::Arc, time::Duration};

use hyper::{Request, Response, StatusCode, body::Incoming, service::service_fn};
use hyper_util::{
    rt::{TokioExecutor, TokioIo},
    server::{conn::auto, graceful::GracefulShutdown},
};
use rmcp::{
    ServerHandler,
    transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService},
};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;
use tower_service::Service as _;

use super::{ServeError, sessions::Sessions, signal};
use crate::{Options, enforce_with};

/// How long calls that are under way may take to end.
const GRACE: Duration = Duration::from_secs(5);

/// Sessions that may be open, unless [`Http::sessions`] says otherwise.
const SESSIONS: usize = 4096;

/// How long an answer may take from the tool to the client, once calls have ended.
const DELIVERY: Duration = Duration::from_millis(200);

/// A listener for Streamable HTTP at `/mcp`.
///
/// - `TCP_NODELAY` is set: without it, every call on a kept connection waits for a delayed
///   acknowledgement.
/// - `Host` is checked against the loopback names, the address that is listened on and what [`Http::host`] adds,
///   `Origin` against the loopback names and what [`Http::origin`] adds, so that no web page reaches a server through the browser.
/// - Answers that stream nothing are plain JSON, where no session needs a stream.
/// - Clients before 2026-07-28 have sessions, which end five minutes after their last message. There are at
///   most 4096 ([`Http::sessions`]), and a request has at most 4 MiB.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolpact::ServeError> {
/// let http = toolpact::Http::bind("127.0.0.1:0".parse().unwrap()).await?.host("tools.example.org");
/// assert_ne!(http.address().port(), 0);
/// # Ok(()) }
/// ```
#[derive(Debug)]
#[must_use]
pub struct Http {
    listener: TcpListener,
    address: SocketAddr,
    hosts: Vec<String>,
    origins: Vec<String>,
    sessions: usize,
    stop: CancellationToken,
}

impl Http {
    /// Listens on `address`.
    ///
    /// # Errors
    ///
    /// Where that is not possible.
    pub async fn bind(address: SocketAddr) -> Result<Self, ServeError> {
        let failed = |source| ServeError::Listen { address, source };
        let listener = TcpListener::bind(address).await.map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let local = ["localhost", "127.0.0.1", "[::1]"];
        let mut hosts = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
        if !address.ip().is_unspecified() {
            hosts.push(address.ip().to_string());
        }
        Ok(Self {
            listener,
            address,
            hosts,
            origins: local.iter().map(|name| format!("http://{name}:*")).collect(),
            sessions: SESSIONS,
            stop: CancellationToken::new(),
        })
    }

    /// The address that is listened on.
    #[must_use]
    pub const fn address(&self) -> SocketAddr {
        self.address
    }

    /// Accepts requests for `host`, a name with or without a port.
    pub fn host(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Accepts requests of web pages from `origin`, such as `https://app.example.org:443`.
    pub fn origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// Allows `limit` sessions at a time; a client that asks for one more is answered with an error.
    pub const fn sessions(mut self, limit: usize) -> Self {
        self.sessions = limit;
        self
    }

    /// Stops serving when `token` is cancelled, as SIGINT and SIGTERM do.
    pub fn stop_with(mut self, token: CancellationToken) -> Self {
        self.stop = token;
        self
    }

    /// Serves `server` behind the contract of its tools until it is told to stop.
    ///
    /// # Errors
    ///
    /// None so far: a connection that fails is logged and ends alone.
    pub async fn serve<H: ServerHandler + Clone>(self, server: H) -> Result<(), ServeError> {
        let server = enforce_with(server, Options::default().declared_only(true));
        let ended = CancellationToken::new();
        let config = StreamableHttpServerConfig::default()
            .with_json_response(true)
            .with_allowed_hosts(self.hosts)
            .with_allowed_origins(self.origins)
            .with_cancellation_token(ended.clone());
        let calls = server.clone();
        let factory = move || Ok::<_, io::Error>(server.clone());
        let sessions = Arc::new(Sessions::new(self.sessions));
        let service = StreamableHttpService::new(factory, sessions, config);
        let connections = GracefulShutdown::new();
        let mut stop = std::pin::pin!(async {
            tokio::select! {
                () = signal::shutdown() => {}
                () = self.stop.cancelled() => {}
            }
        });
        loop {
            let accepted = tokio::select! {
                accepted = self.listener.accept() => accepted,
                () = &mut stop => break,
            };
            let stream = match accepted {
                Ok((stream, _)) => stream,
                Err(error) => {
                    tracing::warn!(target: "toolpact", "cannot accept a connection: {error}");
                    // Out of file descriptors, most likely: let some connections end.
                    tokio::time::sleep(Duration::from_millis(50)).await;
                    continue;
                }
            };
            if let Err(error) = stream.set_nodelay(true) {
                tracing::debug!(target: "toolpact", "cannot set TCP_NODELAY: {error}");
            }
            let service = service.clone();
            let route = service_fn(move |request: Request<Incoming>| {
                let mut service = service.clone();
                async move {
                    if request.uri().path() == "/mcp" {
                        return service.call(request).await;
                    }
                    let mut response = Response::default();
                    *response.status_mut() = StatusCode::NOT_FOUND;
                    Ok(response)
                }
            });
            let connection = auto::Builder::new(TokioExecutor::new())
                .serve_connection(TokioIo::new(stream), route)
                .into_owned();
            let connection = connections.watch(connection);
            tokio::spawn(async move {
                if let Err(error) = connection.await {
                    tracing::debug!(target: "toolpact", "connection failed: {error}");
                }
            });
        }
        drop(self.listener);
        let streams = async {
            calls.idle().await;
            // Answers are on their way. What is open after that are streams without an end of their own.
            tokio::time::sleep(DELIVERY).await;
            ended.cancel();
            std::future::pending::<()>().await;
        };
        _ = tokio::time::timeout(GRACE, async {
            tokio::select! {
                () = connections.shutdown() => {}
                () = streams => {}
            }
        })
        .await;
        ended.cancel();
        Ok(())
    }
}
