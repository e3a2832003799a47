//! What servers answer.

use std::collections::HashMap;
use std::io;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use toolbond_harness::http::{HttpServer, Reply, Request};
use toolbond_harness::wait::wait_until;

/// Answers a request.
pub(crate) type Answer = Box<dyn Fn(&mut Reply<'_>) -> io::Result<()> + Send + Sync>;

/// A server that has these answers at these paths.
pub(crate) fn start<const N: usize>(answers: [(&str, Answer); N]) -> HttpServer {
    HttpServer::start(by_path(answers))
}

/// The same at another address.
pub(crate) fn start_at<const N: usize>(at: &str, answers: [(&str, Answer); N]) -> HttpServer {
    HttpServer::on(TcpListener::bind(at).unwrap(), |stream| stream, by_path(answers))
}

pub(crate) fn by_path<const N: usize>(
    answers: [(&str, Answer); N],
) -> impl Fn(&Request, &mut Reply<'_>) -> io::Result<()> + Send + Sync + 'static {
    let answers = answers.map(|(path, answer)| (path.to_owned(), answer));
    let answers = HashMap::from(answers);
    move |request, reply| {
        for secret in ["cookie", "authorization", "referer"] {
            assert_eq!(request.header(secret), None, "{}", request.head);
        }
        reply.close();
        match answers.get(request.path()) {
            Some(answer) => answer(reply),
            None => reply.send("404 Not Found", "", "{}"),
        }
    }
}

/// A status, headers and a body.
pub(crate) fn response(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Answer {
    let (status, headers) = (status.to_owned(), headers.to_owned());
    let body = body.as_ref().to_owned();
    Box::new(move |reply| reply.send(&status, &headers, &body))
}

/// A JSON document.
pub(crate) fn json(body: &str) -> Answer {
    typed("application/json", body)
}

/// A document of any type.
pub(crate) fn typed(media: &str, body: impl AsRef<[u8]>) -> Answer {
    response("200 OK", &format!("content-type: {media}"), body)
}

/// A redirect.
pub(crate) fn redirect(to: &str) -> Answer {
    response("302 Found", &format!("location: {to}"), "")
}

/// These bytes, and the end of the connection.
pub(crate) fn raw(bytes: &str) -> Answer {
    let bytes = bytes.to_owned();
    Box::new(move |reply| reply.raw(bytes.as_bytes()))
}

/// These bytes, and then nothing: the connection stays open.
pub(crate) fn stuck(bytes: &str) -> Answer {
    let bytes = bytes.to_owned();
    Box::new(move |reply| {
        reply.raw(bytes.as_bytes())?;
        reply.hang();
        Ok(())
    })
}

/// These bytes, and then the others again and again.
pub(crate) fn endless(bytes: &str, more: impl AsRef<[u8]>) -> Answer {
    let (bytes, more) = (bytes.to_owned(), more.as_ref().to_owned());
    Box::new(move |reply| {
        reply.raw(bytes.as_bytes())?;
        loop {
            reply.raw(&more)?;
        }
    })
}

/// An empty document, once `is_open` is set.
pub(crate) fn held(is_open: &Arc<AtomicBool>) -> Answer {
    let is_open = Arc::clone(is_open);
    Box::new(move |reply| {
        wait_until("the answer is let go", || is_open.load(Ordering::SeqCst));
        reply.send("200 OK", "", "{}")
    })
}
