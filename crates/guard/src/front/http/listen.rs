//! Listening for clients.

use std::time::Duration;

use hyper::body::Incoming;
use hyper::{Request, Response};
use tokio::net::TcpListener;
use toolbond_listen::{ListenOptions, default_max_connections, serve};

use crate::http::READ_BUFFER;
use crate::http::respond::Body;

/// How long open requests may take after the guard was asked to end.
const GRACE_PERIOD: Duration = Duration::from_secs(10);

/// Answers the clients that connect to `listener` until `stop`, then gives open requests ten seconds to
/// finish.
pub(crate) async fn listen<F, A>(
    listener: TcpListener,
    answer: F,
    warn: impl Fn(String),
    stop: impl Future<Output = ()>,
) where
    F: Fn(Request<Incoming>) -> A + Clone + Send + 'static,
    A: Future<Output = Response<Body>> + Send + 'static,
{
    let options = ListenOptions {
        max_connections: default_max_connections(),
        limit_hint: ": half the files that the guard may open (`ulimit -n`), at most 16384",
        read_buffer: Some(READ_BUFFER),
    };
    let open = serve(listener, options, answer, warn, stop).await;
    let _ = tokio::time::timeout(GRACE_PERIOD, open).await;
}
