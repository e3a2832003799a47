//! Clients of one era and servers on HTTP of the other, through a guard on HTTP: who a request is of, and what happens
//! when a server ends its sessions and streams.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::thread;

use serde_json::{Value, json};
use toolbond_harness::guard::in_front_of;
use toolbond_harness::http::{Connection, HttpServer, Reply, Request, ask, body};
use toolbond_harness::mcp::{ask_modern, call, modern};
use toolbond_harness::process::Process;
use toolbond_harness::wait::wait_until;

/// A server of 2025-11-25 on HTTP.
struct Legacy {
    port: u16,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
struct State {
    /// The key that each session was opened with.
    sessions: HashMap<String, String>,
    opened: usize,
    is_down: bool,
    /// Whether it keeps the next request waiting until it is released.
    holds_next: bool,
    is_released: bool,
    /// Where streams began that were opened with GET: at the start, or after an event. `None` where it offers none.
    streams: Option<Vec<String>>,
    /// How it refuses a session that it does not know.
    refusal: Option<(u16, &'static str)>,
}

impl Legacy {
    fn start() -> Self {
        let state = Arc::<Mutex<State>>::default();
        let own = Arc::clone(&state);
        let server = HttpServer::start(move |request, reply| serve(request, reply, &own));
        Self { port: server.port, state }
    }
}

/// The value of a header.
fn header<'a>(request: &'a Request, name: &str) -> &'a str {
    request.header(name).unwrap_or("nobody")
}

fn serve(request: &Request, reply: &mut Reply<'_>, state: &Mutex<State>) -> std::io::Result<()> {
    if std::mem::take(&mut state.lock().unwrap().holds_next) {
        wait_until("the server is released", || state.lock().unwrap().is_released);
    }
    if state.lock().unwrap().is_down {
        reply.close();
        return Ok(());
    }
    let (status, more, text) = match request.method() {
        "POST" => answer(request, state),
        "GET" => {
            let last = header(request, "last-event-id").to_owned();
            let count = state.lock().unwrap().streams.as_mut().map(|all| {
                all.push(last.clone());
                all.len()
            });
            match count {
                Some(count) => (200, String::new(), events(&last, count)),
                None => (405, String::new(), String::new()),
            }
        }
        _ => (200, String::new(), String::new()),
    };
    if text.starts_with("id:") {
        reply.close();
        return reply.raw(format!("{EVENTS}{text}").as_bytes());
    }
    let headers = format!("content-type: application/json{more}");
    reply.send(&format!("{status} ."), &headers, text)
}

const EVENTS: &str =
    "HTTP/1.1 200 .\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// The stream with this number, which goes on after the event `last`. It is closed at once.
fn events(last: &str, number: usize) -> String {
    let start = format!("id: event {number}\nretry: 100\ndata:\n\n");
    if let Some(id) = last.strip_prefix("poll ") {
        let result = r#"{"content":[{"type":"text","text":"polled"}]}"#;
        return format!("{start}data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n\n");
    }
    if number == 1 {
        return start;
    }
    let method = "notifications/tools/list_changed";
    format!("{start}data: {{\"jsonrpc\":\"2.0\",\"method\":\"{method}\"}}\n\n")
}

/// The status, more of the head and the body of the answer to a message.
fn answer(request: &Request, state: &Mutex<State>) -> (u16, String, String) {
    let message: Value = request.message();
    let reply = |name: &str, value: Value| {
        let mut reply = json!({ "jsonrpc": "2.0", "id": message["id"] });
        reply[name] = value;
        reply.to_string()
    };
    let refuse = |status, text: &str| {
        (status, String::new(), reply("error", json!({ "code": -32000, "message": text })))
    };
    let key = header(request, "x-api-key");
    let mut state = state.lock().unwrap();
    if message["method"] == "initialize" {
        state.opened += 1;
        let id = format!("session-{}", state.opened);
        state.sessions.insert(id.clone(), key.to_owned());
        let result = json!({ "protocolVersion": "2025-11-25",
            "capabilities": { "tools": { "listChanged": true } },
            "serverInfo": { "name": "legacy", "version": "1" } });
        return (200, format!("\r\nmcp-session-id: {id}"), reply("result", result));
    }
    let Some(session) = request.header("mcp-session-id") else {
        return refuse(400, "Bad Request: no session");
    };
    let Some(opener) = state.sessions.get(session).cloned() else {
        let (status, text) = state.refusal.unwrap_or((404, "Session not found"));
        let error = json!({ "code": -32000, "message": text });
        let error = json!({ "jsonrpc": "2.0", "id": null, "error": error });
        return (status, String::new(), error.to_string());
    };
    drop(state);
    let tools =
        ["whoami", "poll"].map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }));
    let tools = json!({ "tools": tools });
    let result = match message["method"].as_str().unwrap() {
        "tools/list" => tools,
        "tools/call" if message["params"]["name"] == "poll" => {
            let event = format!("id: poll {}\nretry: 100\ndata:\n\n", message["id"]);
            return (200, String::new(), event);
        }
        "tools/call" => {
            let seen = ["cookie", "x-request-id"].map(|name| header(request, name));
            let text = format!("session of {opener}, request of {key}, {}", seen.join(", "));
            json!({ "content": [{ "type": "text", "text": text }] })
        }
        _ => return (202, String::new(), String::new()),
    };
    (200, String::new(), reply("result", result))
}

/// What a call of `whoami` with more headers gets.
fn whoami(port: u16, id: u32, more: &str) -> Value {
    let (head, text) = modern("/mcp", &call(id, "whoami", &json!({})));
    body(&ask(port, &format!("{head}{more}"), &text))
}

fn text(answer: &Value) -> &str {
    answer["result"]["content"][0]["text"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn clients_with_other_credentials_share_no_connection() {
    let server = Legacy::start();
    let (_guard, port) = in_front_of(server.port, &[]);
    whoami(port, 0, "");
    let all: Vec<_> = (0..80)
        .map(|id| {
            thread::spawn(move || {
                let who = format!("user{}", id % 8);
                let more = format!("\r\nx-api-key: {who}\r\nx-request-id: {id}");
                (who, text(&whoami(port, id, &more)).to_owned())
            })
        })
        .collect();
    for (who, said) in all.into_iter().map(|it| it.join().unwrap()) {
        // The id of another request does not pass either.
        assert_eq!(said, format!("session of {who}, request of {who}, nobody, nobody"));
    }
    let cookies = ["a", "b"].map(|it| whoami(port, 1, &format!("\r\ncookie: {it}")));
    let said: HashSet<_> = cookies.iter().map(text).collect();
    assert_eq!(said.len(), 2, "{said:?}");
    // One for each key and cookie, and one for the client without.
    assert_eq!(server.state.lock().unwrap().opened, 11);
}

fn message(answer: &Value) -> &str {
    answer["error"]["message"].as_str().unwrap_or_else(|| panic!("{answer}"))
}

#[test]
fn a_session_that_the_server_has_ended_is_opened_again() {
    let server = Legacy::start();
    let (_guard, port) = in_front_of(server.port, &[]);
    let ada = "\r\nx-api-key: ada";
    // As several SDKs refuse it.
    for refusal in [(404, "Session not found"), (400, "Bad Request: No valid session ID provided")]
    {
        text(&whoami(port, 1, ada));
        let mut state = server.state.lock().unwrap();
        state.sessions.clear();
        state.refusal = Some(refusal);
        drop(state);
        let refused = whoami(port, 2, ada);
        assert!(message(&refused).contains("the server has ended the session"), "{refused}");
        assert!(text(&whoami(port, 3, ada)).starts_with("session of ada"));
    }
    assert_eq!(server.state.lock().unwrap().opened, 3);
}

#[test]
fn a_client_that_comes_while_the_server_is_down_is_served_later() {
    let server = Legacy::start();
    let (_guard, port) = in_front_of(server.port, &[]);
    text(&whoami(port, 1, ""));
    let is_down = |is| server.state.lock().unwrap().is_down = is;
    for client in ["ada", "bob"] {
        let more = format!("\r\nx-api-key: {client}");
        is_down(true);
        let refused = whoami(port, 2, &more);
        assert!(message(&refused).contains("could not reach the server"), "{refused}");
        is_down(false);
        assert!(text(&whoami(port, 3, &more)).starts_with(&format!("session of {client}")));
    }
}

/// A server whose streams do not last, and a guard in front of it.
fn fleeting() -> (Legacy, Process, u16) {
    let server = Legacy::start();
    server.state.lock().unwrap().streams = Some(Vec::new());
    let (guard, port) = in_front_of(server.port, &[]);
    (server, guard, port)
}

#[test]
fn a_stream_that_the_server_closed_is_opened_again() {
    let (server, _guard, port) = fleeting();
    let listen = json!({ "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen",
        "params": { "notifications": { "toolsListChanged": true } } });
    let (head, text) = modern("/mcp", &listen.to_string());
    let mut stream = Connection::open(port, &head, text.as_bytes());
    for _ in 0..2 {
        stream.wait_for("notifications/tools/list_changed");
    }
    let streams = server.state.lock().unwrap().streams.take().unwrap();
    assert_eq!(streams[..3], ["nobody", "event 1", "event 2"]);
}

#[test]
fn an_answer_that_the_server_sends_on_another_stream_arrives() {
    let (_server, _guard, port) = fleeting();
    let answer = body(&ask_modern(port, "/mcp", &call(7, "poll", &json!({}))));
    assert_eq!(answer["result"]["content"][0]["text"], "polled", "{answer}");
}

#[test]
fn a_server_that_is_slow_to_start_is_asked_again() {
    let server = Legacy::start();
    server.state.lock().unwrap().holds_next = true;
    let (_guard, port) = in_front_of(server.port, &[]);
    // It goes to a server that may well be a modern one.
    message(&whoami(port, 1, ""));
    server.state.lock().unwrap().is_released = true;
    text(&whoami(port, 2, ""));
}
