//! A server on HTTP that behaves as badly as the method of a request tells it to.

use std::sync::mpsc::{Receiver, channel};

use serde_json::json;

use crate::http::{HttpServer, Reply, Request};
use crate::wait::HANG;

/// So many bytes are sent of an answer that does not end.
const ENDLESS: usize = 5_000_000;

/// The server.
#[derive(Debug)]
pub struct Upstream {
    /// Its port.
    pub port: u16,
    gone: Receiver<()>,
}

impl Upstream {
    /// Starts it on a free port.
    pub fn start() -> Self {
        let (sender, gone) = channel();
        let server = HttpServer::start(move |request, reply| {
            let message = request.message();
            let method = message["method"].as_str().unwrap_or_default();
            let method = if request.method() == "GET" { "stream" } else { method };
            match answer(method, request, reply)? {
                Next::Goes => {}
                Next::Ends => reply.close(),
                Next::Hangs => {
                    reply.hang();
                    let _ = sender.send(());
                }
            }
            Ok(())
        });
        Self { port: server.port, gone }
    }

    /// Waits until the other side has closed so many of the connections that hang.
    #[track_caller]
    pub fn wait_until_gone(&self, count: usize) {
        for left in (1..=count).rev() {
            assert!(self.gone.recv_timeout(HANG).is_ok(), "{left} of {count} connections are left");
        }
    }
}

/// What becomes of a connection after an answer.
enum Next {
    Goes,
    Ends,
    Hangs,
}

/// Answers one request.
fn answer(method: &str, request: &Request, reply: &mut Reply<'_>) -> std::io::Result<Next> {
    let event = "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/a\"}\n\n";
    match method {
        "hang" => return Ok(Next::Hangs),
        "stream" => {
            reply.events()?;
            reply.event(event)?;
            return Ok(Next::Hangs);
        }
        "close" => {}
        "half" => reply.raw(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 1000\r\n\r\n{\"jsonrpc\":")?,
        "half stream" => {
            reply.events()?;
            reply.event(event)?;
            reply.raw(b"400\r\ndata: {\"json")?;
        }
        "garbage" => reply.raw(b"\x00\xffnot http\r\n\r\n")?,
        "no json" => {
            reply.send("200 OK", "content-type: application/json", "{broken")?;
            return Ok(Next::Goes);
        }
        "endless" => {
            reply.raw(b"HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ntransfer-encoding: chunked\r\n\r\n")?;
            // The other side may close before all of it is written.
            let _ = reply.event(&format!("\"{}", "x".repeat(ENDLESS)));
            return Ok(Next::Hangs);
        }
        "endless event" => {
            reply.events()?;
            let _ = reply.event(&"x".repeat(ENDLESS));
            return Ok(Next::Hangs);
        }
        _ => {
            reply.result(request, &json!({}))?;
            return Ok(Next::Goes);
        }
    }
    Ok(Next::Ends)
}
