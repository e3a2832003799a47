//! Accepting connections: their number, the time for a request head and the time that a client reads nothing are limited.

use std::{
    convert::Infallible, error::Error, fmt::Display, io, net::SocketAddr, sync::Arc, time::Duration,
};

use http_body_util::{BodyExt as _, Full, Limited};
use hyper::{
    Request, Response, StatusCode,
    body::{Body, Bytes, Incoming},
    header::CONTENT_TYPE,
    server::conn::http1,
    service::service_fn,
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::{GracefulConnection, GracefulShutdown},
};
use serde_json::json;
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
    time::Instant,
};

use crate::write_timeout::WriteTimeout;

/// The most connections at a time, unless the limit on open files is lower.
const MAX_CONNECTIONS: usize = 16_384;

/// Capacity of the accept queue. A client that finds it full retries after a second. Tokio's default is 128.
const BACKLOG: u32 = 4096;

/// Open files that are reserved for other purposes than connections.
#[cfg(unix)]
const RESERVED_FILES: u64 = 64;

/// How long a client may take to send the head of a request.
const HEAD_TIMEOUT: Duration = Duration::from_secs(30);

/// Connections beyond the limit that get an answer with status 503 at a time. Further ones are closed.
const MAX_REFUSALS: usize = 32;

/// How long a refusal may take.
const REFUSAL_TIMEOUT: Duration = Duration::from_secs(5);

/// The most bytes of a refused request that are read.
const REFUSED_BODY: usize = 64 * 1024;

/// How long the same warning is not repeated.
const QUIET: Duration = Duration::from_secs(60);

/// How connections are served.
#[derive(Clone, Copy, Debug)]
pub struct ListenOptions {
    /// The most connections at a time.
    pub max_connections: usize,
    /// Why this is the limit, as the end of the message for clients and for the log.
    pub limit_hint: &'static str,
    /// The most bytes of a request that are buffered for a connection, if not hyper's default.
    pub read_buffer: Option<usize>,
}

impl ListenOptions {
    fn limit_message(&self) -> String {
        let Self { max_connections, limit_hint, .. } = self;
        format!("{max_connections} connections are open, which is the limit{limit_hint}")
    }
}

/// Listens on `address`.
///
/// # Errors
///
/// Fails if the address is not available.
pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // On Windows this would let two processes share the port.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// The default limit on connections: half the files that this process may open. The other half is left for tools, or
/// for connections to servers.
#[must_use]
pub fn default_max_connections() -> usize {
    #[cfg(unix)]
    if let Ok((files, _)) = rlimit::Resource::NOFILE.get() {
        let half =
            usize::try_from(files.saturating_sub(RESERVED_FILES) / 2).unwrap_or(MAX_CONNECTIONS);
        return half.clamp(1, MAX_CONNECTIONS);
    }
    MAX_CONNECTIONS
}

/// Serves HTTP/1 connections until `stop` completes. Then closes `listener` and returns a future that asks the open
/// connections to end and waits for them.
///
/// Calls `warn` if connections are refused or cannot be accepted, at most once a minute for each reason.
pub async fn serve<F, A, B>(
    listener: TcpListener,
    options: ListenOptions,
    answer: F,
    warn: impl Fn(String),
    stop: impl Future<Output = ()>,
) -> impl Future<Output = ()>
where
    F: Fn(Request<Incoming>) -> A + Clone + Send + 'static,
    A: Future<Output = Response<B>> + Send + 'static,
    B: Body<Data: Send, Error: Into<Box<dyn Error + Send + Sync>>> + Send + 'static,
{
    let mut http = http1::Builder::new();
    http.timer(TokioTimer::new()).header_read_timeout(HEAD_TIMEOUT);
    if let Some(bytes) = options.read_buffer {
        http.max_buf_size(bytes);
    }
    let connect = move |stream| {
        let answer = answer.clone();
        let service = service_fn(move |request| {
            let answered = answer(request);
            async move { Ok::<_, Infallible>(answered.await) }
        });
        http.serve_connection(TokioIo::new(WriteTimeout::new(stream)), service)
    };
    let refusals = Arc::new(Semaphore::new(MAX_REFUSALS));
    let refuse = move |stream| {
        if let Ok(place) = Arc::clone(&refusals).try_acquire_owned() {
            tokio::spawn(refuse(stream, options.limit_message(), place));
        }
    };
    accept(listener, options, connect, refuse, warn, stop).await
}

/// Like [`serve`], for connections of any protocol: `connect` serves one, and `refuse` gets those beyond the limit.
pub async fn accept<C>(
    listener: TcpListener,
    options: ListenOptions,
    connect: impl Fn(TcpStream) -> C,
    refuse: impl Fn(TcpStream),
    warn: impl Fn(String),
    stop: impl Future<Output = ()>,
) -> impl Future<Output = ()>
where
    C: GracefulConnection<Error: Display> + Send + 'static,
{
    let open = GracefulShutdown::new();
    let places = Arc::new(Semaphore::new(options.max_connections));
    let (mut accept_failures, mut limit_hits) = (Quiet::default(), Quiet::default());
    let mut stop = std::pin::pin!(stop);
    // With a timer that fires earlier, setting the timer of each request head does not wake the runtime. That saves
    // one system call per request.
    let mut earlier_timer = tokio::time::interval(HEAD_TIMEOUT / 2);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = earlier_timer.tick() => continue,
            () = &mut stop => return open.shutdown(),
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                accept_failures.run(|| warn(format!("cannot accept a connection: {error}")));
                // Most likely out of file descriptors: wait for connections to end.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            limit_hits
                .run(|| warn(format!("{}; further ones are refused", options.limit_message())));
            refuse(stream);
            continue;
        };
        // Without it, small messages on a connection that stays open wait for each other.
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(target: "toolbond", "cannot set TCP_NODELAY: {error}");
        }
        let connection = open.watch(connect(stream));
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(target: "toolbond", "connection failed: {error}");
            }
            drop(place);
        });
    }
}

/// Answers the first request of a connection beyond the limit with status 503 and a JSON-RPC error.
async fn refuse(stream: TcpStream, message: String, _place: OwnedSemaphorePermit) {
    let error = json!({ "code": -32603, "message": message });
    let body = Bytes::from(json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string());
    let service = service_fn(|request: Request<Incoming>| {
        let body = Full::new(body.clone());
        async {
            // Closing a connection with unread input may reset it before the client reads the answer.
            _ = Limited::new(request.into_body(), REFUSED_BODY).collect().await;
            Response::builder()
                .status(StatusCode::SERVICE_UNAVAILABLE)
                .header(CONTENT_TYPE, "application/json")
                .body(body)
        }
    });
    let connection =
        http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), service);
    // A client that sends no request in time gets no answer.
    _ = tokio::time::timeout(REFUSAL_TIMEOUT, connection).await;
}

/// Runs an action at most once per [`QUIET`].
#[derive(Default)]
struct Quiet(Option<Instant>);

impl Quiet {
    fn run(&mut self, action: impl FnOnce()) {
        if self.0.is_none_or(|last| last.elapsed() > QUIET) {
            self.0 = Some(Instant::now());
            action();
        }
    }
}
