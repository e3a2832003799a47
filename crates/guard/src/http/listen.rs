//! Listening, and telling when to end.

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

use super::posted::posted;
use super::proxy::{Body, refuse};
use crate::message::code;
use crate::stdio::signals::{Caught, Signals};

/// How long requests may still take after the guard was told to end.
const LAST_ANSWERS: Duration = Duration::from_secs(10);

/// How long a client may take to send the head of a request.
const HEAD: Duration = Duration::from_secs(30);

/// The connections that wait to be accepted; where one finds no place, it is tried again after a
/// second. The default of tokio is 128.
const WAITING: u32 = 4096;

/// Listens on `address`.
///
/// Fails where the system does not allow that.
pub fn bind(address: SocketAddr) -> io::Result<TcpListener> {
    let socket = if address.is_ipv4() { TcpSocket::new_v4()? } else { TcpSocket::new_v6()? };
    // On Windows this would let two processes share the port.
    #[cfg(not(windows))]
    socket.set_reuseaddr(true)?;
    socket.bind(address)?;
    socket.listen(WAITING)
}

/// Waits until this process is told to end; where it `reloads`, SIGHUP does not tell so.
///
/// Fails where the signals of the system cannot be listened to.
pub async fn told_to_end(reloads: bool) -> io::Result<()> {
    let mut signals = Signals::listen()?;
    loop {
        match signals.next().await {
            #[cfg(unix)]
            Caught::HangUp if reloads => {}
            _ => return Ok(()),
        }
    }
}

/// The connections that are served at a time, where the system does not allow fewer files.
const CONNECTIONS: usize = 16_384;

/// The files that are left for other things than connections.
const OTHER_FILES: usize = 64;

/// The connections beyond that are told so at a time; further ones are closed.
const TOLD: usize = 32;

/// How long what was said is not repeated.
const SAID: Duration = Duration::from_secs(60);

/// How long being told may take, and the most bytes that are read before.
const TELLING: Duration = Duration::from_secs(5);
const LAST_BODY: usize = 64 << 10;

/// The connections that are served at a time: each may need another one, to the server.
fn connections() -> usize {
    #[cfg(unix)]
    let files = rustix::process::getrlimit(rustix::process::Resource::Nofile).current;
    #[cfg(not(unix))]
    let files = None;
    let files = files.map_or(usize::MAX, |files| usize::try_from(files).unwrap_or(usize::MAX));
    (files.saturating_sub(OTHER_FILES) / 2).clamp(1, CONNECTIONS)
}

/// What one is told whose connection is not served, because `most` are open.
fn too_many(most: usize) -> String {
    format!(
        "{most} connections are open, as many as the guard serves at a time: half the files that it may \
         open (`ulimit -n`), at most {CONNECTIONS}"
    )
}

/// Answers those who connect to `listener` until `end`; then lets open requests come to an end, for
/// ten seconds. What there is to `say` about that is said at most once a minute.
pub(crate) async fn listen<F, A>(
    listener: TcpListener,
    answer: F,
    say: impl Fn(String),
    end: impl Future<Output = ()>,
) where
    F: Fn(Request<Incoming>) -> A + Clone + Send + 'static,
    A: Future<Output = Response<Body>> + Send + 'static,
{
    let graceful = GracefulShutdown::new();
    let most = connections();
    let (served, told) = (Arc::new(Semaphore::new(most)), Arc::new(Semaphore::new(TOLD)));
    tokio::pin!(end);
    // With a nearer one, the timer of each head is set without waking the runtime: one system call
    // less for each request.
    let mut nearer = tokio::time::interval(HEAD / 2);
    let mut said = None::<Instant>;
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = nearer.tick() => continue,
            () = &mut end => break,
        };
        let Ok((stream, _)) = accepted else {
            // Out of file descriptors, most likely: some will be free in a moment.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        let Ok(place) = Arc::clone(&served).try_acquire_owned() else {
            if said.is_none_or(|said| said.elapsed() > SAID) {
                said = Some(Instant::now());
                say(format!("{}; others are refused", too_many(most)));
            }
            if let Ok(place) = Arc::clone(&told).try_acquire_owned() {
                tokio::spawn(tell(stream, most, place));
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
            .serve_connection(TokioIo::new(stream), service);
        let connection = graceful.watch(connection);
        tokio::spawn(async move {
            // A client that breaks off is its own affair.
            let _ = connection.await;
            drop(place);
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(LAST_ANSWERS, graceful.shutdown()).await;
}

/// Answers the first request of a connection that is not served.
async fn tell(stream: TcpStream, most: usize, _place: OwnedSemaphorePermit) {
    let service = service_fn(|request: Request<Incoming>| async move {
        // A connection that is closed while something comes may be reset before its answer is read.
        let _ = posted(request.into_body(), LAST_BODY).await;
        let status = StatusCode::SERVICE_UNAVAILABLE;
        Ok::<_, Infallible>(refuse(status, code::INTERNAL, &too_many(most)))
    });
    let connection =
        http1::Builder::new().keep_alive(false).serve_connection(TokioIo::new(stream), service);
    // Who does not ask in time is not told.
    let _ = tokio::time::timeout(TELLING, connection).await;
}
