//! Listening for clients.

use std::convert::Infallible;
use std::io;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::server::graceful::GracefulShutdown;
use tokio::net::TcpListener;

use super::front::Front;
use crate::stdio::signals::Signals;

/// How long requests may still take after the guard was told to end.
const LAST_ANSWERS: Duration = Duration::from_secs(10);

/// How long a client may take to send the head of a request.
const HEAD: Duration = Duration::from_secs(30);

/// Answers those who connect to `listener` until this process is told to end; then lets open
/// requests come to an end, for ten seconds.
///
/// Fails where the signals of the system cannot be listened to.
pub async fn serve(listener: TcpListener, front: Arc<Front>) -> io::Result<()> {
    let mut signals = Signals::listen()?;
    let graceful = GracefulShutdown::new();
    loop {
        let accepted = tokio::select! {
            accepted = listener.accept() => accepted,
            _ = signals.next() => break,
        };
        let Ok((stream, _)) = accepted else {
            // Out of file descriptors, most likely: some will be free in a moment.
            tokio::time::sleep(Duration::from_millis(50)).await;
            continue;
        };
        // Without it, small messages on a connection that is kept wait for each other.
        let _ = stream.set_nodelay(true);
        let front = Arc::clone(&front);
        let service = service_fn(move |request| {
            let front = Arc::clone(&front);
            async move { Ok::<_, Infallible>(front.answer(request).await) }
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
    Ok(())
}
