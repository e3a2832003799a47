//! Accepting connections: their number and the time for a request head are limited.

use std::{convert::Infallible, io, net::SocketAddr, sync::Arc, time::Duration};

use http_body_util::{BodyExt as _, Full, Limited, combinators::BoxBody};
use hyper::{
    Request, Response, StatusCode,
    body::{Bytes, Incoming},
    header::CONTENT_TYPE,
    server::conn::http1,
    service::service_fn,
};
use hyper_util::{
    rt::{TokioIo, TokioTimer},
    server::graceful::GracefulShutdown,
};
use serde_json::json;
use tokio::{
    net::{TcpListener, TcpSocket, TcpStream},
    sync::{OwnedSemaphorePermit, Semaphore},
};

/// Capacity of the accept queue. A client that finds it full retries after a second. Tokio's default is 128.
const BACKLOG: u32 = 4096;

/// The most connections at a time, unless the limit on open files is lower.
const MAX_CONNECTIONS: usize = 16_384;

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

/// An HTTP response.
pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Listens on `address`.
pub(super) fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // On Windows this would let two processes share the port.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// The default limit on connections: half the files that this process may open. The other half is left for the tools.
pub(super) fn default_max_connections() -> usize {
    #[cfg(unix)]
    if let Some(files) = rustix::process::getrlimit(rustix::process::Resource::Nofile).current {
        let half =
            usize::try_from(files.saturating_sub(RESERVED_FILES) / 2).unwrap_or(MAX_CONNECTIONS);
        return half.clamp(1, MAX_CONNECTIONS);
    }
    MAX_CONNECTIONS
}

/// Serves up to `max` connections at a time until `stop` completes. Returns the connections that are open then.
pub(super) async fn listen<F, A>(
    listener: TcpListener,
    max: usize,
    answer: F,
    stop: impl Future<Output = ()>,
) -> GracefulShutdown
where
    F: Fn(Request<Incoming>) -> A + Clone + Send + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    let open = GracefulShutdown::new();
    let (places, refusals) =
        (Arc::new(Semaphore::new(max)), Arc::new(Semaphore::new(MAX_REFUSALS)));
    let mut stop = std::pin::pin!(stop);
    // With a timer that fires earlier, setting the timer of each request head does not wake the runtime. That saves
    // one system call per request.
    let mut earlier_timer = tokio::time::interval(HEAD_TIMEOUT / 2);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = earlier_timer.tick() => continue,
            () = &mut stop => return open,
        };
        let stream = match accepted {
            Ok((stream, _)) => stream,
            Err(error) => {
                tracing::warn!(target: "toolpact", "cannot accept a connection: {error}");
                // Most likely out of file descriptors: wait for connections to end.
                tokio::time::sleep(Duration::from_millis(50)).await;
                continue;
            }
        };
        let Ok(place) = Arc::clone(&places).try_acquire_owned() else {
            if let Ok(place) = Arc::clone(&refusals).try_acquire_owned() {
                tracing::warn!(target: "toolpact", "refused a connection: {max} are open, which is the limit");
                tokio::spawn(refuse(stream, max, place));
            }
            continue;
        };
        if let Err(error) = stream.set_nodelay(true) {
            tracing::debug!(target: "toolpact", "cannot set TCP_NODELAY: {error}");
        }
        let answer = answer.clone();
        let service = service_fn(move |request| {
            let answered = answer(request);
            async move { Ok::<_, Infallible>(answered.await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD_TIMEOUT)
            .serve_connection(TokioIo::new(stream), service);
        let connection = open.watch(connection);
        tokio::spawn(async move {
            if let Err(error) = connection.await {
                tracing::debug!(target: "toolpact", "connection failed: {error}");
            }
            drop(place);
        });
    }
}

/// Answers the first request of a connection beyond the limit `max` with status 503.
async fn refuse(stream: TcpStream, max: usize, _place: OwnedSemaphorePermit) {
    let service = service_fn(|request: Request<Incoming>| async move {
        // Closing a connection with unread input may reset it before the client reads the answer.
        _ = Limited::new(request.into_body(), REFUSED_BODY).collect().await;
        Response::builder()
            .status(StatusCode::SERVICE_UNAVAILABLE)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(limit_error(max))))
    });
    let connection =
        http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), service);
    // A client that sends no request in time gets no answer.
    _ = tokio::time::timeout(REFUSAL_TIMEOUT, connection).await;
}

fn limit_error(max: usize) -> String {
    let message = format!("{max} connections are open, which is the limit");
    let error = json!({ "code": -32603, "message": message });
    json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string()
}
