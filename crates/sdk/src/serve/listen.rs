//! Connections: how many there may be, and how long they may take to ask.

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

/// Connections that wait to be accepted; one that finds no place is tried again after a second. The default of
/// tokio is 128.
const WAITING: u32 = 4096;

/// Connections that are served at a time, where the system does not allow fewer files.
const CONNECTIONS: usize = 16_384;

/// Files that are left for other things than connections.
#[cfg(unix)]
const OTHER_FILES: u64 = 64;

/// How long a client may take to send the head of a request.
const HEAD: Duration = Duration::from_secs(30);

/// Connections beyond the limit that are told so at a time; further ones are closed.
const TOLD: usize = 32;

/// How long being told may take, and the most bytes that are read before.
const TELLING: Duration = Duration::from_secs(5);
const LAST_BODY: usize = 64 * 1024;

/// An answer.
pub(super) type Answer = Response<BoxBody<Bytes, Infallible>>;

/// Listens on `address`.
pub(super) fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // On Windows this would let two processes share the port.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING)
}

/// The connections that are served at a time: half the files that this process may open, which leaves as many to
/// the tools.
pub(super) fn connections() -> usize {
    #[cfg(unix)]
    if let Some(files) = rustix::process::getrlimit(rustix::process::Resource::Nofile).current {
        let half = usize::try_from(files.saturating_sub(OTHER_FILES) / 2).unwrap_or(CONNECTIONS);
        return half.clamp(1, CONNECTIONS);
    }
    CONNECTIONS
}

/// Answers those who connect to `listener`, `most` at a time, until `stop`. Gives what is still open then.
pub(super) async fn listen<F, A>(
    listener: TcpListener,
    most: usize,
    answer: F,
    stop: impl Future<Output = ()>,
) -> GracefulShutdown
where
    F: Fn(Request<Incoming>) -> A + Clone + Send + 'static,
    A: Future<Output = Answer> + Send + 'static,
{
    let open = GracefulShutdown::new();
    let (served, told) = (Arc::new(Semaphore::new(most)), Arc::new(Semaphore::new(TOLD)));
    let mut stop = std::pin::pin!(stop);
    // With a nearer one, the timer of each head is set without waking the runtime: one system call less for each
    // request.
    let mut nearer = tokio::time::interval(HEAD / 2);
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = nearer.tick() => continue,
            () = &mut stop => return open,
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
        let Ok(place) = Arc::clone(&served).try_acquire_owned() else {
            if let Ok(place) = Arc::clone(&told).try_acquire_owned() {
                tracing::warn!(target: "toolpact", "{most} connections are open: another is refused");
                tokio::spawn(tell(stream, most, place));
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
            .header_read_timeout(HEAD)
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

/// Answers the first request of a connection that is not served, because `most` are.
async fn tell(stream: TcpStream, most: usize, _place: OwnedSemaphorePermit) {
    let service = service_fn(|request: Request<Incoming>| async move {
        // A connection that is closed while something comes may be reset before its answer is read.
        _ = Limited::new(request.into_body(), LAST_BODY).collect().await;
        Response::builder()
            .status(StatusCode::SERVICE_UNAVAILABLE)
            .header(CONTENT_TYPE, "application/json")
            .body(Full::new(Bytes::from(too_many(most))))
    });
    let connection =
        http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), service);
    // Who does not ask in time is not told.
    _ = tokio::time::timeout(TELLING, connection).await;
}

fn too_many(most: usize) -> String {
    let message = format!("{most} connections are open, and no more are allowed");
    let error = json!({ "code": -32603, "message": message });
    json!({ "jsonrpc": "2.0", "id": null, "error": error }).to_string()
}
