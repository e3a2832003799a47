//! Clients of one era and servers on HTTP of the other, through a guard on HTTP: who a request is of, and what happens
//! when a server ends its sessions and streams.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex, mpsc};
use std::thread;

use serde_json::{Value, json};
use toolbond_harness::guard::{Configured, ENFORCE, in_front_of, in_front_of_url};
use toolbond_harness::http::{Connection, HttpServer, Reply, Request, ask, body};
use toolbond_harness::mcp::{self, ask_modern, call, modern, post};
use toolbond_harness::process::Process;
use toolbond_harness::wait::wait_until;

/// A status and a header.
type Refusal = (u16, &'static str);

/// A server of 2025-11-25 on HTTP.
struct Legacy {
    port: u16,
    server: HttpServer,
    state: Arc<Mutex<State>>,
}

#[derive(Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a habit of its own")]
struct State {
    /// The key that each session was opened with.
    sessions: HashMap<String, String>,
    opened: usize,
    /// The most sessions at a time.
    most: usize,
    is_down: bool,
    /// Whether it keeps what it is asked waiting until a call comes.
    waits_for_call: bool,
    /// How often it was asked with `server/discover`, and whether it answers that.
    discovered: usize,
    hangs: bool,
    /// Whether it answers with ids that are strings.
    writes_strings: bool,
    /// The status and the header with which it refuses everything.
    refuses: Option<Refusal>,
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
        Self { port: server.port, server, state }
    }
}

/// The value of a header.
fn header<'a>(request: &'a Request, name: &str) -> &'a str {
    request.header(name).unwrap_or("nobody")
}

fn serve(request: &Request, reply: &mut Reply<'_>, state: &Mutex<State>) -> std::io::Result<()> {
    let method = request.message()["method"].clone();
    if method == "tools/call" {
        state.lock().unwrap().waits_for_call = false;
    }
    wait_until("a call", || !state.lock().unwrap().waits_for_call);
    if method == "server/discover" {
        let mut state = state.lock().unwrap();
        state.discovered += 1;
        if state.hangs {
            drop(state);
            reply.hang();
            return Ok(());
        }
    }
    let refuses = state.lock().unwrap().refuses;
    if let Some((status, header)) = refuses {
        return reply.send(&format!("{status} ."), header, "no");
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
        _ => {
            let id = header(request, "mcp-session-id");
            state.lock().unwrap().sessions.remove(id);
            (200, String::new(), String::new())
        }
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
    let writes_strings = state.lock().unwrap().writes_strings;
    let reply = |name: &str, value: Value| {
        let mut reply = json!({ "jsonrpc": "2.0", "id": message["id"] });
        if writes_strings && message["id"].is_number() {
            reply["id"] = message["id"].to_string().into();
        }
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
        state.most = state.most.max(state.sessions.len());
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
    // Whatever the server may tell them by.
    let target = |target: &str| ask_modern(port, target, &call(1, "whoami", &json!({})));
    for n in 0..2 {
        whoami(port, 1, &format!("\r\nx-auth-token: {n}"));
        whoami(port, 1, &format!("\r\nx-tenant: {n}"));
        target(&format!("/mcp?key={n}"));
    }
    assert_eq!(server.state.lock().unwrap().opened, 17);
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
    server.state.lock().unwrap().waits_for_call = true;
    let (_guard, port) = in_front_of(server.port, &[]);
    // It goes to a server that may well be a modern one.
    message(&whoami(port, 1, ""));
    wait_until("the server is known", || whoami(port, 2, "").get("result").is_some());
}

#[test]
fn a_server_that_never_answers_server_discover_is_asked_once() {
    let server = Legacy::start();
    server.state.lock().unwrap().hangs = true;
    let (_guard, port) = in_front_of(server.port, &[]);
    for (id, client) in ["ada", "bob", "ada"].into_iter().enumerate() {
        let more = format!("\r\nx-api-key: {client}");
        assert!(text(&whoami(port, u32::try_from(id).unwrap(), &more)).contains(client));
    }
    assert_eq!(server.state.lock().unwrap().discovered, 1);

    // A modern one, which does not know `initialize` either.
    let server = HttpServer::start(|request, reply| match request.message()["method"].as_str() {
        Some("server/discover") => {
            reply.hang();
            Ok(())
        }
        Some("tools/list") => {
            reply.result(request, &json!({ "resultType": "complete", "tools": [] }))
        }
        Some("tools/call") => {
            reply.result(request, &json!({ "resultType": "complete", "content": [] }))
        }
        _ => reply.send("400 .", "", ""),
    });
    let (_guard, port) = in_front_of(server.port, &[]);
    for id in 1..4 {
        let answer = whoami(port, id, "");
        assert_eq!(answer["result"]["content"], json!([]), "{answer}");
    }
    let asked = server.take();
    let discovers = asked.iter().filter(|it| it.message()["method"] == "server/discover");
    assert_eq!(discovers.count(), 1);
}

#[test]
fn a_server_that_answers_with_strings_for_numbers_is_understood() {
    let server = Legacy::start();
    server.state.lock().unwrap().writes_strings = true;
    let (_guard, port) = in_front_of(server.port, &[]);
    let answer = whoami(port, 7, "\r\nx-api-key: ada");
    assert!(text(&answer).starts_with("session of ada"));
    assert_eq!(answer["id"], 7);
    // The same where nothing is translated.
    let answer = ask(port, mcp::POST, &mcp::initialize("2025-11-25", &json!({})));
    let session = answer.split("mcp-session-id: ").nth(1).unwrap().lines().next().unwrap();
    let head = post("/mcp", &format!("\r\nmcp-session-id: {session}"));
    for method in ["tools/list", "tools/call"] {
        let request =
            json!({ "jsonrpc": "2.0", "id": 8, "method": method, "params": { "name": "whoami" } });
        assert_eq!(body(&ask(port, &head, &request.to_string()))["id"], 8);
    }
}

/// What a server may refuse a client with.
const REFUSALS: [(u16, &str); 4] = [
    (401, "www-authenticate: Bearer resource_metadata=\"https://a.example/b\""),
    (403, "www-authenticate: Bearer error=\"insufficient_scope\""),
    (429, "retry-after: 7"),
    (503, "retry-after: 1"),
];

/// Checks that a refusal arrived as the server sent it, and as the answer to the request `id`.
#[track_caller]
fn is_refused(answer: &str, (status, header): (u16, &str), id: u32) {
    assert!(answer.starts_with(&format!("HTTP/1.1 {status} ")), "{answer}");
    assert!(answer.contains(&format!("\r\n{header}\r\n")), "{answer}");
    assert_eq!(body(answer)["id"], id, "{answer}");
    assert!(!answer.contains("toolbond"), "{answer}");
}

#[test]
fn a_modern_client_gets_the_status_and_headers_of_a_refusal() {
    let server = Legacy::start();
    let (_guard, port) = in_front_of(server.port, &[]);
    text(&whoami(port, 1, "\r\nx-api-key: ada"));
    for refusal in REFUSALS {
        // One has a session, and one gets none.
        let new = format!("\r\nx-api-key: new {}", refusal.0);
        for more in ["\r\nx-api-key: ada", &new] {
            server.state.lock().unwrap().refuses = Some(refusal);
            let (head, text) = modern("/mcp", &call(2, "whoami", &json!({})));
            is_refused(&ask(port, &format!("{head}{more}"), &text), refusal, 2);
            server.state.lock().unwrap().refuses = None;
            self::text(&whoami(port, 3, more));
        }
    }
    // The server was known to be an earlier one all the time.
    assert_eq!(server.state.lock().unwrap().opened, 1 + REFUSALS.len());
}

/// A server of 2026-07-28 on HTTP, which refuses everything with what is in the lock, and knows `initialize` only of
/// version `also`.
fn start_modern(also: &'static str) -> (HttpServer, Arc<Mutex<Option<Refusal>>>) {
    let refuses = Arc::<Mutex<_>>::default();
    let own = Arc::clone(&refuses);
    let server = HttpServer::start(move |request, reply| {
        if let Some((status, header)) = *own.lock().unwrap() {
            return reply.send(&format!("{status} ."), header, "no");
        }
        let message = request.message();
        let result = match message["method"].as_str().unwrap_or_default() {
            "server/discover" => json!({ "supportedVersions": ["2026-07-28"], "capabilities": {} }),
            "tools/list" => {
                json!({ "tools": [{ "name": "a", "inputSchema": { "type": "object" } }] })
            }
            "tools/call" => json!({ "content": [] }),
            "initialize" if message["params"]["protocolVersion"] == also => {
                json!({ "protocolVersion": also, "capabilities": {},
                    "serverInfo": { "name": "both", "version": "1" } })
            }
            _ => {
                let error = json!({ "code": -32022, "message": "unsupported version" });
                let error = json!({ "jsonrpc": "2.0", "id": message["id"], "error": error });
                let head = "content-type: application/json";
                return reply.send("400 .", head, error.to_string());
            }
        };
        let mut result = result;
        if message["method"] != "initialize" {
            result["resultType"] = json!("complete");
        }
        reply.result(request, &result)
    });
    (server, refuses)
}

#[test]
fn a_legacy_client_gets_the_status_and_headers_of_a_refusal() {
    let (server, refuses) = start_modern("none");
    let (_guard, port) = in_front_of(server.port, &[]);
    let older = mcp::open(port, "/mcp");
    let newer = format!("{older}\r\nmcp-protocol-version: 2025-11-25");
    let call = call(2, "a", &json!({}));
    for refusal in REFUSALS {
        *refuses.lock().unwrap() = Some(refusal);
        for head in [&older, &newer] {
            is_refused(&ask(port, head, &call), refusal, 2);
        }
        let hello = mcp::initialize("2025-11-25", &json!({}));
        is_refused(&ask(port, &post("/mcp", ""), &hello), refusal, 0);
        *refuses.lock().unwrap() = None;
        for head in [&older, &newer] {
            let answer = ask(port, head, &call);
            assert!(answer.contains(r#""content":[]"#), "{answer}");
        }
        mcp::open(port, "/mcp");
    }
}

/// The paths of the requests that a server got.
fn paths(server: &HttpServer) -> HashSet<String> {
    server.take().iter().map(|got| got.path().to_owned()).collect()
}

#[test]
fn the_query_of_a_client_reaches_a_server_of_another_era() {
    let expected = HashSet::from(["/mcp?key=s&tenant=a".to_owned()]);
    let (server, _) = start_modern("none");
    let (_guard, port) = in_front_of_url(&server.url("/mcp?key=s"), &ENFORCE);
    let head = mcp::open(port, "/mcp?tenant=a");
    let answer = ask(port, &head, &call(2, "a", &json!({})));
    assert!(answer.contains(r#""content":[]"#), "{answer}");
    assert_eq!(paths(&server), expected);

    let legacy = Legacy::start();
    let (_guard, port) = in_front_of_url(&legacy.server.url("/mcp?key=s"), &ENFORCE);
    let answer = ask_modern(port, "/mcp?tenant=a", &call(1, "whoami", &json!({})));
    text(&body(&answer));
    assert_eq!(paths(&legacy.server), expected);
}

#[test]
fn the_guards_own_list_for_a_legacy_client_has_its_credentials_and_nothing_of_one_message() {
    let (server, _) = start_modern("none");
    let (_guard, port) = in_front_of(server.port, &ENFORCE);
    let head = mcp::open(port, "/mcp");
    let of_message =
        ["idempotency-key", "content-digest", "digest", "repr-digest", "mcp-param-a", "range"];
    let more = of_message.map(|name| format!("\r\n{name}: x")).concat();
    server.take();
    let head = format!("{head}\r\nauthorization: ada{more}");
    let answer = ask(port, &head, &call(2, "a", &json!({})));
    assert!(answer.contains(r#""content":[]"#), "{answer}");
    let seen = server.take();
    let list = seen.iter().find(|got| got.message()["method"] == "tools/list").unwrap();
    assert_eq!(list.header("authorization"), Some("ada"), "{}", list.head);
    for name in of_message {
        assert_eq!(list.header(name), None, "{}", list.head);
    }
}

/// What one guard requests itself, the other one takes for a request of a client.
#[test]
fn a_guard_that_bridges_serves_another_guard() {
    let (server, _) = start_modern("none");
    let (_inner, port) = in_front_of(server.port, &ENFORCE);
    let (_outer, port) = in_front_of(port, &[&ENFORCE[..], &["--keep-eras"]].concat());
    let head = mcp::open(port, "/mcp");
    let answer = ask(port, &head, &call(2, "a", &json!({})));
    assert!(answer.contains(r#""content":[]"#), "{answer}");
    let answer = ask(port, &head, &call(3, "unlisted", &json!({})));
    assert!(answer.contains("the server does not list it"), "{answer}");
}

#[test]
fn a_version_that_a_server_does_not_know_decides_nothing_for_others() {
    let (server, _) = start_modern("2025-11-25");
    let (_guard, port) = in_front_of(server.port, &[]);
    let hello = |version| ask(port, &post("/mcp", ""), &mcp::initialize(version, &json!({})));
    assert!(body(&hello("1900-01-01"))["result"].is_object());
    assert_eq!(body(&hello("2025-11-25"))["result"]["serverInfo"]["name"], "both");
}

#[test]
fn a_reload_that_does_not_change_a_server_keeps_its_sessions_and_calls() {
    let server = Legacy::start();
    let file = format!("[servers.a]\nurl = '{}'\n", mcp::url(server.port));
    let guard = Configured::start(&file);
    let port = guard.port("/a/mcp");
    let (head, who) = modern("/a/mcp", &call(1, "whoami", &json!({})));
    text(&body(&ask(port, &head, &who)));
    let listen = json!({ "jsonrpc": "2.0", "id": 1, "method": "subscriptions/listen",
        "params": { "notifications": { "toolsListChanged": true } } });
    let (listening, message) = modern("/a/mcp", &listen.to_string());
    let mut stream = Connection::open(port, &listening, message.as_bytes());
    stream.wait_for("notifications/subscriptions/acknowledged");
    guard.write(&format!("{file}[servers.other]\nurl = '{}'\n", mcp::url(1)));
    guard.process.log().wait_for("configuration: applied");
    text(&body(&ask(port, &head, &who)));
    let state = server.state.lock().unwrap();
    assert_eq!((state.opened, state.sessions.len()), (1, 1));
}

#[test]
fn made_up_headers_cost_nobody_a_session_and_leave_few() {
    const MADE_UP: u32 = 300;
    let server = Legacy::start();
    let (_guard, port) = in_front_of(server.port, &[]);
    let ada = "\r\nx-api-key: ada";
    for id in 0..2 {
        text(&whoami(port, id, ada));
    }
    for id in 0..MADE_UP {
        text(&whoami(port, id, &format!("\r\nx-made-up: {id}")));
    }
    let opened = server.state.lock().unwrap().opened;
    text(&whoami(port, 2, ada));
    wait_until("the other sessions have ended", || {
        server.state.lock().unwrap().sessions.len() <= 257
    });
    let state = server.state.lock().unwrap();
    assert_eq!(state.opened, opened);
    assert!(state.most < 280, "{}", state.most);
}

#[test]
fn a_log_message_on_another_stream_comes_before_the_answer_that_it_was_sent_before() {
    // It arrives as late as the answer to whatever is asked next.
    let (log, logs) = mpsc::channel::<()>();
    let (sent, is_sent) = mpsc::channel::<()>();
    let (log, logs) = (Mutex::new(log), Mutex::new(logs));
    let (sent, is_sent) = (Mutex::new(sent), Mutex::new(is_sent));
    let server = HttpServer::start(move |request, reply| {
        if request.method() == "GET" {
            reply.events()?;
            sent.lock().unwrap().send(()).unwrap();
            while logs.lock().unwrap().recv().is_ok() {
                let params = json!({ "level": "info", "data": "said before" });
                let message = json!({ "jsonrpc": "2.0", "method": "notifications/message", "params": params });
                reply.event(&format!("data: {message}\n\n"))?;
                sent.lock().unwrap().send(()).unwrap();
            }
            return Ok(());
        }
        let result = match request.message()["method"].as_str().unwrap_or_default() {
            "initialize" => json!({ "protocolVersion": "2025-11-25",
                "capabilities": { "tools": {}, "logging": {} },
                "serverInfo": { "name": "legacy", "version": "1" } }),
            "tools/list" => {
                json!({ "tools": [{ "name": "a", "inputSchema": { "type": "object" } }] })
            }
            "tools/call" => {
                // The stream is there.
                is_sent.lock().unwrap().recv().unwrap();
                json!({ "content": [] })
            }
            "ping" => {
                log.lock().unwrap().send(()).unwrap();
                is_sent.lock().unwrap().recv().unwrap();
                json!({})
            }
            "logging/setLevel" => json!({}),
            "server/discover" => return reply.send("400 .", "", ""),
            _ => return reply.send("202 .", "", ""),
        };
        reply.result(request, &result)
    });
    let (_guard, port) = in_front_of(server.port, &[]);
    let meta = json!({ "io.modelcontextprotocol/logLevel": "info" });
    let call = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/call",
        "params": { "name": "a", "arguments": {}, "_meta": meta } });
    let answer = ask_modern(port, "/mcp", &call.to_string());
    let (said, answered) = (answer.find("said before"), answer.find(r#""content":[]"#));
    assert!(said.is_some() && said < answered, "{answer}");
}
