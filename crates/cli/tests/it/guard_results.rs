//! Results that break the output schema of their tool, through the guard with its defaults.

use std::fmt::Write as _;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use toolbond_harness::guard::{Configured, in_front_of};
use toolbond_harness::http::{Connection, HttpServer, ask, body, body_text};
use toolbond_harness::mcp::{ask_modern, call, modern, open, post, request};

/// The schema of the results of the tool `add`.
fn output() -> Value {
    let properties = json!({ "sum": { "type": "integer" }, "note": { "type": "string" } });
    json!({ "type": "object", "properties": properties, "required": ["sum"], "additionalProperties": false })
}

/// A server whose tool `add` returns its argument `result`, byte for byte.
fn serve() -> HttpServer {
    HttpServer::start(|request, reply| {
        let message = request.message();
        let result = match message["params"]["arguments"]["result"].as_str() {
            Some(result) => result.to_owned(),
            None => {
                let tool = json!({ "name": "add", "inputSchema": { "type": "object" }, "outputSchema": output() });
                json!({ "tools": [tool], "ttlMs": 60_000 }).to_string()
            }
        };
        let answer = format!(r#"{{"jsonrpc":"2.0","id":{},"result":{result}}}"#, message["id"]);
        reply.send("200 OK", "content-type: application/json", answer)
    })
}

/// The text of what a legacy client gets of a call that the server answers with `result`.
fn called(port: u16, path: &str, result: &str) -> String {
    let answer = ask(port, &post(path, ""), &call(1, "add", &json!({ "result": result })));
    body_text(&answer)
}

/// The tool as a legacy client gets it.
fn listed(port: u16, path: &str) -> Value {
    body(&ask(port, &post(path, ""), &request(1, "tools/list")))["result"]["tools"][0].take()
}

fn answer(result: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":1,"result":{result}}}"#)
}

#[test]
fn a_repair_changes_no_other_byte() {
    let server = serve();
    let (guard, port) = in_front_of(server.port, &[]);
    listed(port, "/mcp");
    for (result, expected) in [
        (
            r#"{ "content" : [{"type":"text","text":"\u0037"}],  "structuredContent":{ "note":"\/", "sum": "7" } }"#,
            r#"{ "content" : [{"type":"text","text":"\u0037"}],  "structuredContent":{ "note":"\/", "sum": 7 } }"#,
        ),
        (
            r#"{"content":[{"type":"text","text":"{\"sum\":9007199254740993}"}] }"#,
            r#"{"content":[{"type":"text","text":"{\"sum\":9007199254740993}"}],"structuredContent":{"sum":9007199254740993} }"#,
        ),
        (
            r#"{"structuredContent":{"result":{"sum":1e0}},"content":[]}"#,
            r#"{"structuredContent":{"sum":1e0},"content":[]}"#,
        ),
        (
            r#"{"content":[],"structuredContent":{"sum":1, "note":null}}"#,
            r#"{"content":[],"structuredContent":{"sum":1}}"#,
        ),
    ] {
        assert_eq!(called(port, "/mcp", result), answer(expected));
    }
    assert_eq!(listed(port, "/mcp")["outputSchema"], output());
    guard.log().wait_for("result-number-text");
}

#[test]
fn a_schema_that_is_broken_is_relaxed_in_every_era() {
    let server = serve();
    let (_guard, port) = in_front_of(server.port, &[]);
    let wrong = r#"{"content":[],"structuredContent":{"sum":7,"more":[ 1e2 ]}}"#;
    let list = || body(&ask_modern(port, "/mcp", &request(1, "tools/list")))["result"].take();
    assert_eq!(list()["ttlMs"], 60_000);
    assert_eq!(called(port, "/mcp", wrong), answer(wrong));
    let modern = list();
    assert_eq!(modern["ttlMs"], 0);
    for tool in [&modern["tools"][0], &listed(port, "/mcp")] {
        assert_eq!(tool["_meta"]["dev.toolbond/output"]["relaxed"], true, "{tool}");
        assert_eq!(tool["outputSchema"]["required"], json!(["sum"]), "{tool}");
        assert_eq!(tool["outputSchema"]["additionalProperties"], json!({}), "{tool}");
    }
    assert_eq!(called(port, "/mcp", wrong), answer(wrong));
}

/// A call of a client that is known to validate, in 2026-07-28.
fn call_strictly(port: u16, result: &str) -> Value {
    let mut message: Value =
        serde_json::from_str(&call(1, "add", &json!({ "result": result }))).unwrap();
    message["params"]["_meta"] = client();
    body(&ask_modern(port, "/mcp", &message.to_string()))["result"].take()
}

fn client() -> Value {
    json!({ "io.modelcontextprotocol/clientInfo": { "name": "claude-code", "version": "2" } })
}

#[test]
fn a_client_that_validates_gets_the_data_in_each_of_ten_calls() {
    let server = serve();
    let (_guard, port) = in_front_of(server.port, &[]);
    let list = json!({ "jsonrpc": "2.0", "id": 1, "method": "tools/list", "params": { "_meta": client() } });
    ask_modern(port, "/mcp", &list.to_string());
    let wrong =
        r#"{"content":[{"type":"text","text":"seven"}],"structuredContent":{"sum":"seven"}}"#;
    for _ in 0..10 {
        let result = call_strictly(port, wrong);
        let content = &result["content"];
        let first = content[0]["text"].as_str().unwrap();
        assert!(first.starts_with("the tool ran; do not repeat the call\n"), "{result}");
        assert_eq!(first.lines().count(), 2, "{result}");
        assert_eq!((&result["isError"], &content[1]["text"]), (&json!(true), &json!("seven")));
        assert_eq!(content[2]["text"], r#"{"sum":"seven"}"#);
    }
    ask_modern(port, "/mcp", &list.to_string());
    assert_eq!(call_strictly(port, wrong)["structuredContent"], json!({ "sum": "seven" }));
}

/// A server that breaks its schema in a new way with every call has a few lines, and its results pass.
#[test]
fn a_server_that_breaks_everything_is_bounded() {
    let server = serve();
    let text = format!(
        "status = '127.0.0.1:0'\n[servers.s]\nurl = 'http://127.0.0.1:{}/mcp'\n",
        server.port
    );
    let guard = Configured::start(&text);
    let (port, status) = (guard.port("/s/mcp"), guard.port("status on"));
    for n in 0..40 {
        let long = "x".repeat(n * 4000);
        let result = format!(
            r#"{{"content":[],"structuredContent":{{"new {n}":[{n},"{long}"],"sum":{{}}}}}}"#
        );
        assert!(called(port, "/s/mcp", &result) == answer(&result), "{n}");
        listed(port, "/s/mcp");
    }
    assert!(listed(port, "/s/mcp").get("outputSchema").is_some());
    for result in [r#"{"content":[]}"#, r#"{"content":[],"structuredContent":[]}"#] {
        called(port, "/s/mcp", result);
    }
    assert!(listed(port, "/s/mcp").get("outputSchema").is_none());
    let get = |path: &str| ask(status, &format!("GET {path} HTTP/1.1\r\nhost: localhost"), "");
    let metrics = get("/metrics");
    let line = r#"toolbond_broken_output_schemas{server="s",tool="add",handed_out="dropped"} 1"#;
    assert!(metrics.contains(line), "{metrics}");
    assert!(get("/").contains("breaks its output schema"));
    let log = guard.process.log();
    log.wait_for("[result-missing]");
    assert_eq!([log.count("[result-invalid]"), log.count("[result-missing]")], [1, 1]);
}

#[test]
fn servers_and_tools_have_their_own_modes_and_learn_for_themselves() {
    let server = serve();
    let modes = [
        ("free", ""),
        ("told", "results = 'warn'"),
        ("held", "results = 'enforce'"),
        ("other", ""),
    ];
    let mut text = String::new();
    for (name, mode) in modes {
        let port = server.port;
        _ = write!(
            text,
            "[servers.{name}]\nurl = 'http://127.0.0.1:{port}/mcp'\n[servers.{name}.tools.add]\n{mode}\n"
        );
    }
    let guard = Configured::start(&text);
    let port = guard.port("/free/mcp");
    let wrong = r#"{"content":[],"structuredContent":{"sum":"4127 too many"}}"#;
    for (name, relaxed, passes) in
        [("free", true, true), ("told", false, true), ("held", false, false)]
    {
        let path = format!("/{name}/mcp");
        assert_eq!(listed(port, &path)["outputSchema"], output(), "{name}");
        let found = called(port, &path, wrong);
        assert_eq!(found == answer(wrong), passes, "{found}");
        assert!(passes || !found.contains("4127"), "{found}");
        assert_eq!(listed(port, &path)["outputSchema"] != output(), relaxed, "{name}");
    }
    assert_eq!(listed(port, "/other/mcp")["outputSchema"], output());
}

/// A server of both eras whose tool `add` returns its argument `result`, and whose streams stay open and say nothing.
fn serve_streams() -> HttpServer {
    let sessions = AtomicUsize::new(0);
    HttpServer::start(move |request, reply| {
        let mut listen = |first: &str| {
            reply.events()?;
            reply.event(first)?;
            reply.hang();
            Ok(())
        };
        if request.method() == "GET" {
            return listen(": open\n\n");
        }
        let message = request.message();
        let params = &message["params"];
        let capabilities = json!({ "tools": { "listChanged": true } });
        match message["method"].as_str().unwrap() {
            "initialize" => {
                let session = sessions.fetch_add(1, Ordering::SeqCst);
                let info = json!({ "name": "s", "version": "1" });
                let hello = json!({ "protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": info });
                let answer = json!({ "jsonrpc": "2.0", "id": message["id"], "result": hello });
                let head = format!("content-type: application/json\r\nmcp-session-id: {session}");
                reply.send("200 OK", &head, answer.to_string())
            }
            "subscriptions/listen" => {
                let meta = json!({ "io.modelcontextprotocol/subscriptionId": message["id"] });
                let told = json!({ "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
                    "params": { "_meta": meta, "notifications": { "toolsListChanged": true } } });
                listen(&format!("data: {told}\n\n"))
            }
            "tools/list" => {
                let tool = json!({ "name": "add", "inputSchema": { "type": "object" }, "outputSchema": output() });
                reply.result(request, &json!({ "tools": [tool], "resultType": "complete" }))
            }
            "tools/call" => reply.result(request, &params["arguments"]["result"]),
            "server/discover" => reply.result(
                request,
                &json!({ "supportedVersions": ["2026-07-28"], "capabilities": capabilities, "resultType": "complete" }),
            ),
            _ => reply.send("202 Accepted", "", ""),
        }
    })
}

#[test]
fn who_listens_on_http_hears_of_relaxed_schemas() {
    const CHANGED: &str = "notifications/tools/list_changed";
    let server = serve_streams();
    let (_guard, port) = in_front_of(server.port, &[]);
    let broken = |value: Value| {
        call(1, "add", &json!({ "result": { "content": [], "structuredContent": value } }))
    };
    let get = |session: &str| {
        let session = session.split("mcp-session-id: ").nth(1).unwrap();
        let head =
            format!("GET /mcp HTTP/1.1\r\naccept: text/event-stream\r\nmcp-session-id: {session}");
        Connection::open(port, &head, b"")
    };
    let (listening, late) = (open(port, "/mcp"), open(port, "/mcp"));
    let mut stream = get(&listening);
    stream.wait_for(": open");
    let list = request(2, "subscriptions/listen").replace("\"id\":2", "\"id\":\"s\"");
    let (head, message) = modern("/mcp", &list);
    let mut subscription = Connection::open(port, &head, message.as_bytes());
    subscription.wait_for("acknowledged");

    ask(port, &listening, &broken(json!({ "sum": 1 })));
    ask(port, &listening, &broken(json!({ "sum": 1, "more": 1 })));
    stream.wait_for(CHANGED);
    // The next call of each caller tells it what was learned by another one.
    ask_modern(port, "/mcp", &broken(json!({ "sum": 1 })));
    let told = subscription.wait_for(CHANGED);
    assert!(told.contains(r#""io.modelcontextprotocol/subscriptionId":"s""#), "{told}");
    // Who opens its stream later is told then.
    ask(port, &late, &broken(json!({ "sum": 1 })));
    get(&late).wait_for(CHANGED);
}

#[test]
fn warn_passes_results_and_lists() {
    let server = serve();
    let (_guard, port) = in_front_of(server.port, &["--results", "warn"]);
    let wrong = r#"{"content":[],"structuredContent":{"sum":"7"}}"#;
    for _ in 0..2 {
        assert_eq!(listed(port, "/mcp")["outputSchema"], output());
        assert_eq!(called(port, "/mcp", wrong), answer(wrong));
    }
}
