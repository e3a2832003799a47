//! Sessions: how many there may be, and clients that lose their connection in the middle of a call.
#![expect(clippy::unwrap_used, reason = "a client for tests only")]

use std::{net::SocketAddr, sync::Arc, time::Duration};

use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
    sync::Notify,
};
use tokio_util::sync::CancellationToken;
use toolbond::Http;

/// A server whose one tool answers when it is told to.
#[derive(Clone)]
struct Slow {
    started: Arc<Notify>,
    go: Arc<Notify>,
}

#[toolbond::tools]
impl Slow {
    #[tool]
    async fn wait(&self) -> u8 {
        self.started.notify_one();
        self.go.notified().await;
        42
    }
}

/// Sends a request and gives its answer, read until it has `end`, with the connection still open.
async fn send(address: SocketAddr, head: &str, body: &Value, end: &str) -> (String, TcpStream) {
    let mut stream = TcpStream::connect(address).await.unwrap();
    let body = if body.is_null() { String::new() } else { body.to_string() };
    let request = format!(
        "{head}\r\nhost: {address}\r\naccept: application/json, text/event-stream\r\n\
         content-type: application/json\r\ncontent-length: {}\r\n\r\n{body}",
        body.len()
    );
    stream.write_all(request.as_bytes()).await.unwrap();
    let answer = read(&mut stream, end).await;
    (answer, stream)
}

/// What comes next on `stream`, until it has `end`.
async fn read(stream: &mut TcpStream, end: &str) -> String {
    let mut answer = String::new();
    while !answer.contains(end) {
        let mut part = [0; 4096];
        let read = tokio::time::timeout(Duration::from_secs(60), stream.read(&mut part)).await;
        let count = read.unwrap_or_else(|_| panic!("no `{end}` in {answer}")).unwrap();
        assert!(count > 0, "ended before `{end}`: {answer}");
        answer.push_str(&String::from_utf8_lossy(&part[..count]));
    }
    answer
}

/// The value of a line `name: value`.
fn line<'a>(answer: &'a str, name: &str) -> &'a str {
    let mut values = answer.lines().filter_map(|line| line.strip_prefix(name));
    values.next().unwrap_or_else(|| panic!("no `{name}` in {answer}")).trim()
}

fn hello() -> Value {
    json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" }
    } })
}

#[tokio::test]
async fn there_are_as_many_sessions_as_allowed() {
    let slow = Slow { started: Arc::default(), go: Arc::default() };
    let stop = CancellationToken::new();
    let http = Http::bind("127.0.0.1:0").await.unwrap();
    let http = http.max_sessions(2).shutdown_on(stop.clone());
    let address = http.local_addr();
    let task = tokio::spawn(http.serve(slow));
    send(address, "POST /mcp HTTP/1.1", &hello(), "serverInfo").await;
    let (second, _) = send(address, "POST /mcp HTTP/1.1", &hello(), "serverInfo").await;
    let (third, _) = send(address, "POST /mcp HTTP/1.1", &hello(), "which is the limit").await;
    assert!(third.starts_with("HTTP/1.1 500"), "{third}");
    // One that ends makes room for another.
    let session = line(&second, "mcp-session-id:");
    let delete = format!("DELETE /mcp HTTP/1.1\r\nmcp-session-id: {session}");
    send(address, &delete, &Value::Null, "HTTP/1.1 2").await;
    send(address, "POST /mcp HTTP/1.1", &hello(), "serverInfo").await;
    stop.cancel();
    task.await.unwrap().unwrap();
}

#[tokio::test]
async fn a_call_goes_on_for_a_client_that_comes_back() {
    let slow = Slow { started: Arc::default(), go: Arc::default() };
    let stop = CancellationToken::new();
    let http = Http::bind("127.0.0.1:0").await.unwrap().shutdown_on(stop.clone());
    let address = http.local_addr();
    let task = tokio::spawn(http.serve(slow.clone()));

    let (answer, _) = send(address, "POST /mcp HTTP/1.1", &hello(), "serverInfo").await;
    let session = format!(
        "HTTP/1.1\r\nmcp-session-id: {}\r\nmcp-protocol-version: 2025-11-25",
        line(&answer, "mcp-session-id:")
    );
    let post = format!("POST /mcp {session}");
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    send(address, &post, &initialized, "202").await;

    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "wait", "arguments": {} } });
    let (primed, connection) = send(address, &post, &call, "retry:").await;
    let event = line(&primed, "id:");
    slow.started.notified().await;
    drop(connection);

    let get = format!("GET /mcp {session}\r\nlast-event-id: {event}");
    let (_, mut stream) = send(address, &get, &Value::Null, "text/event-stream").await;
    slow.go.notify_one();
    read(&mut stream, r#""structuredContent":{"result":42}"#).await;
    stop.cancel();
    task.await.unwrap().unwrap();
}
