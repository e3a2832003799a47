//! Serving over Streamable HTTP.

use std::{fmt::Display, io, net::SocketAddr, sync::Arc, time::Duration};

use hyper::{Request, Response, StatusCode, body::Incoming};
use rmcp::{
    ServerHandler,
    transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService},
};
use tokio::net::{TcpListener, ToSocketAddrs, lookup_host};
use tokio_util::sync::CancellationToken;
use toolbond_listen::{ListenOptions, bind, default_max_connections, shutdown_signal};

use super::{error::ServeError, sessions::Sessions};
use crate::{ServerOptions, enforce_with};

/// How long calls in progress may take after a signal.
const GRACE_PERIOD: Duration = Duration::from_secs(5);

/// The default limit on sessions.
const MAX_SESSIONS: usize = 4096;

/// How long the answers of finished calls may take to reach their clients.
const DELIVERY: Duration = Duration::from_millis(200);

/// A server on Streamable HTTP, at the path `/mcp`.
///
/// ```
/// # #[derive(Clone)] struct Dice;
/// # #[toolbond::tools] impl Dice { #[tool] fn roll(&self) -> u8 { 4 } }
/// # #[tokio::main(flavor = "current_thread")] async fn main() -> Result<(), toolbond::ServeError> {
/// let http = toolbond::Http::bind("localhost:0").await?.allow_host("tools.example.org");
/// println!("listening on http://{}/mcp", http.local_addr());
/// # let stop = toolbond::CancellationToken::new();
/// # stop.cancel();
/// # let http = http.shutdown_on(stop);
/// http.serve(Dice).await
/// # }
/// ```
///
/// - **Host and origin.** `Host` must be a loopback name, the bound address or name, or one of [`Http::allow_host`].
///   `Origin` must be a loopback name or one of [`Http::allow_origin`]. Web pages therefore cannot reach the server
///   through a browser.
/// - **Answers** are plain JSON, unless the session needs an event stream.
/// - **Sessions** exist for clients before 2026-07-28 and end five minutes after their last message. At most 4096 are
///   open at a time ([`Http::max_sessions`]). A request has at most 4 MiB.
/// - **Connections** are limited to half the files that the process may open (`ulimit -n`), and to 16,384
///   ([`Http::max_connections`]). A client beyond the limit gets status 503. A client has 30 seconds to send the head
///   of a request. `TCP_NODELAY` is set.
#[derive(Debug)]
#[must_use]
pub struct Http {
    listener: TcpListener,
    address: SocketAddr,
    hosts: Vec<String>,
    origins: Vec<String>,
    max_sessions: usize,
    max_connections: usize,
    options: ServerOptions,
    shutdown: CancellationToken,
}

impl Http {
    /// Binds `address`: a [`SocketAddr`], or text such as `"127.0.0.1:8080"` or `"localhost:8080"`. Port 0 binds any free
    /// port. A name with several addresses is bound to one of them, an IPv4 address if there is one.
    ///
    /// # Errors
    ///
    /// Fails if the text is not an address or the address is not available.
    pub async fn bind(address: impl ToSocketAddrs + Display) -> Result<Self, ServeError> {
        let name = address.to_string();
        let failed = |source| ServeError::from_bind(&name, source);
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
        if name.parse::<SocketAddr>().is_err() {
            hosts.extend(name.rsplit_once(':').map(|(host, _)| host.to_owned()));
        }
        Ok(Self {
            listener,
            address,
            hosts,
            origins: local.iter().map(|name| format!("http://{name}:*")).collect(),
            max_sessions: MAX_SESSIONS,
            max_connections: default_max_connections(),
            options: ServerOptions::of_program(),
            shutdown: CancellationToken::new(),
        })
    }

    /// The bound address.
    #[must_use]
    pub const fn local_addr(&self) -> SocketAddr {
        self.address
    }

    /// Accepts requests whose `Host` is `host`, a name with or without a port.
    pub fn allow_host(mut self, host: impl Into<String>) -> Self {
        self.hosts.push(host.into());
        self
    }

    /// Accepts requests of web pages from `origin`, for example `https://app.example.org:443`.
    pub fn allow_origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// Sets the limit on open sessions. A client beyond it gets an error.
    pub const fn max_sessions(mut self, limit: usize) -> Self {
        self.max_sessions = limit;
        self
    }

    /// Sets the limit on open connections. A client beyond it gets an error.
    pub const fn max_connections(mut self, limit: usize) -> Self {
        self.max_connections = limit;
        self
    }

    /// Sets other options than `ServerOptions::default().declared_capabilities_only(true)`.
    pub fn options(mut self, options: ServerOptions) -> Self {
        self.options = options;
        self
    }

    /// Shuts the server down when `token` is cancelled, as SIGINT and SIGTERM do.
    pub fn shutdown_on(mut self, token: CancellationToken) -> Self {
        self.shutdown = token;
        self
    }

    /// Serves `server` behind the contract of its tools until SIGINT, SIGTERM or [`Http::shutdown_on`]. Calls in
    /// progress then have five seconds to finish.
    ///
    /// # Errors
    ///
    /// Does not fail today. A connection that fails is logged and does not affect the others.
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
        let sessions = Arc::new(Sessions::new(self.max_sessions));
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
                () = shutdown_signal() => {}
                () = self.shutdown.cancelled() => {}
            }
        };
        let limits = ListenOptions {
            max_connections: self.max_connections,
            limit_hint: "",
            read_buffer: None,
        };
        let warn = |text| tracing::warn!(target: "toolbond", "{text}");
        let open = toolbond_listen::serve(self.listener, limits, answer, warn, stop).await;
        let streams = async {
            calls.wait_until_idle().await;
            // After the answers have left, only event streams that never end by themselves are open.
            tokio::time::sleep(DELIVERY).await;
            ended.cancel();
            std::future::pending::<()>().await;
        };
        _ = tokio::time::timeout(GRACE_PERIOD, async {
            tokio::select! {
                () = open => {}
                () = streams => {}
            }
        })
        .await;
        ended.cancel();
        Ok(())
    }
}
