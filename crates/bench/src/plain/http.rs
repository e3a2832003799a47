//! The plain server on HTTP.

use std::convert::Infallible;
use std::io::Write as _;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use bytes::Bytes;
use futures_util::stream;
use http_body_util::combinators::BoxBody;
use http_body_util::{BodyExt as _, Empty, Full, StreamBody};
use hyper::body::{Frame, Incoming};
use hyper::header::{CONTENT_TYPE, HeaderValue};
use hyper::service::service_fn;
use hyper::{Method, Request, Response, StatusCode};
use hyper_util::rt::TokioIo;
use tokio::net::TcpListener;

use super::tools::notice;
use super::{Reply, Server};

type Body = BoxBody<Bytes, Infallible>;

/// Serves on a free port of this machine, which it prints, until the process is ended. Every stream
/// that a client opens gets notifications of `notices` bytes as fast as it is read; none where that is 0.
/// With `published`, every path has so many tools of the corpus.
pub(crate) fn serve(with_costly: bool, notices: usize, published: usize) -> anyhow::Result<()> {
    let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
    runtime.block_on(async {
        let mut server = Server::new(with_costly);
        if published > 0 {
            server.tools.take_published(published)?;
        }
        let server = Arc::new(server);
        let listener = TcpListener::bind("127.0.0.1:0").await?;
        let mut stdout = std::io::stdout();
        writeln!(stdout, "{}", listener.local_addr()?.port())?;
        stdout.flush()?;
        loop {
            let (stream, _) = listener.accept().await?;
            stream.set_nodelay(true)?;
            let server = Arc::clone(&server);
            let service = service_fn(move |request| respond(Arc::clone(&server), request, notices));
            tokio::spawn(
                hyper::server::conn::http1::Builder::new()
                    .serve_connection(TokioIo::new(stream), service),
            );
        }
    })
}

async fn respond(
    server: Arc<Server>,
    request: Request<Incoming>,
    notices: usize,
) -> Result<Response<Body>, hyper::Error> {
    match *request.method() {
        Method::POST => {}
        Method::GET => return Ok(opened(notices)),
        Method::DELETE => return Ok(Response::new(empty())),
        _ => return Ok(status(StatusCode::METHOD_NOT_ALLOWED)),
    }
    let path = request.uri().path().to_owned();
    let has_session = request.headers().contains_key("mcp-session-id");
    let body = request.into_body().collect().await?.to_bytes();
    let opens_session = !has_session && memchr::memmem::find(&body, b"\"initialize\"").is_some();
    let mut response = match server.reply(&path, &body) {
        Reply::Nothing => return Ok(status(StatusCode::ACCEPTED)),
        Reply::Answer(answer) | Reply::Deaf(answer) => json(answer),
        Reply::Later(delay, answer) => {
            tokio::time::sleep(delay).await;
            json(answer)
        }
        Reply::Notices { count, notice, answer } => {
            let notice = event(&notice);
            let notices = (0..count).map(move |_| notice.clone());
            events(notices.chain([event(&answer)]))
        }
    };
    if opens_session {
        static SESSIONS: AtomicU64 = AtomicU64::new(1);
        let session = SESSIONS.fetch_add(1, Relaxed);
        response.headers_mut().insert("mcp-session-id", HeaderValue::from(session));
    }
    Ok(response)
}

/// The stream of a client that waits for what the server says on its own.
fn opened(notices: usize) -> Response<Body> {
    if notices > 0 {
        let notice = event(&notice(notices));
        return events(std::iter::repeat_with(move || notice.clone()));
    }
    let first = stream::iter([Ok::<_, Infallible>(Frame::data(Bytes::from_static(b": open\n\n")))]);
    let silence = stream::StreamExt::chain(first, stream::pending());
    event_stream(StreamBody::new(silence).boxed())
}

fn json(answer: Bytes) -> Response<Body> {
    let mut response = Response::new(Full::new(answer).boxed());
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("application/json"));
    response
}

fn events(events: impl Iterator<Item = Bytes> + Send + Sync + 'static) -> Response<Body> {
    let frames = events.map(|event| Ok::<_, Infallible>(Frame::data(event)));
    event_stream(StreamBody::new(stream::iter(frames)).boxed())
}

fn event_stream(body: Body) -> Response<Body> {
    let mut response = Response::new(body);
    response.headers_mut().insert(CONTENT_TYPE, HeaderValue::from_static("text/event-stream"));
    response
}

fn event(message: &[u8]) -> Bytes {
    [b"event: message\ndata: ", message, b"\n\n"].concat().into()
}

fn empty() -> Body {
    Empty::new().boxed()
}

fn status(status: StatusCode) -> Response<Body> {
    let mut response = Response::new(empty());
    *response.status_mut() = status;
    response
}
