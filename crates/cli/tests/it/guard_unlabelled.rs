//! Bodies of a server that are not labelled as what they are: no result gets past the guard in one, and pages that hold
//! no message pass.

use std::sync::{Arc, Mutex};

use serde_json::json;
use toolbond_harness::guard::in_front_of;
use toolbond_harness::http::{Connection, HttpServer, ask, send};
use toolbond_harness::mcp::{INITIALIZED, PING, POST, call};
use toolbond_harness::wait::wait_until;

const GET: &str = "GET /mcp HTTP/1.1\r\naccept: text/event-stream";

/// What is not valid as the result of a tool.
const INVALID: &str = r#""structuredContent":{"n":"ten"}"#;

/// A status, headers and a body.
type Told = Arc<Mutex<[String; 3]>>;

/// A server that lists its tools, never answers a call of `slow`, and answers everything else as it is told.
fn start() -> (HttpServer, Told) {
    let told = Told::default();
    let next = Arc::clone(&told);
    let server = HttpServer::start(move |request, reply| {
        let message = request.message();
        if message["method"] == "tools/list" {
            let schema = json!({ "type": "object", "properties": { "n": { "type": "integer" } } });
            let tool = |name: &str| json!({ "name": name, "inputSchema": { "type": "object" }, "outputSchema": schema });
            return reply.result(request, &json!({ "tools": [tool("slow"), tool("quick")] }));
        }
        if message["params"]["name"] == "slow" {
            reply.hang();
            return Ok(());
        }
        let [status, headers, body] = next.lock().unwrap().clone();
        reply.send(&status, &headers, body)
    });
    (server, told)
}

fn tell(told: &Told, status: &str, headers: &str, body: &str) {
    *told.lock().unwrap() = [status, headers, body].map(str::to_owned);
}

#[test]
fn a_result_is_withheld_wherever_a_client_may_read_it() {
    let (server, told) = start();
    let (_guard, port) = in_front_of(server.port, &["--results", "enforce"]);
    let quick = |id| (POST, call(id, "quick", &json!({})));
    let types =
        ["text/plain", "application/octet-stream", "application/vnd.x.json", "application/json"];
    let types = types.map(|name| format!("content-type: {name}"));
    let mut id = 0;
    for status in ["200 OK", "202 Accepted", "404 Not Found", "500 Internal Server Error"] {
        for headers in types.iter().map(String::as_str).chain([""]) {
            for is_event in [false, true] {
                for place in 0..4 {
                    id += 1;
                    let open = call(id, "slow", &json!({}));
                    let (head, body) = [
                        (GET, String::new()),
                        (POST, PING.to_owned()),
                        (POST, INITIALIZED.to_owned()),
                        quick(id),
                    ][place]
                        .clone();
                    let _open = (place < 3).then(|| Connection::open(port, POST, open.as_bytes()));
                    let is_slow = |it: &str| it.contains("\"slow\"") && it.contains("tools/call");
                    let mut seen = String::new();
                    wait_until("the call is open", || {
                        for request in server.take() {
                            seen += &String::from_utf8_lossy(&request.body);
                        }
                        place == 3 || is_slow(&seen)
                    });
                    let result = format!(
                        r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[],{INVALID}}}}}"#
                    );
                    let text = if is_event { format!("data: {result}\n\n") } else { result };
                    tell(&told, status, headers, &text);
                    let answer = ask(port, head, &body);
                    let case = format!("{status}, {headers}, {is_event}, {place}: {answer}");
                    assert!(!answer.contains(INVALID), "{case}");
                    let is_kept = status.starts_with(['4', '5']);
                    assert!(!is_kept || answer.contains(status), "{case}");
                }
            }
        }
    }
}

#[test]
fn pages_without_a_message_pass() {
    let (server, told) = start();
    let (_guard, port) = in_front_of(server.port, &["--results", "enforce"]);
    let page =
        "<html>\n<style>body { color: red }</style>\n<img src=\"data:,x\"> no data: {}</html>";
    let pages = [
        ("401 Unauthorized", "content-type: text/plain\r\nwww-authenticate: Bearer", "no token"),
        ("401 Unauthorized", "www-authenticate: Bearer", r#"{"error":"invalid_token"}"#),
        ("404 Not Found", "content-type: text/html", page),
        ("405 Method Not Allowed", "allow: POST", "Method Not Allowed\n"),
        (
            "405 Method Not Allowed",
            "content-type: application/json",
            r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}"#,
        ),
        ("502 Bad Gateway", "", ""),
    ];
    for (status, headers, text) in pages {
        tell(&told, status, headers, text);
        for (head, body) in [(GET, ""), (POST, PING), (POST, &call(1, "quick", &json!({})))] {
            let answer = ask(port, head, body);
            assert!(answer.starts_with(&format!("HTTP/1.1 {status}\r\n")), "{answer}");
            assert!(headers.split("\r\n").all(|line| answer.contains(line)), "{answer}");
            assert!(answer.ends_with(text), "{answer}");
        }
    }
    tell(&told, "202 Accepted", "content-type: text/plain", "Accepted");
    let answer = ask(port, POST, INITIALIZED);
    assert!(answer.starts_with("HTTP/1.1 202") && answer.ends_with("Accepted"), "{answer}");
    tell(&told, "200 OK", "content-type: text/plain", "gone");
    let answer = ask(port, "DELETE /mcp HTTP/1.1\r\naccept: text/event-stream", "");
    assert!(answer.starts_with("HTTP/1.1 200") && answer.ends_with("gone"), "{answer}");
}

#[test]
fn an_error_page_passes_in_whatever_charset() {
    let page = b"<p>d\xe9sol\xe9</p>";
    let server = HttpServer::start(move |_, reply| reply.send("500 Oops", "", page));
    let (_guard, port) = in_front_of(server.port, &["--results", "enforce", "--keep-eras"]);
    let answer = send(port, POST, PING.as_bytes());
    let shown = String::from_utf8_lossy(&answer);
    assert!(answer.starts_with(b"HTTP/1.1 500") && answer.ends_with(page), "{shown}");
}

#[test]
fn the_status_of_an_error_page_comes_though_the_page_does_not_end() {
    let server = HttpServer::start(|_, reply| {
        reply.raw(b"HTTP/1.1 503 Later\r\nretry-after: 9\r\ntransfer-encoding: chunked\r\n\r\n")?;
        loop {
            reply.event("wait ")?;
            std::thread::sleep(std::time::Duration::from_millis(20));
        }
    });
    let (_guard, port) = in_front_of(server.port, &["--results", "enforce", "--keep-eras"]);
    let mut connection = Connection::open(port, POST, PING.as_bytes());
    connection.wait_for("HTTP/1.1 503");
    connection.wait_for("retry-after: 9");
}
