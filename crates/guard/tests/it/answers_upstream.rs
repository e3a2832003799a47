//! Answers of a server on HTTP to a client on standard input and output.

use std::sync::Arc;
use std::thread;

use hyper::HeaderMap;
use serde_json::json;
use tokio::io::split;
use toolbond_guard::stdio::Upstream;
use toolbond_guard::{Client, Event, MemoryLimit, Settings};
use toolbond_harness::http::HttpServer;
use toolbond_harness::mcp::request;

use crate::http::guarded;
use crate::pair::{Peer, runtime};

/// A client on a pipe in front of the server at `url`.
pub(crate) fn on_pipe(url: &str, settings: Settings) -> Peer {
    let (client, to_client) = Peer::new();
    let (url, guarded) = (url.to_owned(), guarded(settings, Arc::new(|_: Event| {})));
    let carry = async move {
        let (connector, memory) = (Client::new(None).unwrap(), MemoryLimit::default());
        let upstream = Upstream::new(&url, HeaderMap::new(), connector, guarded, Arc::new(memory));
        let (input, output) = split(tokio::net::TcpStream::from_std(to_client).unwrap());
        upstream.unwrap().relay((Box::new(input), Box::new(output))).await;
    };
    thread::spawn(|| runtime().block_on(carry));
    client
}

#[test]
fn every_request_is_answered_however_its_answer_is_written() {
    let server = HttpServer::start(|request, reply| {
        if request.method() != "POST" {
            return reply.send("405 Method Not Allowed", "", "");
        }
        let (message, events) = (request.message(), "text/event-stream");
        if message["id"].is_null() {
            return reply.send("202 Accepted", "", "");
        }
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": {} }).to_string();
        let (media, body) = match message["method"].as_str().unwrap() {
            "initialize" => {
                return reply.result(request, &json!({ "protocolVersion": "2025-11-25" }));
            }
            "a/notice" => ("application/json", format!("Warning: a in b.php\n{answer}")),
            "a/charset" => ("text/event-stream; charset=ISO-8859-1", format!("data: {answer}\n\n")),
            "a/returns" => (events, format!("data: {answer}\r\r")),
            "a/no-blank-line" => (events, format!("data: {answer}\n")),
            _ => (events, format!("data: {}", &answer[..answer.len() - 2])),
        };
        reply.send("200 OK", &format!("content-type: {media}"), body)
    });
    let mut client = on_pipe(&server.url("/mcp"), Settings::default());
    client.send(&request(0, "initialize"));
    assert_eq!(client.json()["id"], 0);
    let without = "without an answer";
    let cases = [
        ("a/notice", without),
        ("a/charset", "result"),
        ("a/returns", "result"),
        ("a/no-blank-line", "result"),
        ("a/cut-off", without),
    ];
    for (id, (method, expected)) in (1..).zip(cases) {
        client.send(&request(id, method));
        let answer = client.json();
        assert!(answer["id"] == id && answer.to_string().contains(expected), "{method}: {answer}");
    }
}
