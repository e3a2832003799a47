//! Clients of one era and servers on HTTP of the other, through a guard on HTTP: who a request is of, and what happens
//! when a server ends its sessions and streams.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::guard_config::{body, modern};
use crate::guard_http::{Process, ask, call, guard};

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
    /// How long its next answer takes.
    delay: Duration,
    /// Where streams began that were opened with GET: at the start, or after an event. `None` where it offers none.
    streams: Option<Vec<String>>,
    /// How it refuses a session that it does not know.
    refusal: Option<(u16, &'static str)>,
}

impl Legacy {
    fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let state = Arc::<Mutex<State>>::default();
        let server = Self { port, state: Arc::clone(&state) };
        // Both end with the process of the test.
        thread::spawn(move || {
            for stream in listener.incoming() {
                let state = Arc::clone(&state);
                // A client that breaks off is no failure of the test.
                thread::spawn(move || drop(serve(stream.unwrap(), &state)));
            }
        });
        server
    }
}

/// A request on HTTP: its method, its headers and its body.
struct Request(String, HashMap<String, String>, Vec<u8>);

impl Request {
    fn read(reader: &mut BufReader<TcpStream>) -> std::io::Result<Option<Self>> {
        let (mut first, mut headers) = (String::new(), HashMap::new());
        if reader.read_line(&mut first)? == 0 {
            return Ok(None);
        }
        let mut line = String::new();
        while reader.read_line(&mut line)? > 2 {
            if let Some((name, value)) = line.split_once(':') {
                headers.insert(name.to_ascii_lowercase(), value.trim().to_owned());
            }
            line.clear();
        }
        let length = headers.get("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        Ok(Some(Self(first.split(' ').next().unwrap().to_owned(), headers, body)))
    }

    fn header(&self, name: &str) -> &str {
        self.1.get(name).map_or("nobody", String::as_str)
    }
}

fn serve(mut stream: TcpStream, state: &Mutex<State>) -> std::io::Result<()> {
    stream.set_nodelay(true)?;
    let mut reader = BufReader::new(stream.try_clone()?);
    while let Some(request) = Request::read(&mut reader)? {
        if state.lock().unwrap().is_down {
            return Ok(());
        }
        let delay = std::mem::take(&mut state.lock().unwrap().delay);
        thread::sleep(delay);
        let (status, more, text) = match request.0.as_str() {
            "POST" => answer(&request, state),
            "GET" => {
                let last = request.header("last-event-id").to_owned();
                let count = state.lock().unwrap().streams.as_mut().map(|all| {
                    all.push(last.clone());
                    all.len()
                });
                match count {
                    Some(count) => return send_events(stream, &last, count),
                    None => (405, String::new(), String::new()),
                }
            }
            _ => (200, String::new(), String::new()),
        };
        if text.starts_with("id:") {
            return write!(stream, "{EVENTS}{text}");
        }
        let length = text.len();
        write!(
            stream,
            "HTTP/1.1 {status} .\r\ncontent-type: application/json{more}\r\ncontent-length: {length}\r\n\r\n{text}"
        )?;
    }
    Ok(())
}

const EVENTS: &str =
    "HTTP/1.1 200 .\r\ncontent-type: text/event-stream\r\nconnection: close\r\n\r\n";

/// Sends the stream with this number, which goes on after the event `last`, and closes it.
fn send_events(mut stream: TcpStream, last: &str, number: usize) -> std::io::Result<()> {
    write!(stream, "{EVENTS}id: event {number}\nretry: 100\ndata:\n\n")?;
    if let Some(id) = last.strip_prefix("poll ") {
        let result = r#"{"content":[{"type":"text","text":"polled"}]}"#;
        return write!(stream, "data: {{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{result}}}\n\n");
    }
    thread::sleep(Duration::from_millis(200));
    if number > 1 {
        let method = "notifications/tools/list_changed";
        write!(stream, "data: {{\"jsonrpc\":\"2.0\",\"method\":\"{method}\"}}\n\n")?;
    }
    Ok(())
}

/// The status, more of the head and the body of the answer to a message.
fn answer(request: &Request, state: &Mutex<State>) -> (u16, String, String) {
    let message: Value = serde_json::from_slice(&request.2).unwrap();
    let reply = |name: &str, value: Value| {
        let mut reply = json!({ "jsonrpc": "2.0", "id": message["id"] });
        reply[name] = value;
        reply.to_string()
    };
    let refuse = |status, text: &str| {
        (status, String::new(), reply("error", json!({ "code": -32000, "message": text })))
    };
    let key = request.header("x-api-key");
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
    let Some(session) = request.1.get("mcp-session-id") else {
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
            thread::sleep(Duration::from_millis(2));
            let seen = ["cookie", "x-request-id"].map(|name| request.header(name));
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
    let (_guard, port) = guard(server.port, &[]);
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
    let (_guard, port) = guard(server.port, &[]);
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
    let (_guard, port) = guard(server.port, &[]);
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
    let (guard, port) = guard(server.port, &[]);
    (server, guard, port)
}

#[test]
fn a_stream_that_the_server_closed_is_opened_again() {
    let (server, _guard, port) = fleeting();
    let listen = json!({ "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen",
        "params": { "notifications": { "toolsListChanged": true } } });
    let (head, text) = modern("/mcp", &listen.to_string());
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let length = text.len();
    write!(
        stream,
        "{head}\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: {length}\r\n\r\n{text}"
    )
    .unwrap();
    let start = Instant::now();
    let lines = BufReader::new(stream).lines().map_while(Result::ok);
    let lines = lines.take_while(|_| start.elapsed() < Duration::from_secs(30));
    let changes = lines.filter(|line| line.contains("notifications/tools/list_changed"));
    assert_eq!(changes.take(2).count(), 2);
    let streams = server.state.lock().unwrap().streams.take().unwrap();
    assert_eq!(streams[..3], ["nobody", "event 1", "event 2"]);
}

#[test]
fn an_answer_that_the_server_sends_on_another_stream_arrives() {
    let (_server, _guard, port) = fleeting();
    let (head, text) = modern("/mcp", &call(7, "poll", &json!({})));
    let answer = body(&ask(port, &head, &text));
    assert_eq!(answer["result"]["content"][0]["text"], "polled", "{answer}");
}

#[test]
fn a_server_that_is_slow_to_start_is_asked_again() {
    let server = Legacy::start();
    server.state.lock().unwrap().delay = Duration::from_secs(7);
    let (_guard, port) = guard(server.port, &[]);
    // It goes to a server that may well be a modern one.
    message(&whoami(port, 1, ""));
    text(&whoami(port, 2, ""));
}
