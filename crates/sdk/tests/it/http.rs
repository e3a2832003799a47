//! Streamable HTTP over loopback: both eras, bad input, and who may ask.
#![expect(clippy::unwrap_used, reason = "a client for tests only")]

use std::net::{SocketAddr, TcpStream};
use std::{sync::mpsc, thread};

use rmcp::ServerHandler;
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio_util::sync::CancellationToken;
use toolbond::{Http, ServerOptions};
use toolbond_harness::http::{Connection, body};
use toolbond_harness::mcp::{self, PING};
use toolbond_harness::wait::{HANG, wait_until};

use crate::server::{Plain, structured, tool};

/// A server on a thread of its own, which ends with the test.
pub(crate) struct Served {
    address: SocketAddr,
    stop: CancellationToken,
    thread: Option<thread::JoinHandle<()>>,
}

impl Served {
    pub(crate) fn new(server: impl ServerHandler + Clone) -> Self {
        Self::with(server, "127.0.0.1:0", |http| http)
    }

    /// Serves `server` at `address`, with what `set` sets.
    pub(crate) fn with(
        server: impl ServerHandler + Clone,
        address: &'static str,
        set: impl FnOnce(Http) -> Http + Send + 'static,
    ) -> Self {
        let ((tell, told), stop) = (mpsc::channel(), CancellationToken::new());
        let token = stop.clone();
        let thread = thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async move {
                let http = Http::bind(address).await.unwrap();
                tell.send(http.local_addr()).unwrap();
                set(http).shutdown_on(token).serve(server).await.unwrap();
            });
        });
        Self { address: told.recv().unwrap(), stop, thread: Some(thread) }
    }

    /// Sends a request, as [`Connection::open_at`] does.
    pub(crate) fn open(&self, head: &str, body: &str) -> Connection {
        Connection::open_at(self.address, head, body.as_bytes())
    }

    /// Sends a request, and returns the answer.
    pub(crate) fn ask(&self, head: &str, body: &str) -> String {
        let answer = self.open(&format!("{head}\r\nconnection: close"), body).rest();
        String::from_utf8(answer).unwrap()
    }

    /// The answer to a request of 2026-07-28.
    pub(crate) fn modern(&self, method: &str, params: &Value) -> Value {
        let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let (head, message) = mcp::modern("/mcp", &message.to_string());
        body(&self.ask(&head, &message))
    }

    /// Opens a session of 2025-11-25, and returns the headers of what belongs to it.
    pub(crate) fn session(&self) -> String {
        let hello = mcp::initialize("2025-11-25", &json!({}));
        let answer = self.ask(&mcp::post("/mcp", ""), &hello);
        assert!(answer.contains(r#""protocolVersion":"2025-11-25""#), "{answer}");
        let id = answer.lines().find(|line| line.starts_with("mcp-session-id:")).unwrap();
        let session = format!("\r\n{id}\r\nmcp-protocol-version: 2025-11-25");
        let answer = self.ask(&mcp::post("/mcp", &session), mcp::INITIALIZED);
        assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
        session
    }
}

impl Drop for Served {
    fn drop(&mut self) {
        self.stop.cancel();
        let ended = self.thread.take().unwrap().join();
        assert!(ended.is_ok() || thread::panicking());
    }
}

fn counting() -> Plain {
    Plain::new(json!([tool("count", json!({ "type": "integer" }), structured(json!(42)))]))
}

#[test]
fn each_era_gets_its_values() {
    let served = Served::new(counting());
    let tools = served.modern("tools/list", &json!({}));
    assert_eq!(tools["result"]["tools"][0]["outputSchema"]["type"], "integer", "{tools}");
    let count = served.modern("tools/call", &json!({ "name": "count" }));
    assert_eq!(count["result"]["structuredContent"], 42, "{count}");
    let session = mcp::post("/mcp", &served.session());
    let count = served.ask(&session, &mcp::call(1, "count", &json!({})));
    assert!(count.contains(r#""structuredContent":{"result":42}"#), "{count}");
}

#[test]
fn the_contract_has_options() {
    for (options, code) in [(None, json!(-32601)), (Some(ServerOptions::default()), Value::Null)] {
        let set = |http: Http| match options {
            Some(options) => http.options(options),
            None => http,
        };
        let served = Served::with(Plain::new(json!([])), "127.0.0.1:0", set);
        // Not declared, and asked for all the same.
        let prompts = served.modern("prompts/list", &json!({}));
        assert_eq!(prompts["error"]["code"], code, "{prompts}");
    }
}

#[test]
fn strangers_and_long_requests_are_refused() {
    let served = Served::new(counting());
    let long = json!({ "jsonrpc": "2.0", "id": 1, "method": "x".repeat(4 << 20) }).to_string();
    for (header, message, status) in [
        ("\r\nhost: evil.example", PING, "HTTP/1.1 403"),
        ("\r\norigin: http://evil.example", PING, "HTTP/1.1 403"),
        ("", &long, "HTTP/1.1 413"),
    ] {
        let answer = served.ask(&mcp::post("/mcp", header), message);
        assert!(answer.starts_with(status), "{header}: {answer}");
    }
}

#[tokio::test]
async fn addresses_and_names_may_be_listened_on_and_asked() {
    // All of 127.0.0.0/8 is there on Linux.
    let second = if cfg!(target_os = "linux") { "127.0.0.2:0" } else { "127.0.0.1:0" };
    for (address, name) in [(second, None), ("localhost:0", Some("localhost"))] {
        let served = Served::with(counting(), address, |http| http);
        assert!(served.address.ip().is_loopback());
        let host = name.map(|name| format!("\r\nhost: {name}:{}", served.address.port()));
        let (head, message) = mcp::modern("/mcp", &mcp::call(1, "count", &json!({})));
        let count = served.ask(&format!("{head}{}", host.unwrap_or_default()), &message);
        assert_eq!(body(&count)["result"]["structuredContent"], 42, "{address}: {count}");
    }
    for (address, message) in [
        ("localhost", "expected an address such as 127.0.0.1:8080, found `localhost`"),
        ("localhost:x", "expected an address such as 127.0.0.1:8080, found `localhost:x`"),
        ("name.invalid:0", "cannot listen on name.invalid:0"),
    ] {
        assert_eq!(Http::bind(address).await.unwrap_err().to_string(), message);
    }
}

#[test]
fn a_connection_too_many_is_told_and_the_next_is_served_when_another_has_left() {
    let served = Served::with(counting(), "127.0.0.1:0", |http| http.max_connections(1));
    let first = Connection::to(served.address);
    let ask = || served.ask(mcp::POST, PING);
    let answer = ask();
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    let error = json!({ "code": -32603, "message": "1 connections are open, which is the limit" });
    assert_eq!(body(&answer), json!({ "jsonrpc": "2.0", "id": null, "error": error }));
    drop(first);
    wait_until("there is a place", || !ask().starts_with("HTTP/1.1 503"));
}

/// Time passes where there is nothing else to do.
#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_ask_is_left() {
    let http = Http::bind("127.0.0.1:0").await.unwrap();
    let address = http.local_addr();
    tokio::spawn(http.serve(counting()));
    for part in ["", "POST /mcp HTTP/1.1\r\nhost: localhost\r\n"] {
        let mut stream = tokio::net::TcpStream::connect(address).await.unwrap();
        stream.write_all(part.as_bytes()).await.unwrap();
        let start = tokio::time::Instant::now();
        assert_eq!(stream.read_to_end(&mut Vec::new()).await.unwrap(), 0, "{part}");
        assert_eq!(start.elapsed().as_secs(), 30, "{part}");
    }
}

/// Elsewhere the system allows fewer.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn many_connections_wait_to_be_accepted() {
    const MANY: usize = 300;
    let most = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap();
    let most = most.trim();
    if most.parse::<usize>().unwrap() < MANY {
        return toolbond_harness::skip(&format!("the system lets {most} connections wait"));
    }
    let http = Http::bind("127.0.0.1:0").await.unwrap();
    // One that finds no place is tried again and again.
    let connect = |_| TcpStream::connect_timeout(&http.local_addr(), HANG).expect("a place");
    let all: Vec<_> = (0..MANY).map(connect).collect();
    assert_eq!(all.len(), MANY);
}
