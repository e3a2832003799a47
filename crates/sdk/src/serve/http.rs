//! Streamable HTTP, set up for production.

use std::{fmt::Display, io, net::SocketAddr, sync::Arc, time::Duration};

use hyper::{Request, Response, StatusCode, body::Incoming};
use rmcp::{
    ServerHandler,
    transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService},
};
use tokio::net::{TcpListener, ToSocketAddrs, lookup_host};
use tokio_util::sync::CancellationToken;

use super::{
    ServeError,
    listen::{bind, connections, listen},
    sessions::Sessions,
    signal, usual,
};
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
/// - `Host` is checked against the loopback names, the address and name that is listened on and what [`Http::host`] adds,
///   `Origin` against the loopback names and what [`Http::origin`] adds, so that no web page reaches a server through the browser.
/// - Answers that stream nothing are plain JSON, where no session needs a stream.
/// - Clients before 2026-07-28 have sessions, which end five minutes after their last message. There are at
///   most 4096 ([`Http::sessions`]), and a request has at most 4 MiB.
/// - As many connections are served at a time as half the files that the process may open (`ulimit -n`), at most
///   16,384 ([`Http::connections`]); one more is answered with status 503. Up to 4096 wait to be accepted.
///   A client may take 30 seconds to send the head of a request, or the next one on a kept connection.
///
/// ```
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolpact::ServeError> {
/// let http = toolpact::Http::bind("localhost:0").await?.host("tools.example.org");
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
    connections: usize,
    options: Options,
    stop: CancellationToken,
}

impl Http {
    /// Listens on `address`, such as a [`SocketAddr`], `"127.0.0.1:8080"` or `"localhost:8080"`; with the port 0, on any
    /// that is free. Of the addresses of a name one is listened on, an IPv4 address if there is one.
    ///
    /// # Errors
    ///
    /// Where that is not possible.
    pub async fn bind(address: impl ToSocketAddrs + Display) -> Result<Self, ServeError> {
        let wanted = address.to_string();
        let failed = |source| ServeError::of(&wanted, source);
        let found = lookup_host(address).await.map_err(failed)?;
        let Some(address) = found.min_by_key(SocketAddr::is_ipv6) else {
            return Err(failed(io::ErrorKind::NotFound.into()));
        };
        let listener = bind(address).map_err(failed)?;
        let address = listener.local_addr().map_err(failed)?;
        let local = ["localhost", "127.0.0.1", "[::1]"];
        let mut hosts = ["localhost", "127.0.0.1", "::1"].map(str::to_owned).to_vec();
        if !address.ip().is_unspecified() {
            hosts.push(address.ip().to_string());
        }
        if wanted.parse::<SocketAddr>().is_err() {
            hosts.extend(wanted.rsplit_once(':').map(|(name, _)| name.to_owned()));
        }
        Ok(Self {
            listener,
            address,
            hosts,
            origins: local.iter().map(|name| format!("http://{name}:*")).collect(),
            sessions: SESSIONS,
            connections: connections(),
            options: usual(),
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

    /// Serves `limit` connections at a time; a client that asks on one more is answered with an error.
    pub const fn connections(mut self, limit: usize) -> Self {
        self.connections = limit;
        self
    }

    /// Holds the server to its contract with other options than `Options::default().declared_only(true)`.
    pub fn options(mut self, options: Options) -> Self {
        self.options = options;
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
        let server = enforce_with(server, self.options);
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
        let answer = move |request: Request<Incoming>| {
            let service = service.clone();
            async move {
                if request.uri().path() == "/mcp" {
                    return service.handle(request).await;
                }
                let mut response = Response::default();
                *response.status_mut() = StatusCode::NOT_FOUND;
                response
            }
        };
        let stop = async {
            tokio::select! {
                () = signal::shutdown() => {}
                () = self.stop.cancelled() => {}
            }
        };
        let open = listen(self.listener, self.connections, answer, stop).await;
        let streams = async {
            calls.idle().await;
            // Answers are on their way. What is open after that are streams without an end of their own.
            tokio::time::sleep(DELIVERY).await;
            ended.cancel();
            std::future::pending::<()>().await;
        };
        _ = tokio::time::timeout(GRACE, async {
            tokio::select! {
                () = open.shutdown() => {}
                () = streams => {}
            }
        })
        .await;
        ended.cancel();
        Ok(())
    }
}
