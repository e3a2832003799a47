//! A client on standard input and output, and a server on Streamable HTTP: `toolbond guard --upstream URL`.

use std::collections::BTreeMap;
use std::io;
use std::net::TcpListener;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use toolbond_harness::address;
use toolbond_harness::guard::{ENFORCE, Talk};
use toolbond_harness::http::{HttpServer, Reply, Request};
use toolbond_harness::mcp::call;
use toolbond_harness::process::toolbond;
use toolbond_harness::wait::wait_until;

use crate::command::texts;

/// A server of 2025-11-25 with sessions.
#[derive(Default)]
struct Sessions {
    opened: usize,
    /// The session that it knows.
    known: Option<String>,
    /// What it got: the method of HTTP or of the message, and the session.
    got: Vec<(String, String)>,
    /// The values of `authorization`.
    keys: Vec<String>,
    /// How often an event stream was opened with GET.
    listeners: usize,
    /// Whether it opens no session any more.
    is_full: bool,
}

fn start() -> (HttpServer, Arc<Mutex<Sessions>>) {
    let state = Arc::<Mutex<Sessions>>::default();
    let own = Arc::clone(&state);
    (HttpServer::start(move |request, reply| serve(request, reply, &own)), state)
}

const TOOL: &str =
    r#"[{"name":"add","inputSchema":{"type":"object","properties":{"a":{"type":"integer"}}}}]"#;

fn serve(request: &Request, reply: &mut Reply<'_>, state: &Mutex<Sessions>) -> io::Result<()> {
    let message = request.message();
    let method = message["method"].as_str().unwrap_or(request.method()).to_owned();
    let session = request.header("mcp-session-id").unwrap_or("none").to_owned();
    let mut all = state.lock().unwrap();
    all.got.push((method.clone(), session.clone()));
    all.keys.push(request.header("authorization").unwrap_or_default().to_owned());
    if method == "initialize" {
        if all.is_full {
            return reply.send("503 Service Unavailable", "", "");
        }
        all.opened += 1;
        let id = format!("session-{}", all.opened);
        all.known = Some(id.clone());
        drop(all);
        let result = json!({ "protocolVersion": "2025-11-25",
            "capabilities": { "tools": { "listChanged": true } },
            "serverInfo": { "name": "s", "version": "1" } });
        let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": result });
        let headers = format!("content-type: application/json\r\nmcp-session-id: {id}");
        return reply.send("200 OK", &headers, answer.to_string());
    }
    if method == "server/discover" {
        return reply.send("400 Bad Request", "", "no valid session");
    }
    if all.known.as_ref() != Some(&session) {
        return reply.send("404 Not Found", "", "");
    }
    if request.method() == "GET" {
        all.listeners += 1;
        drop(all);
        reply.events()?;
        return reply.event(
            "data: {\"jsonrpc\":\"2.0\",\"method\":\"notifications/tools/list_changed\"}\n\n",
        );
    }
    drop(all);
    match (method.as_str(), message["params"]["name"].as_str()) {
        ("tools/list", _) => {
            let tools: Value = serde_json::from_str(TOOL).unwrap();
            reply.result(request, &json!({ "tools": tools }))
        }
        ("tools/call", Some("hang")) => {
            reply.hang();
            Ok(())
        }
        ("tools/call", _) => {
            reply.result(request, &json!({ "content": [message["params"]["arguments"]] }))
        }
        _ if message["id"].is_null() => reply.send("202 Accepted", "", ""),
        _ => reply.result(request, &json!({})),
    }
}

fn got(state: &Mutex<Sessions>) -> BTreeMap<(String, String), usize> {
    let mut count = BTreeMap::new();
    for key in &state.lock().unwrap().got {
        *count.entry(key.clone()).or_default() += 1;
    }
    count
}

/// The answer to a call with this id; notifications may come before it.
fn answer_to(talk: &mut Talk, id: u32) -> Value {
    talk.send(&call(id, "add", &json!({ "a": id })));
    loop {
        let message = talk.answer();
        if message["id"] == id {
            return message;
        }
    }
}

fn of(method: &str, session: &str) -> (String, String) {
    (method.to_owned(), session.to_owned())
}

#[test]
fn a_session_is_opened_checked_and_ended() {
    let (server, state) = start();
    let mut talk = Talk::upstream(&server.url("/mcp"), &ENFORCE);
    assert_eq!(talk.greet(&json!({}))["result"]["serverInfo"]["name"], "s");
    // What the server tells on the stream that the guard opened with GET.
    assert_eq!(talk.answer()["method"], "notifications/tools/list_changed");
    assert_eq!(talk.call("add", &json!({ "a": 1 }))["result"]["content"][0]["a"], 1);
    let refused = talk.call("add", &json!({ "a": "x" }));
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    let other = talk.call("other", &json!({}));
    assert_eq!(other["error"]["code"], -32602, "{other}");
    let log = talk.end();
    let got = got(&state);
    assert_eq!(got.get(&of("tools/call", "session-1")), Some(&1), "{got:?}, {log}");
    assert_eq!(got.get(&of("DELETE", "session-1")), Some(&1), "{got:?}");
    assert_eq!(got.get(&of("notifications/initialized", "session-1")), Some(&1));
}

#[test]
fn a_session_that_the_server_has_ended_is_opened_again() {
    let (server, state) = start();
    let mut talk = Talk::upstream(&server.url("/mcp"), &[]);
    talk.greet(&json!({}));
    talk.answer();
    state.lock().unwrap().known = None;
    let answer = answer_to(&mut talk, 6);
    assert_eq!(answer["result"]["content"][0]["a"], 6, "{answer}");
    talk.guard.log().wait_for("the guard has opened a new one");
    // It listens in the new session, too.
    wait_until("another stream", || state.lock().unwrap().listeners == 2);
    {
        let mut state = state.lock().unwrap();
        (state.known, state.is_full) = (None, true);
    }
    let lost = answer_to(&mut talk, 7);
    let text = lost["error"]["message"].as_str().unwrap();
    assert!(text.contains("ended the session") && text.contains("503"), "{lost}");
    // The next request tries again.
    state.lock().unwrap().is_full = false;
    let answer = answer_to(&mut talk, 8);
    assert_eq!(answer["result"]["content"][0]["a"], 8, "{answer}");
    assert!(talk.end().contains("503"));
}

#[test]
fn headers_have_the_values_of_variables() {
    let (server, state) = start();
    let mut command = toolbond(&["guard", "--upstream", &server.url("/mcp"), "--header"]);
    command.arg("Authorization: Bearer $TOOLBOND_TEST_TOKEN").env("TOOLBOND_TEST_TOKEN", "secret");
    let mut talk = Talk::with(command);
    talk.greet(&json!({}));
    let log = talk.end();
    let keys = state.lock().unwrap().keys.clone();
    assert!(keys.len() >= 3 && keys.iter().all(|key| key == "Bearer secret"), "{keys:?}");
    assert!(!log.contains("secret"), "{log}");

    let mut command = toolbond(&["guard", "--upstream", &server.url("/mcp"), "--header"]);
    command.arg("Authorization: Bearer $TOOLBOND_NO_SUCH_TOKEN");
    let (code, _, said) = texts(command.output().unwrap());
    assert_eq!(code, Some(2));
    assert!(said.contains("TOOLBOND_NO_SUCH_TOKEN is not set"), "{said}");
}

#[test]
fn a_server_that_wants_credentials_is_explained() {
    let server = HttpServer::start(|_, reply| {
        let headers = "www-authenticate: Bearer resource_metadata=\"https://a.example/b\"";
        reply.send("401 Unauthorized", headers, "")
    });
    let mut talk = Talk::upstream(&server.url("/mcp"), &[]);
    let answer = talk.greet(&json!({}));
    let text = answer["error"]["message"].as_str().unwrap();
    assert!(
        text.contains("401") && text.contains("--header 'Authorization: Bearer $TOKEN'"),
        "{text}"
    );
    assert!(answer["error"].as_object().unwrap().keys().all(|key| !key.contains("toolbond")));
    let log = talk.end();
    assert_eq!(log.matches("--header").count(), 1, "{log}");
}

#[test]
fn a_server_that_comes_up_later_is_reached() {
    let reserved = address::reserved();
    let url = format!("http://{reserved}/mcp");
    let mut talk = Talk::upstream(&url, &[]);
    let answer = talk.greet(&json!({}));
    let text = answer["error"]["message"].as_str().unwrap_or_default();
    assert!(text.contains("could not reach the server"), "{answer}");
    let state = Arc::<Mutex<Sessions>>::default();
    let own = Arc::clone(&state);
    let listener = TcpListener::bind(reserved).unwrap();
    let answer = move |request: &Request, reply: &mut Reply<'_>| serve(request, reply, &own);
    let _server = HttpServer::on(listener, |stream| stream, answer);
    assert_eq!(talk.greet(&json!({}))["result"]["serverInfo"]["name"], "s");
    talk.end();
}

#[test]
fn a_signal_ends_the_session_and_the_guard() {
    let (server, state) = start();
    let mut talk = Talk::upstream(&server.url("/mcp"), &[]);
    talk.greet(&json!({}));
    talk.send(r#"{"jsonrpc":"2.0","id":9,"method":"tools/call","params":{"name":"hang"}}"#);
    wait_until("a call", || got(&state).contains_key(&of("tools/call", "session-1")));
    talk.guard.signal("-TERM");
    assert_eq!(talk.guard.wait().code(), Some(0));
    assert!(got(&state).contains_key(&of("DELETE", "session-1")));
}

#[test]
fn a_redirect_is_followed_at_the_same_server_only() {
    let (server, state) = start();
    let own = Arc::clone(&state);
    let moved = HttpServer::start(move |request, reply| match request.path() {
        "/mcp" => reply.send("307 Temporary Redirect", "location: /mcp/", ""),
        "/mcp/" => serve(request, reply, &own),
        _ => reply.send("404 Not Found", "", ""),
    });
    let mut talk = Talk::upstream(&moved.url("/mcp"), &[]);
    assert_eq!(talk.greet(&json!({}))["result"]["serverInfo"]["name"], "s");
    talk.end();
    assert_eq!(got(&state).get(&of("DELETE", "session-1")), Some(&1));

    let elsewhere = server.url("/mcp");
    let target = format!("location: {elsewhere}");
    let other =
        HttpServer::start(move |_, reply| reply.send("308 Permanent Redirect", &target, ""));
    let mut talk = Talk::upstream(&other.url("/mcp"), &[]);
    let answer = talk.greet(&json!({}));
    let text = answer["error"]["message"].as_str().unwrap();
    assert_eq!(text, format!("the server redirects to {elsewhere}: guard that URL instead"));
    talk.end();
    assert!(server.take().is_empty(), "the other server got nothing");
}
