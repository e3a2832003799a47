//! Listening, and telling when to end.

use std::convert::Infallible;
use std::io;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;

use super::proxy::Body;
use crate::stdio::signals::{Caught, Signals};

/// How long requests may still take after the guard was told to end.
const LAST_ANSWERS: Duration = Duration::from_secs(10);

/// How long a client may take to send the head of a request.
const HEAD: Duration = Duration::from_secs(30);

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

/// Answers those who connect to `listener` until `end`; then lets open requests come to an end, for
/// ten seconds.
pub(crate) async fn listen<F, A>(listener: TcpListener, answer: F, end: impl Future<Output = ()>)
where
    F: Fn(Request<Incoming>) -> A + Clone + Send + 'static,
    A: Future<Output = Response<Body>> + Send + 'static,
{
    let graceful = GracefulShutdown::new();
    tokio::pin!(end);
    // With a nearer one, the timer of each head is set without waking the runtime: one system call
    // less for each request.
    let mut nearer = tokio::time::interval(HEAD / 2);
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
        });
    }
    drop(listener);
    let _ = tokio::time::timeout(LAST_ANSWERS, graceful.shutdown()).await;
}
