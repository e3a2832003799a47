//! `toolbond guard --listen --upstream`: servers on Streamable HTTP.

use std::net::TcpListener;

use serde_json::{Value, json};
use toolbond_harness::guard::{in_front_of, in_front_of_url};
use toolbond_harness::http::{Connection, HttpServer, ask, body};
use toolbond_harness::mcp::{INITIALIZED, PING, POST, call, post, request, url};
use toolbond_harness::process::toolbond;

use crate::guard_peers::{bare, visit};

/// A port below those that are given out, on which nobody listens.
const NOBODY: u16 = 9;

fn reads_everything_through_the_guard(options: &[&str]) {
    let calls = json!([
        ["forecast", {}], ["count", {}], ["find_person", { "id": 2 }], ["shape", {}],
        ["ranged", { "n": 500 }],
    ]);
    let (_server, port) = bare(options);
    let direct = visit(None, &calls, &[&url(port)]);
    assert!(direct["tools"]["failed"].is_string());
    assert!(direct["calls"][0]["failed"].is_string());
    let (_guard, port) = in_front_of(port, &[]);
    let guarded = visit(None, &calls, &[&url(port)]);
    assert_eq!(guarded["tools"].as_array().unwrap().len(), 7);
    let structured = |call: usize| guarded["calls"][call]["structuredContent"].clone();
    assert_eq!(structured(0)["result"][1]["day"], "tuesday");
    assert_eq!(structured(1), json!({ "result": 42 }));
    assert_eq!(structured(2), json!({ "result": null }));
    assert_eq!(structured(3), json!({ "radius": 2 }));
    assert_eq!(guarded["calls"][4]["isError"], true);
}

#[test]
fn typescript_v1_reads_json_answers_only_through_the_guard() {
    reads_everything_through_the_guard(&[]);
}

#[test]
fn typescript_v1_reads_event_streams_only_through_the_guard() {
    reads_everything_through_the_guard(&["--sse"]);
}

#[test]
fn headers_pass_and_unseen_tools_are_fetched() {
    let (_server, port) = bare(&[]);
    let (_guard, port) = in_front_of(port, &[]);
    let head = format!(
        "{POST}\r\nauthorization: Bearer t\r\nmcp-method: tools/call\r\nmcp-name: count\r\nmcp-param-a: x"
    );
    let answer = ask(port, &head, &call(1, "count", &json!({})));
    assert!(answer.contains("x-seen: Bearer t 2025-11-25 tools/call count x\r\n"), "{answer}");
    assert!(answer.contains("mcp-session-id: session-1\r\n"));
    assert!(answer.contains(r#""structuredContent":{"result":42}"#));
    let refused = ask(port, &head, &call(2, "ranged", &json!({ "n": 11 })));
    assert!(refused.starts_with("HTTP/1.1 200") && refused.contains("expected a number ≤ 10"));
    // From 2026-07-28 on the value travels as it is.
    let natural = head.replace("2025-11-25", "2026-07-28");
    assert!(
        ask(port, &natural, &call(3, "count", &json!({}))).contains(r#""structuredContent":42"#)
    );
}

#[test]
fn headers_of_an_answer_pass_though_its_list_is_rewritten() {
    let server = HttpServer::start(|request, reply| {
        let tools = json!([{ "name": "no_input" }]);
        let id = &request.message()["id"];
        let message = json!({ "jsonrpc": "2.0", "id": id, "result": { "tools": tools } });
        let headers = "content-type: application/json\r\nx-request-id: r-1, \"two\"";
        reply.send("200 OK", headers, message.to_string())
    });
    let (_guard, port) = in_front_of(server.port, &[]);
    let answer = ask(port, POST, &request(1, "tools/list"));
    assert!(answer.contains("\r\nx-request-id: r-1, \"two\"\r\n"), "{answer}");
    // The tool got the schema that it lacked, so the body is the guard's own.
    let tool = &body(&answer)["result"]["tools"][0];
    assert_eq!(tool["inputSchema"], json!({ "type": "object" }), "{answer}");
    let methods: Vec<_> = server.take().iter().map(|got| got.message()["method"].clone()).collect();
    assert_eq!(methods, ["tools/list"]);
}

#[test]
fn events_pass_byte_for_byte_and_as_they_come() {
    let (_server, port) = bare(&["--sse"]);
    let (_guard, port) = in_front_of(port, &[]);
    let mut stream = Connection::open(port, "GET /mcp HTTP/1.1", b"");
    // The server keeps this stream open: what comes, comes without its end.
    stream.wait_for("id: 1");
    let data = "data: {\"jsonrpc\":\"2.0\",  \"method\":\"notifications/message\"}\n";
    assert_eq!((stream.line(), stream.line()), (data.to_owned(), "\n".to_owned()));
    assert!(ask(port, "DELETE /mcp HTTP/1.1", "").starts_with("HTTP/1.1 204"));
}

#[test]
fn a_redirect_keeps_the_query_of_the_url_of_the_server_to_itself() {
    for absolute in [false, true] {
        let server = HttpServer::start(move |request, reply| {
            let place = request.path().replacen("/mcp?", "/mcp/?", 1);
            if place == request.path() {
                return reply.result(request, &json!({}));
            }
            let host = if absolute { request.header("host") } else { None };
            let host = host.map_or_else(String::new, |host| format!("http://{host}"));
            reply.send("307 Temporary Redirect", &format!("location: {host}{place}"), "")
        });
        let (_guard, port) = in_front_of_url(&server.url("/mcp?key=secret"), &["--keep-eras"]);
        for (query, left) in [("?a=b", "?a=b"), ("", "")] {
            let answer = ask(port, &post(&format!("/mcp{query}"), ""), PING);
            assert!(answer.contains(&format!("\r\nlocation: /mcp/{left}\r\n")), "{answer}");
            assert!(!answer.contains("secret"), "{answer}");
            // The client follows.
            let answer = ask(port, &post(&format!("/mcp/{left}"), ""), PING);
            assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
            let paths: Vec<_> = server.take().iter().map(|got| got.path().to_owned()).collect();
            let told = query.replace('?', "&");
            let expected = [format!("/mcp?key=secret{told}"), format!("/mcp/?key=secret{told}")];
            assert_eq!(paths, expected);
        }
    }
}

#[test]
fn strangers_and_broken_requests_are_refused() {
    let (_server, port) = bare(&[]);
    let (_guard, port) =
        in_front_of(port, &["--max-message", "1000", "--allow-host", "tools.example"]);
    let status =
        |head: &str, body: &str| ask(port, head, body).split(' ').nth(1).unwrap().to_owned();
    assert_eq!(status(POST, PING), "200");
    assert_eq!(status(&format!("{POST}\r\nhost: tools.example"), PING), "200");
    assert_eq!(status(&format!("{POST}\r\nhost: evil.example"), PING), "403");
    assert_eq!(status(&format!("{POST}\r\norigin: http://evil.example"), PING), "403");
    assert_eq!(status(POST, "no message"), "400");
    assert_eq!(status(POST, &format!("{{\"x\":\"{}\"}}", "y".repeat(2000))), "413");
}

#[test]
fn a_server_that_is_down_is_reported_for_each_request() {
    let (_guard, port) = in_front_of(NOBODY, &[]);
    let answer = ask(port, POST, PING);
    assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
    assert!(answer.contains("could not reach the server") && answer.contains(r#""id":99,"#));
    let answer = ask(port, POST, INITIALIZED);
    assert!(answer.starts_with("HTTP/1.1 502") && answer.contains(r#""id":null"#), "{answer}");
}

#[test]
fn the_rest_of_a_batch_goes_on_beside_a_refused_call() {
    for options in [&[][..], &["--sse"]] {
        let (_server, port) = bare(options);
        let (_guard, port) = in_front_of(port, &[]);
        let (good, bad) = (call(1, "count", &json!({})), call(2, "ranged", &json!({ "n": 11 })));
        let answer = ask(port, POST, &format!("[{good},{bad},{INITIALIZED}]"));
        assert!(answer.contains(r#""structuredContent":{"result":42}"#), "{answer}");
        assert!(answer.contains("expected a number ≤ 10"), "{answer}");
        // Nothing else wants an answer.
        let answer = ask(port, POST, &format!("[{bad},{INITIALIZED}]"));
        assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
        let body = body(&answer);
        assert_eq!(body[0]["id"], 2);
        assert_eq!(body.as_array().unwrap().len(), 1);
    }
}

/// The findings about the tools of a server on HTTP.
fn judged(url: &str, options: &[&str]) -> (Option<i32>, String, String) {
    let output = toolbond(&["lint", "--policy", "filter", "--format", "json", url])
        .args(options)
        .output()
        .unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn judges_a_live_server_of_either_era() {
    for options in [&["--bad", "--paged"][..], &["--bad", "--sse"], &["--bad", "--natural"]] {
        let (_server, port) = bare(options);
        let (code, out, err) = judged(&url(port), &[]);
        assert_eq!((code, err.as_str()), (Some(1), ""), "{options:?}");
        let findings: Value = serde_json::from_str(&out).unwrap();
        let dropped: Vec<_> = findings["findings"]
            .as_array()
            .unwrap()
            .iter()
            .filter(|finding| finding["action"] == "tool-dropped")
            .map(|finding| finding["tool"].as_str().unwrap())
            .collect();
        assert_eq!(dropped, ["no_input"], "{options:?}");
        let ended = ask(port, "GET /ended HTTP/1.1", "");
        let natural = options.contains(&"--natural");
        assert!(ended.ends_with(if natural { "0" } else { "1" }), "{ended}");
    }
}

#[test]
fn a_live_server_that_refuses_is_told_in_one_line() {
    let (_server, port) = bare(&["--locked"]);
    let (code, _, err) = judged(&url(port), &[]);
    assert_eq!(code, Some(2));
    assert!(err.contains("401") && err.lines().count() == 1, "{err}");
    let only_errors = ["--select", "tool-list", "--header", "Authorization: Bearer key"];
    assert_eq!(judged(&url(port), &only_errors).0, Some(0));
    let (code, _, err) = judged(&url(NOBODY), &[]);
    assert_eq!(code, Some(2));
    assert!(err.contains("could not reach the server") && err.lines().count() == 1, "{err}");
}

#[test]
fn a_port_in_use_is_said_in_one_line() {
    let taken = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = taken.local_addr().unwrap().to_string();
    let upstream = "http://127.0.0.1:9/mcp";
    let output =
        toolbond(&["guard", "--listen", &address, "--upstream", upstream]).output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    let said = String::from_utf8(output.stderr).unwrap();
    assert!(said.starts_with(&format!("error: cannot listen on {address}: ")), "{said}");
    assert_eq!(said.lines().count(), 1);
}
