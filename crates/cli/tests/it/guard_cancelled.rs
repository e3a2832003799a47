//! What becomes of the stream of a call whose client has cancelled it, or has lost the connection.

use serde_json::{Value, json};
use toolbond_harness::guard::{Configured, in_front_of, listening};
use toolbond_harness::http::{Connection, HttpServer, ask, body};
use toolbond_harness::mcp::{PING, call, modern, open};

use crate::guard_bridge::{listens, shell};
use crate::guard_peers::{bare_program, bare_table, waits};

const LAST: &str = "\r\nmcp-protocol-version: 2025-11-25";

/// Cancels the request 1.
#[track_caller]
fn cancel(port: u16, session: &str) {
    let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
        "params": { "requestId": 1 } });
    let answer = ask(port, session, &cancelled.to_string());
    assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
}

/// What comes until the end.
fn rest(connection: &mut Connection) -> String {
    String::from_utf8(connection.rest()).unwrap()
}

/// The head of a GET, with the event that came last.
fn resuming(session: &str, event: &str) -> String {
    format!("{}{LAST}\r\nlast-event-id: {event}", session.replacen("POST", "GET", 1))
}

/// Cancels a call in the session that is opened at `path` after its progress came, as clients of several revisions do.
fn cancelled_calls_end(port: u16, path: &str) {
    for revision in ["", LAST] {
        let session = open(port, path);
        let mut waiting =
            Connection::open(port, &format!("{session}{revision}"), waits(1).as_bytes());
        waiting.wait_for("notifications/progress");
        cancel(port, &session);
        let rest = rest(&mut waiting);
        assert!(!rest.contains("data: "), "{path} {revision}: {rest}");
        let answer = ask(port, &session, &call(2, "count", &json!({})));
        assert!(answer.contains("42"), "{path} {revision}: {answer}");
    }
    // A client that takes no events.
    let session = open(port, path);
    let mut stream = listens(port, &session);
    let head = session.replace(", text/event-stream", "\r\nconnection: close");
    let mut waiting = Connection::open(port, &head, waits(1).as_bytes());
    stream.wait_for("notifications/progress");
    cancel(port, &session);
    let rest = rest(&mut waiting);
    assert!(rest.starts_with("HTTP/1.1 204"), "{path}: {rest}");
}

#[test]
fn a_cancelled_call_ends_its_stream_before_a_process() {
    let natural = format!(
        "[servers.natural]\ncommand = 'node'\nargs = ['{}', '--natural']\n",
        bare_program()
    );
    let guard = Configured::start(&bare_table(&natural));
    for path in ["/bare/mcp", "/natural/mcp"] {
        cancelled_calls_end(guard.port(path), path);
    }
}

#[test]
fn a_cancelled_call_ends_its_stream_before_a_server_on_http_of_another_era() {
    let server = HttpServer::start(|request, reply| {
        let message = request.message();
        let complete = |mut result: Value| {
            result["resultType"] = json!("complete");
            result
        };
        match message["method"].as_str() {
            Some("server/discover") => {
                let info = json!({ "io.modelcontextprotocol/serverInfo": { "name": "s", "version": "1" } });
                let result = json!({ "supportedVersions": ["2026-07-28"], "_meta": info,
                    "capabilities": { "tools": {} } });
                reply.result(request, &complete(result))
            }
            Some("tools/list") => {
                let tools = ["count", "wait"]
                    .map(|name| json!({ "name": name, "inputSchema": { "type": "object" } }));
                reply.result(request, &complete(json!({ "tools": tools })))
            }
            Some("tools/call") if message["params"]["name"] == "wait" => {
                let token = &message["params"]["_meta"]["progressToken"];
                let progress = json!({ "jsonrpc": "2.0", "method": "notifications/progress",
                    "params": { "progressToken": token, "progress": 1 } });
                reply.events()?;
                reply.event(&format!("data: {progress}\n\n"))?;
                reply.hang();
                Ok(())
            }
            Some("tools/call") => {
                let content = json!([{ "type": "text", "text": "42" }]);
                reply.result(request, &complete(json!({ "content": content })))
            }
            _ => reply.send("400 .", "", ""),
        }
    });
    let (_guard, port) = in_front_of(server.port, &[]);
    cancelled_calls_end(port, "/mcp");
}

#[test]
fn a_call_that_is_cancelled_before_the_server_sees_it_ends_its_stream() {
    // It tells that it was asked for its tools, and does not answer.
    let asked =
        r#"echo '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"asked"}}'"#;
    let (_guard, port) = shell("", &format!("*tools/list*) {asked};;"));
    for revision in ["", LAST] {
        let session = open(port, "/sh/mcp");
        let mut stream = listens(port, &session);
        let head = format!("{session}{revision}\r\nconnection: close");
        let mut waiting = Connection::open(port, &head, waits(1).as_bytes());
        stream.wait_for("asked");
        cancel(port, &session);
        let rest = rest(&mut waiting);
        assert!(rest.contains("text/event-stream"), "{rest}");
        assert!(!rest.contains("result") && !rest.contains("error"), "{rest}");
    }
}

#[test]
fn a_cancelled_request_of_a_batch_leaves_the_others_their_answers() {
    // The second request is answered once the guard has heard that the first one is cancelled.
    let cases = r#"*a/first*) echo '{"jsonrpc":"2.0","method":"notifications/message","params":{"data":"asked"}}';;
        *ping*) echo '{"jsonrpc":"2.0","id":2,"result":{"data":"second"}}'; echo '{"jsonrpc":"2.0","id":99,"result":{}}';;"#;
    let batch = r#"[{"jsonrpc":"2.0","id":1,"method":"a/first"},{"jsonrpc":"2.0","id":2,"method":"a/second"}]"#;
    let (_guard, port) = shell("", cases);
    for revision in ["", LAST] {
        let session = open(port, "/sh/mcp");
        let head = format!("{session}{revision}\r\nconnection: close");
        let mut waiting = Connection::open(port, &head, batch.as_bytes());
        waiting.wait_for("asked");
        cancel(port, &session);
        let ping = ask(port, &session, r#"{"jsonrpc":"2.0","id":99,"method":"ping"}"#);
        assert_eq!(body(&ping)["result"], json!({}), "{ping}");
        let rest = rest(&mut waiting);
        assert!(rest.contains(r#""data":"second""#), "{revision}: {rest}");
    }
}

#[test]
fn a_client_without_a_session_cancels_nobody_elses_call() {
    let guard = Configured::start(&bare_table(""));
    let port = guard.port("/bare/mcp");
    let (head, wait) = modern("/bare/mcp", &waits(1));
    let mut waiting = Connection::open(port, &head, wait.as_bytes());
    waiting.wait_for("notifications/progress");
    cancel(port, &head.replace("tools/call", "notifications/cancelled"));
    let (head, ping) = modern("/bare/mcp", crate::guard_peers::BARE_PING);
    assert!(ask(port, &head, &ping).starts_with("HTTP/1.1 200"));
    assert!(rest(&mut waiting).contains("waited"));
}

#[test]
fn another_connection_of_the_client_takes_its_stream_over() {
    let guard = Configured::start(&bare_table(""));
    let port = guard.port("/bare/mcp");
    let session = open(port, "/bare/mcp");
    let mut old = Connection::open(port, &format!("{session}{LAST}"), waits(1).as_bytes());
    let id = old.wait_for("id: ").trim_end().replace("id: ", "");
    old.wait_for("notifications/progress");
    // The client has lost its connection, and the guard has not noticed.
    let mut new = Connection::open(port, &resuming(&session, &id), b"");
    new.wait_for("notifications/progress");
    assert!(!rest(&mut old).contains("data: "));
    let mut newest = Connection::open(port, &resuming(&session, &id), b"");
    newest.wait_for("notifications/progress");
    assert!(!rest(&mut new).contains("data: "));
    // It is no stream on which the client listens.
    let mut stream = listens(port, &session);
    assert_eq!(body(&ask(port, &session, PING))["result"], json!({}));
    assert!(rest(&mut newest).contains("waited"));
    // Now there is nothing to come.
    let ended = ask(port, &resuming(&session, &id), "");
    assert!(ended.starts_with("HTTP/1.1 204"), "{ended}");
    assert!(ask(port, &session.replacen("POST", "DELETE", 1), "").starts_with("HTTP/1.1 204"));
    assert!(!rest(&mut stream).contains("waited"));
}

#[test]
fn a_subscription_that_the_server_ends_has_the_id_that_its_client_gave_it() {
    const SERVER: &str = r#"while read -r l; do
        id=$(printf '%s' "$l" | sed -n 's/.*"id":\([^,}]*\).*/\1/p')
        case "$l" in
        *'"tools"'*) printf '{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}\n' "$id";;
        *'listen'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"resultType":"complete","_meta":{"io.modelcontextprotocol/subscriptionId":%s}}}\n' "$id" "$id";;
        esac; done"#;
    let (_guard, port) = listening(&["--keep-eras", "--", "sh", "-c", SERVER]);
    let listen = |id: &str, notifications: &str| {
        let request = format!(
            r#"{{"jsonrpc":"2.0","id":"{id}","method":"subscriptions/listen","params":{{"notifications":{{"{notifications}":true}}}}}}"#
        );
        let (head, request) = modern("/mcp", &request);
        rest(&mut Connection::open(port, &head, request.as_bytes()))
    };
    let cancelled = listen("first", "tools");
    assert!(cancelled.contains(r#""requestId":"first""#), "{cancelled}");
    let ended = listen("second", "prompts");
    assert!(ended.contains(r#""id":"second""#), "{ended}");
    assert!(ended.contains(r#""io.modelcontextprotocol/subscriptionId":"second""#), "{ended}");
}
