//! `enforce` forwards nothing unchecked, whoever calls and whatever becomes of the guard's own tool list.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use serde_json::{Value, json};
use toolbond_harness::guard::{in_front_of, in_front_of_url};
use toolbond_harness::http::{Connection, HttpServer, Reply, Request, ask, body};
use toolbond_harness::mcp::{call, open, post, request};
use toolbond_harness::wait::wait_until;

const ENFORCE: [&str; 2] = ["--arguments", "enforce"];

/// One tool, whose argument `n` is of this type.
fn tools(of: &str) -> Value {
    let schema = json!({ "type": "object", "properties": { "n": { "type": of } } });
    json!({ "tools": [{ "name": "t", "inputSchema": schema }] })
}

/// Answers a call with the arguments that it came with.
fn echo(request: &Request, reply: &mut Reply<'_>) -> std::io::Result<()> {
    let arguments = request.message()["params"]["arguments"].to_string();
    let content = json!([{ "type": "text", "text": format!("ran with {arguments}") }]);
    reply.result(request, &json!({ "content": content }))
}

fn is_list(request: &Request) -> bool {
    request.message()["method"] == "tools/list"
}

/// Answers lists with what `list` says, and calls as [`echo`] does.
fn serve(list: impl Fn(&Request) -> Value + Send + Sync + 'static) -> HttpServer {
    HttpServer::start(move |request, reply| {
        if is_list(request) { reply.result(request, &list(request)) } else { echo(request, reply) }
    })
}

/// Each tenant has a tool of its own form, and tells who it is in a way of its own.
#[test]
fn the_list_of_one_tenant_never_judges_calls_of_another() {
    let tenant = |request: &Request| {
        let names = ["x-auth-token", "api-key", "x-tenant", "authorization", "cookie"];
        let header = names.into_iter().find_map(|name| request.header(name).map(str::to_owned));
        let told = header.unwrap_or_else(|| request.path().to_owned());
        if told.ends_with('a') { "integer" } else { "string" }
    };
    let server = serve(move |request| tools(tenant(request)));
    let (_guard, port) = in_front_of(server.port, &ENFORCE);
    let headers = ["x-auth-token", "api-key", "x-tenant", "authorization", "cookie"];
    let by_header =
        headers.map(|name| ["a", "b"].map(|who| post("/mcp", &format!("\r\n{name}: {who}"))));
    let by_target = [["/mcp?key=a", "/mcp?key=b"], ["/a", "/b"]];
    let by_target = by_target.map(|targets| targets.map(|target| post(target, "")));
    for [a, b] in by_header.into_iter().chain(by_target) {
        for (head, right, wrong) in [(&a, json!(1), json!("x")), (&b, json!("x"), json!(1))] {
            let ran = ask(port, head, &call(1, "t", &json!({ "n": right })));
            assert!(ran.contains("ran with"), "{head}: {ran}");
            let refused = ask(port, head, &call(2, "t", &json!({ "n": wrong })));
            assert!(!refused.contains("ran with"), "{head}: {refused}");
            assert!(refused.contains("n: expected"), "{head}: {refused}");
        }
    }
}

/// A session id that the server ignores does not make two callers one.
#[test]
fn a_made_up_session_hides_nobody() {
    let server = serve(|request| {
        let is_a = request.header("authorization") == Some("a");
        tools(if is_a { "integer" } else { "string" })
    });
    let (_guard, port) = in_front_of(server.port, &ENFORCE);
    let head = |who: &str| post("/mcp", &format!("\r\nmcp-session-id: s\r\nauthorization: {who}"));
    let number = call(1, "t", &json!({ "n": 1 }));
    assert!(ask(port, &head("a"), &number).contains("ran with"));
    let refused = ask(port, &head("b"), &number);
    assert!(refused.contains("n: expected string"), "{refused}");
}

/// The list that is requested with one request's credentials fails for this request alone.
#[test]
fn a_refused_list_is_the_failure_of_its_own_request() {
    let lists = Arc::new(AtomicUsize::new(0));
    let seen = Arc::clone(&lists);
    let server = HttpServer::start(move |request, reply| {
        if !is_list(request) {
            return echo(request, reply);
        }
        seen.fetch_add(1, Ordering::SeqCst);
        if request.header("authorization") == Some("good") {
            return reply.result(request, &tools("integer"));
        }
        // The other one has asked meanwhile.
        wait_until("the other list is requested", || seen.load(Ordering::SeqCst) == 2);
        reply.send("401 Unauthorized", "www-authenticate: Bearer realm=\"bad\"", "")
    });
    let (_guard, port) = in_front_of(server.port, &ENFORCE);
    let head = |who: &str| post("/mcp", &format!("\r\nmcp-session-id: s\r\nauthorization: {who}"));
    let wrong = call(1, "t", &json!({ "n": "x" }));
    let mut bad = Connection::open(port, &head("bad"), wrong.as_bytes());
    wait_until("its list is requested", || lists.load(Ordering::SeqCst) == 1);
    let good = ask(port, &head("good"), &wrong);
    assert!(
        good.contains("n: expected an integer") || good.contains("n: expected integer"),
        "{good}"
    );
    let bad = String::from_utf8(bad.rest()).unwrap();
    assert!(bad.starts_with("HTTP/1.1 401") && bad.contains("realm=\"bad\""), "{bad}");
    assert!(server.take().iter().all(is_list));
}

#[test]
fn a_list_that_hangs_ends_with_its_request_and_lets_nothing_pass() {
    let ended = Arc::new(AtomicUsize::new(0));
    let counted = Arc::clone(&ended);
    let server = HttpServer::start(move |request, reply| {
        if !is_list(request) {
            return echo(request, reply);
        }
        reply.hang();
        counted.fetch_add(1, Ordering::SeqCst);
        Ok(())
    });
    let (guard, port) = in_front_of(server.port, &ENFORCE);
    for n in 1..=3 {
        let message = call(1, "t", &json!({ "n": "x" }));
        let client = Connection::open(port, &post("/mcp", ""), message.as_bytes());
        wait_until("the list is requested", || server.take().len() == 1);
        drop(client);
        wait_until("the guard closes its connection", || ended.load(Ordering::SeqCst) == n);
    }
    assert_eq!(guard.log().count("forwarded unchecked"), 0);
}

#[test]
fn what_is_not_listed_is_refused_under_enforce_on_either_side() {
    let server = serve(|_| tools("integer"));
    let unlisted = call(1, "u", &json!({}));
    for options in [ENFORCE, ["--results", "enforce"]] {
        let (_guard, port) = in_front_of(server.port, &options);
        let refused = ask(port, &post("/mcp", ""), &unlisted);
        assert!(refused.contains("the server does not list it"), "{options:?}: {refused}");
    }
    let (guard, port) = in_front_of(server.port, &[]);
    assert!(ask(port, &post("/mcp", ""), &unlisted).contains("ran with"));
    guard.log().wait_for("which the server does not list; forwarded unchecked");
}

/// A result of a task that the guard did not see created is withheld.
#[test]
fn the_result_of_an_unknown_task_is_withheld() {
    let server = serve(|_| tools("integer"));
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": "tasks/result",
        "params": { "taskId": "unknown" } });
    let (_guard, port) = in_front_of(server.port, &["--results", "enforce"]);
    let answer = ask(port, &post("/mcp", ""), &message.to_string());
    assert!(!answer.contains("ran with"), "{answer}");
    assert!(answer.contains("the guard does not know this task"), "{answer}");
}

#[test]
fn the_query_of_the_url_reaches_the_server_with_every_request_and_nobody_else() {
    let server = serve(|_| tools("integer"));
    let url = server.url("/mcp?key=s3cret&v=2");
    let (guard, _) = in_front_of_url(&url, &["--status", "127.0.0.1:0"]);
    let port = guard.port("listening on");
    let head = |target: &str| post(target, "");
    let ran = ask(port, &head("/mcp"), &call(1, "t", &json!({ "n": 1 })));
    assert!(body(&ran)["result"]["content"].is_array(), "{ran}");
    let _ = ask(port, &head("/mcp?more=1&v=2"), &call(2, "t", &json!({ "n": 1 })));
    let _ = ask(port, &head("/other"), &call(3, "t", &json!({ "n": 1 })));
    let paths: Vec<_> = server.take().iter().map(|got| got.path().to_owned()).collect();
    let own = "/mcp?key=s3cret&v=2";
    let more = "/mcp?key=s3cret&more=1&v=2";
    assert_eq!(paths, [own, own, more, more, "/other", "/other"]);
    let status = guard.port("status on");
    for page in ["/", "/status.json", "/metrics"] {
        let page = ask(status, &format!("GET {page} HTTP/1.1"), "");
        assert!(!page.contains("s3cret"), "{page}");
    }
    assert_eq!(guard.log().count("s3cret"), 0);
}

/// A guard in front of a guard: both know the tools of each session, and no other's.
#[test]
fn two_guards_in_a_row_check_each_session_by_its_own_list() {
    let opened = AtomicUsize::new(0);
    let server = HttpServer::start(move |request, reply| {
        let session = request.header("mcp-session-id").unwrap_or_default();
        match request.message()["method"].as_str().unwrap_or_default() {
            "initialize" => {
                let result = json!({ "protocolVersion": "2025-11-25", "capabilities": {},
                    "serverInfo": { "name": "s", "version": "1" } });
                let id = &request.message()["id"];
                let message = json!({ "jsonrpc": "2.0", "id": id, "result": result });
                let session = opened.fetch_add(1, Ordering::SeqCst);
                let headers =
                    format!("content-type: application/json\r\nmcp-session-id: session-{session}");
                reply.send("200 OK", &headers, message.to_string())
            }
            "tools/list" => {
                let of = if session == "session-0" { "integer" } else { "string" };
                reply.result(request, &tools(of))
            }
            _ => echo(request, reply),
        }
    });
    let enforce = ["--arguments", "enforce", "--results", "enforce"];
    let (_inner, port) = in_front_of(server.port, &enforce);
    let (_outer, port) = in_front_of(port, &enforce);
    let heads = [0, 1].map(|_| open(port, "/mcp"));
    let [number, text] = [json!(1), json!("x")].map(|n| call(1, "t", &json!({ "n": n })));
    for (head, right, wrong) in [(&heads[0], &number, &text), (&heads[1], &text, &number)] {
        let ran = ask(port, head, right);
        assert!(ran.contains("ran with"), "{ran}");
        let refused = ask(port, head, wrong);
        assert!(refused.contains("n: expected"), "{refused}");
        let listed = body(&ask(port, head, &request(2, "tools/list")));
        assert_eq!(listed["result"]["tools"].as_array().unwrap().len(), 1, "{listed}");
    }
    let calls = server.take().into_iter().filter(|got| got.message()["method"] == "tools/call");
    assert_eq!(calls.count(), 2);
}
