//! Streamable HTTP over loopback: both eras, bad input, and who may ask.
#![expect(clippy::unwrap_used, reason = "a client for tests only")]

use std::{net::SocketAddr, time::Duration};

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::{Request, client::conn::http1};
use hyper_util::rt::TokioIo;
use rmcp::ServerHandler;
use serde_json::{Value, json};
use tokio::{
    io::{AsyncReadExt as _, AsyncWriteExt as _},
    net::TcpStream,
};
use tokio_util::sync::CancellationToken;
use toolbond::{Http, ServerOptions};

use crate::server::{Plain, structured, tool};

/// A server that ends with the test.
pub(crate) struct Served {
    address: SocketAddr,
    stop: CancellationToken,
    task: tokio::task::JoinHandle<()>,
}

impl Served {
    async fn new() -> Self {
        Self::at("127.0.0.1:0").await
    }

    async fn at(address: &str) -> Self {
        let integer = json!({ "type": "integer", "maximum": 100 });
        let mut ranged = tool("ranged", Value::Null, json!({ "content": [] }));
        ranged["inputSchema"] =
            json!({ "type": "object", "properties": { "n": integer }, "required": ["n"] });
        let server = Plain::new(json!([
            tool("count", integer.clone(), structured(json!(42))),
            tool("lying", integer, structured(json!("secret"))),
            tool("panicking", Value::Null, json!("panic")),
            ranged,
        ]));
        Self::of(server, Http::bind(address).await.unwrap())
    }

    pub(crate) fn of(server: impl ServerHandler + Clone, http: Http) -> Self {
        let stop = CancellationToken::new();
        let (address, http) = (http.local_addr(), http.shutdown_on(stop.clone()));
        let task = tokio::spawn(async move { http.serve(server).await.unwrap() });
        Self { address, stop, task }
    }

    /// Posts `body`; gives the status, the session and the answer, plain or from a stream.
    pub(crate) async fn post(
        &self,
        headers: &[(&str, &str)],
        body: &Value,
    ) -> (u16, Option<String>, Value) {
        let stream = TcpStream::connect(self.address).await.unwrap();
        let (mut sender, connection) = http1::handshake(TokioIo::new(stream)).await.unwrap();
        tokio::spawn(connection);
        let mut request = Request::post("/mcp")
            .header("content-type", "application/json")
            .header("accept", "application/json, text/event-stream");
        if !headers.iter().any(|(name, _)| *name == "host") {
            request = request.header("host", self.address.to_string());
        }
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        let request = request.body(Full::new(Bytes::from(body.to_string()))).unwrap();
        let response = sender.send_request(request).await.unwrap();
        let status = response.status().as_u16();
        let session = response.headers().get("mcp-session-id");
        let session = session.map(|session| session.to_str().unwrap().to_owned());
        let text = response.into_body().collect().await.unwrap().to_bytes();
        let text = String::from_utf8(text.to_vec()).unwrap();
        let events = text.lines().filter_map(|line| line.strip_prefix("data:"));
        let answer = events
            .chain([text.as_str()])
            .find_map(|text| serde_json::from_str::<Value>(text.trim()).ok());
        (status, session, answer.unwrap_or_default())
    }

    /// A request of 2026-07-28.
    pub(crate) async fn modern(&self, method: &str, mut params: Value) -> Value {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "test", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {}
        });
        let name = params["name"].as_str().unwrap_or_default().to_owned();
        let mut headers = vec![("mcp-protocol-version", "2026-07-28"), ("mcp-method", method)];
        if !name.is_empty() {
            headers.push(("mcp-name", &name));
        }
        let body = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        self.post(&headers, &body).await.2
    }

    pub(crate) async fn end(self) {
        self.stop.cancel();
        self.task.await.unwrap();
    }
}

#[tokio::test]
async fn a_modern_client_gets_natural_values_as_plain_json() {
    let served = Served::new().await;
    let tools = served.modern("tools/list", json!({})).await;
    assert_eq!(tools["result"]["tools"][0]["outputSchema"]["type"], "integer", "{tools}");
    let count = served.modern("tools/call", json!({ "name": "count", "arguments": {} })).await;
    assert_eq!(count["result"]["structuredContent"], 42, "{count}");
    served.end().await;
}

#[tokio::test]
async fn a_session_of_an_old_client_gets_envelopes() {
    let served = Served::new().await;
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {},
        "clientInfo": { "name": "test", "version": "1" }
    } });
    let (_, session, answer) = served.post(&[], &hello).await;
    assert_eq!(answer["result"]["protocolVersion"], "2025-11-25", "{answer}");
    let session = session.unwrap();
    let headers = [("mcp-session-id", session.as_str()), ("mcp-protocol-version", "2025-11-25")];
    let initialized = json!({ "jsonrpc": "2.0", "method": "notifications/initialized" });
    assert_eq!(served.post(&headers, &initialized).await.0, 202);
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "count", "arguments": {} } });
    let (_, _, count) = served.post(&headers, &call).await;
    assert_eq!(count["result"]["structuredContent"], json!({ "result": 42 }), "{count}");
    served.end().await;
}

#[tokio::test]
async fn bad_input_is_answered_and_the_server_lives() {
    let served = Served::new().await;
    let call = |name: &str, arguments: Value| {
        served.modern("tools/call", json!({ "name": name, "arguments": arguments }))
    };
    let unknown = call("nosuch", json!({})).await;
    assert_eq!(unknown["error"]["message"], "tool not found", "{unknown}");
    let missing = served.modern("tools/call", json!({ "name": "ranged" })).await;
    assert_eq!(missing["result"]["isError"], true, "{missing}");
    let list = call("ranged", json!([1])).await;
    assert_eq!(
        list["error"]["message"], "tools/call: #/arguments: expected an object, found an array",
        "{list}"
    );
    let panicking = call("panicking", json!({})).await;
    assert_eq!(panicking["result"]["isError"], true, "{panicking}");
    let lying = call("lying", json!({})).await;
    assert_eq!(lying["result"]["isError"], true, "{lying}");
    assert!(!lying.to_string().contains("secret"));
    assert_eq!(call("count", json!({})).await["result"]["structuredContent"], 42);
    let prompts = served.modern("prompts/list", json!({})).await;
    assert_eq!(prompts["error"]["code"], -32601, "{prompts}");
    served.end().await;
}

#[tokio::test]
async fn the_contract_has_options() {
    let http = Http::bind("127.0.0.1:0").await.unwrap().options(ServerOptions::default());
    let served = Served::of(Plain::new(json!([])), http);
    // Not declared, and asked for all the same.
    let prompts = served.modern("prompts/list", json!({})).await;
    assert_eq!(prompts["result"]["prompts"], json!([]), "{prompts}");
    served.end().await;
}

#[tokio::test]
async fn strangers_are_refused() {
    let served = Served::new().await;
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let headers = [("host", "evil.example"), ("origin", "http://evil.example")];
    for header in headers {
        assert_eq!(served.post(&[header], &ping).await.0, 403, "{header:?}");
    }
    served.end().await;
}

/// All of 127.0.0.0/8 is there on Linux.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn the_address_that_is_listened_on_may_be_asked() {
    let served = Served::at("127.0.0.2:0").await;
    let count = served.modern("tools/call", json!({ "name": "count" })).await;
    assert_eq!(count["result"]["structuredContent"], 42, "{count}");
    served.end().await;
}

#[tokio::test]
async fn names_may_be_listened_on_and_asked() {
    let served = Served::at("localhost:0").await;
    assert!(served.address.ip().is_loopback());
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let host = format!("localhost:{}", served.address.port());
    assert_ne!(served.post(&[("host", &host)], &ping).await.0, 403);
    served.end().await;
    for (address, message) in [
        ("localhost", "expected an address such as 127.0.0.1:8080, found `localhost`"),
        ("localhost:x", "expected an address such as 127.0.0.1:8080, found `localhost:x`"),
        ("name.invalid:0", "cannot listen on name.invalid:0"),
    ] {
        assert_eq!(Http::bind(address).await.unwrap_err().to_string(), message);
    }
}

#[tokio::test]
async fn a_connection_too_many_is_told_and_the_next_is_served_when_another_has_left() {
    let http = Http::bind("127.0.0.1:0").await.unwrap().max_connections(1);
    let served = Served::of(Plain::new(json!([])), http);
    let first = TcpStream::connect(served.address).await.unwrap();
    let ping = json!({ "jsonrpc": "2.0", "id": 1, "method": "ping" });
    let (status, _, answer) = served.post(&[], &ping).await;
    assert_eq!(status, 503);
    let error = json!({ "code": -32603, "message": "1 connections are open, which is the limit" });
    assert_eq!(answer, json!({ "jsonrpc": "2.0", "id": null, "error": error }));
    drop(first);
    while served.post(&[], &ping).await.0 == 503 {}
    served.end().await;
}

#[tokio::test]
async fn a_long_request_is_refused() {
    let served = Served::new().await;
    let long = json!({ "jsonrpc": "2.0", "id": 1, "method": "x".repeat(4 << 20) });
    assert_eq!(served.post(&[], &long).await.0, 413);
    served.end().await;
}

/// Time passes where there is nothing else to do.
#[tokio::test(start_paused = true)]
async fn a_client_that_does_not_ask_is_left() {
    let served = Served::new().await;
    for part in ["", "POST /mcp HTTP/1.1\r\nhost: localhost\r\n"] {
        let mut stream = TcpStream::connect(served.address).await.unwrap();
        stream.write_all(part.as_bytes()).await.unwrap();
        let start = tokio::time::Instant::now();
        assert_eq!(stream.read_to_end(&mut Vec::new()).await.unwrap(), 0, "{part}");
        assert_eq!(start.elapsed().as_secs(), 30, "{part}");
    }
    served.end().await;
}

/// Elsewhere the system allows fewer.
#[cfg(target_os = "linux")]
#[tokio::test]
async fn many_connections_wait_to_be_accepted() {
    const MANY: usize = 300;
    let most = std::fs::read_to_string("/proc/sys/net/core/somaxconn").unwrap();
    if most.trim().parse::<usize>().unwrap() < MANY {
        return toolbond_harness::skip(&format!(
            "the system lets {} connections wait",
            most.trim()
        ));
    }
    let http = Http::bind("127.0.0.1:0").await.unwrap();
    // One that finds no place is tried again and again.
    let all =
        futures_util::future::join_all((0..MANY).map(|_| TcpStream::connect(http.local_addr())));
    let all = tokio::time::timeout(Duration::from_secs(60), all).await.expect("a place for each");
    assert!(all.iter().all(Result::is_ok));
}
