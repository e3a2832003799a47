//! A gRPC server for gateways, on HTTP/2: messages, statuses, health checks, and an end that gateways learn of first.

mod health;
mod messages;
mod replies;
mod status;

use std::convert::Infallible;
use std::time::Duration;

use hyper::body::Incoming;
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper::{Request, Response};
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::BufStream;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::watch;
use toolbond_guard::Event;
use toolbond_guard::gateway::Servers;
use toolbond_listen::{ListenOptions, accept, default_max_connections};

pub(crate) use self::messages::{Delivered, Messages};
pub(crate) use self::replies::{Replies, ReplySender, replies};
pub(crate) use self::status::{Code, Status, wrong};

/// The most requests at a time over one connection; a gateway opens more connections when it needs them.
const STREAMS_OF_CONNECTION: u32 = 1024;

/// The bytes of one request that a gateway may send before they are read. The connection takes as much for each request, so
/// that one whose body is not read holds up no other.
const STREAM_WINDOW: u32 = 64 << 10;

/// The bytes of each of the two buffers of a connection. `h2` writes each longer frame with a system call of its own;
/// with a buffer, those that are ready at the same time leave together.
const BUFFER: usize = 64 << 10;

/// How often a connection without traffic is checked.
const KEEP_ALIVE: Duration = Duration::from_secs(30);

/// How long open requests may take after the service was asked to end.
const GRACE_PERIOD: Duration = Duration::from_secs(10);

/// Answers a gateway on `listener`: requests for a method of the service `name` with `answer`, which has `None` for one
/// that the service does not have. After `end`, the health check says so for the time `drain`, so that the gateway
/// sends new requests elsewhere; then the listener closes, and open requests have [`GRACE_PERIOD`] to finish.
pub(crate) async fn serve(
    name: &'static str,
    answer: impl Fn(&str, Request<Incoming>) -> Option<Replies> + Clone + Send + 'static,
    servers: &Servers,
    listener: TcpListener,
    end: impl Future<Output = ()>,
    drain: Duration,
) {
    let (is_serving, health) = watch::channel(true);
    let end = async move {
        end.await;
        is_serving.send_replace(false);
        tokio::time::sleep(drain).await;
        servers.close_streams();
    };
    let mut http = http2::Builder::new(TokioExecutor::new());
    http.timer(TokioTimer::new())
        .keep_alive_interval(KEEP_ALIVE)
        .max_concurrent_streams(STREAMS_OF_CONNECTION)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(STREAM_WINDOW * STREAMS_OF_CONNECTION)
        // A gateway resets the streams of clients that leave. By default the 21st that was not accepted yet ends the
        // connection, and with it the requests of all other clients.
        .max_pending_accept_reset_streams(STREAMS_OF_CONNECTION as usize);
    let connect = |stream| {
        let (answer, health) = (answer.clone(), health.clone());
        let respond = service_fn(move |request: Request<Incoming>| {
            let path = request.uri().path().to_owned();
            let answered = match path.strip_prefix('/').and_then(|path| path.rsplit_once('/')) {
                Some((service, method)) if service == name => answer(method, request),
                Some((health::NAME, method)) => health::answer(name, &health, method, request),
                _ => None,
            };
            std::future::ready(Ok::<_, Infallible>(response(answered)))
        });
        let stream = BufStream::with_capacity(BUFFER, BUFFER, stream);
        http.serve_connection(TokioIo::new(stream), respond)
    };
    let options = ListenOptions {
        max_connections: default_max_connections(),
        limit_hint: ": half the files that the service may open (`ulimit -n`), at most 16384",
        read_buffer: None,
    };
    let warn = |text| servers.report(Event::warning(text));
    let open = accept(listener, options, connect, drop::<TcpStream>, warn, end).await;
    let _ = tokio::time::timeout(GRACE_PERIOD, open).await;
}

/// The response with these replies, or to a request that no service answers.
fn response(answered: Option<Replies>) -> Response<Replies> {
    let unknown = || Status::new(Code::Unimplemented, "no such method").into();
    let mut response = Response::new(answered.unwrap_or_else(unknown));
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/grpc"));
    response
}
