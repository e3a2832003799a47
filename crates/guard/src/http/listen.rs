//! Listening for clients, within a limit of connections.

use std::convert::Infallible;
use std::io;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant};

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response, StatusCode};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::{TcpListener, TcpSocket, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};

use super::body::read_request;
use super::respond::{Body, refuse};
use crate::message::code;
use crate::runtime::memory::MemoryLimit;
use crate::runtime::signals::{Caught, Signals};

/// How long open requests may take after the guard was told to end.
const LAST_ANSWERS: Duration = Duration::from_secs(10);

/// How long a client may take to send the head of a request.
const HEAD: Duration = Duration::from_secs(30);

/// The connections that may wait to be accepted. Where the queue is full, clients try again after a
/// second; the default of tokio is 128.
const BACKLOG: u32 = 4096;

/// The most bytes of a request that are buffered for a connection.
pub(super) const BUFFER: usize = 64 << 10;

/// Listens on `address`.
///
/// Fails where the system does not allow that.
pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // On Windows this would let two processes share the port.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(BACKLOG)
}

/// Waits until a signal tells this process to end; where it `reloads`, SIGHUP does not. A second
/// signal ends the process at once.
///
/// Fails where the process cannot register for signals.
pub async fn until_told_to_end(reloads: bool) -> io::Result<()> {
    let mut signals = Signals::listen()?;
    loop {
        match signals.next().await {
            #[cfg(unix)]
            Caught::HangUp if reloads => {}
            _ => {
                tokio::spawn(async move {
                    let code = signals.next().await.exit_code();
                    #[expect(clippy::exit, reason = "the second signal asks for it")]
                    std::process::exit(code.into());
                });
                return Ok(());
            }
        }
    }
}

/// The most connections at a time, where the system does not allow fewer files.
const MAX_CONNECTIONS: usize = 16_384;

/// The files that are kept for other things than connections.
const OTHER_FILES: usize = 64;

/// The connections beyond the limit that get an error at a time; further ones are closed.
const REFUSALS: usize = 32;

/// How long the same warning is not repeated.
const QUIET: Duration = Duration::from_secs(60);

/// How long a refusal may take, and the most bytes that are read before it.
const REFUSAL: Duration = Duration::from_secs(5);
const REFUSED_BODY: usize = 64 << 10;

/// The most connections at a time: each may need another one, to the server.
fn connection_limit() -> usize {
    #[cfg(unix)]
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(unix))]
    let files = None;
    let files = files.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX));
    (files.saturating_sub(OTHER_FILES) / 2).clamp(1, MAX_CONNECTIONS)
}

/// Why a connection is refused while `limit` are open.
fn too_many(limit: usize) -> String {
    format!(
        "{limit} connections are open, which is the limit: half the files that the guard may open \
         (`ulimit -n`), at most {MAX_CONNECTIONS}"
    )
}

/// Answers the clients that connect to `listener` until `end`, then gives open requests ten seconds to
/// finish. Calls `warn` at most once a minute.
pub(crate) async fn listen<F, A>(
    listener: TcpListener,
    answer: F,
    warn: impl Fn(String),
    end: impl Future<Output = ()>,
) where
    F: Fn(Request<Incoming>) -> A + Clone + Send + 'static,
    A: Future<Output = Response<Body>> + Send + 'static,
{
    let graceful = GracefulShutdown::new();
    let limit = connection_limit();
    let (served, refused) = (Arc::new(Semaphore::new(limit)), Arc::new(Semaphore::new(REFUSALS)));
    tokio::pin!(end);
    // While an earlier timer is set, setting that of each request head does not wake the runtime, which
    // saves a system call for each request.
    let mut earlier = tokio::time::interval(HEAD / 2);
    let mut warned = None::<Instant>;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = earlier.tick() => continue,
            () = &mut end => break,
        };
        let Ok((stream, _)) = accepted else {
            // Out of file descriptors, most likely: some will be free in a moment.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let Ok(place) = Arc::clone(&served).try_acquire_owned() else {
            if warned.is_none_or(|warned| warned.elapsed() > QUIET) {
                warned = Some(Instant::now());
                warn(format!("{}; further ones are refused", too_many(limit)));
            }
            if let Ok(place) = Arc::clone(&refused).try_acquire_owned() {
                tokio::spawn(refuse_connection(stream, limit, place));
            }
            continue;
        };
        // Without it, small messages on a connection that is kept wait for each other.
        let _ = stream.set_nodelay(true);
        let answer = answer.clone();
        let service = service_fn(move |request| {
            let answered = answer(request);
            async move { Ok::<_, Infallible>(answered.await) }
        });
        let connection = http1::Builder::new()
            .timer(TokioTimer::new())
            .header_read_timeout(HEAD)
            .max_buf_size(BUFFER)
            .serve_connection(TokioIo::new(stream), service);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // Clients may disconnect at any time.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(LAST_ANSWERS, graceful.shutdown()).await;
}

/// Answers the first request of a connection beyond the limit with an error.
async fn refuse_connection(stream: TcpStream, limit: usize, _place: OwnedSemaphorePermit) {
    let service = service_fn(|request: Request<Incoming>| async move {
        // A connection that is closed while something comes may be reset before its answer is read.
        let _ = read_request(request.into_body(), REFUSED_BODY, &MemoryLimit::new(0)).await;
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Ok::<_, Infallible>(refuse(status, code::INTERNAL, &too_many(limit)))
    });
    let connection =
        http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), service);
    // Clients that do not ask in time get no answer.
    let _ = tokio::time::timeout(REFUSAL, connection).await;
}
