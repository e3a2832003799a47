//! The plain server on HTTP, and on standard input and output.

use std::io::{self, BufRead as _, BufReader, Write as _, stdin, stdout};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::thread;

use toolbond_harness::http::{self, HttpServer};

use super::tools::notice;
use super::{Options, Reply, Server};
use crate::serve::say_port;

/// Serves on a free port of this machine, which it prints, until the process is ended.
pub(crate) fn on_http(options: &Options) -> anyhow::Result<()> {
    let (server, notices) = (Server::new(options)?, options.notices);
    say_port(HttpServer::forgetful(move |request, reply| match request.method() {
        "POST" => post(&server, request, reply),
        "GET" => open(notices, reply),
        _ => reply.send("200 OK", "", ""),
    }))?;
    loop {
        thread::park();
    }
}

fn post(server: &Server, request: &http::Request, to: &mut http::Reply<'_>) -> io::Result<()> {
    static SESSIONS: AtomicU64 = AtomicU64::new(1);
    let Some(reply) = server.reply(request.path(), &request.body) else {
        return to.send("202 Accepted", "", "");
    };
    thread::sleep(reply.delay);
    let (count, bytes) = reply.notices;
    if count > 0 {
        let notice = event(&notice(bytes));
        to.events()?;
        (0..count).try_for_each(|_| to.event(&notice))?;
        to.event(&event(&reply.answer))?;
        return to.raw(b"0\r\n\r\n");
    }
    let has_session = request.header("mcp-session-id").is_some();
    let mut headers = "content-type: application/json".to_owned();
    if !has_session && reply.is_welcome {
        headers.push_str("\r\nmcp-session-id: ");
        headers.push_str(&SESSIONS.fetch_add(1, Relaxed).to_string());
    }
    to.send("200 OK", &headers, reply.answer)
}

/// The stream of a client that waits for what the server says on its own: notifications of so many bytes as fast as they
/// are read, or silence where that is 0.
fn open(notices: usize, to: &mut http::Reply<'_>) -> io::Result<()> {
    to.events()?;
    if notices == 0 {
        to.event(": open\n\n")?;
        to.hang();
        return Ok(());
    }
    let notice = event(&notice(notices));
    loop {
        to.event(&notice)?;
    }
}

fn event(message: &str) -> String {
    format!("event: message\ndata: {message}\n\n")
}

/// Serves on standard input and output until the input ends.
pub(crate) fn on_stdio(options: &Options) -> anyhow::Result<()> {
    let server = Server::new(options)?;
    let mut input = BufReader::with_capacity(64 << 10, stdin());
    let mut line = Vec::new();
    loop {
        line.clear();
        if input.read_until(b'\n', &mut line)? == 0 {
            return Ok(());
        }
        let Some(reply) = server.reply("", &line) else { continue };
        let is_last = reply.is_last;
        if reply.is_prompt() {
            send(&reply.answer)?;
        } else {
            thread::spawn(move || send_later(&reply));
        }
        if is_last {
            // Until the process is ended.
            loop {
                thread::park();
            }
        }
    }
}

fn send_later(reply: &Reply) -> io::Result<()> {
    thread::sleep(reply.delay);
    let notice = notice(reply.notices.1);
    (0..reply.notices.0).try_for_each(|_| send(&notice))?;
    send(&reply.answer)
}

fn send(message: &str) -> io::Result<()> {
    let mut out = stdout().lock();
    out.write_all(message.as_bytes())?;
    out.write_all(b"\n")?;
    out.flush()
}
