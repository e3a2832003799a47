//! `toolbond ext-proc`: Envoy with two replicas, in front of real servers.

use std::fmt::Write as _;
use std::net::TcpStream;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use toolbond_harness::address::{local, reserved};
use toolbond_harness::envoy::{Envoy, ONE_SERVER, Replica, Setup};
use toolbond_harness::files::root;
use toolbond_harness::guard::in_front_of;
use toolbond_harness::http::{Connection, HttpServer, ask, body};
use toolbond_harness::otlp::{Answer, Receiver, hex};
use toolbond_harness::peers;
use toolbond_harness::process::{Process, program, toolbond};
use toolbond_harness::wait::wait_until;

use crate::clients::{Client, data};
use crate::echo::echo;
use toolbond_harness::mcp::{POST, ask_modern, call, modern, url};

#[test]
fn typescript_clients_see_what_they_see_through_the_guard() {
    see_what_they_see_through_the_guard(&[("typescript.mjs", "v1"), ("typescript.mjs", "modern")]);
}

#[test]
fn python_clients_see_what_they_see_through_the_guard() {
    see_what_they_see_through_the_guard(&[("python_v1.py", "legacy"), ("python_v2.py", "auto")]);
}

#[test]
#[ignore = "long matrix: cargo xtask test --all"]
fn other_clients_see_what_they_see_through_the_guard() {
    see_what_they_see_through_the_guard(&[
        ("typescript.mjs", "legacy"),
        ("python_v2.py", "legacy"),
        ("fastmcp_v4.py", "legacy"),
        ("fastmcp_v4.py", "auto"),
    ]);
}

/// The demo server on a free port.
fn demo() -> (Process, u16) {
    Process::listening(toolbond(&["demo", "--http", "127.0.0.1:0"]))
}

/// Two servers, rmcp and TypeScript, through the guard and through Envoy: both give a client the same.
fn see_what_they_see_through_the_guard(clients: &[(&'static str, &'static str)]) {
    let (_demo, demo) = demo();
    let mut node = peers::command("servers/v2.mjs");
    node.arg("--http");
    let (_typescript, typescript) = Process::listening(node);
    let envoy = Envoy::start(&Setup {
        servers: [local(demo), local(typescript)],
        contract: "results = \"enforce\"\n",
        ..Setup::default()
    });
    let guard = |port: u16| {
        let options = ["--results", "enforce", "--keep-eras", "--require-list"];
        let (process, port) = in_front_of(port, &options);
        (process, url(port))
    };
    let ((_one, demo_guard), (_two, typescript_guard)) = (guard(demo), guard(typescript));
    let pair = |case: &Value| json!([case["tool"], case["arguments"]]);
    let demo_calls: Value = data("demo").as_array().unwrap().iter().map(pair).collect();
    let wrong = json!([["forecast", {}], ["count", {}], ["find_person", { "id": "x" }],
        ["find_person", { "id": "2" }], ["shape", {}], ["unknown", {}]]);
    let visits = json!([
        [[demo_guard], demo_calls],
        [[envoy.url("/weather/mcp")], demo_calls],
        [[typescript_guard], wrong],
        [[envoy.url("/notes/mcp")], wrong],
        [[envoy.url("/weather/mcp")], demo_calls],
    ]);
    for &(program, mode) in clients {
        let reports = Client { name: program, program, mode, is_natural: false }.visit(&visits);
        let [demo, demo_envoy, typescript, typescript_envoy, again] = &reports[..] else {
            panic!("{program} {mode}: {reports:?}")
        };
        let count = |report: &Value| report["tools"].as_array().map(Vec::len);
        assert!(count(demo) > Some(3), "{demo}");
        assert_eq!(demo, demo_envoy, "{program} {mode}");
        assert_eq!(demo, again, "{program} {mode}");
        assert_eq!(count(typescript), Some(4), "{typescript}");
        assert_eq!(typescript, typescript_envoy, "{program} {mode}");
    }
    for replica in &envoy.replicas {
        assert!(envoy.sent_to(replica.address) > 0, "a replica was not used");
    }
}

/// The server that echoes, behind Envoy.
fn echo_with(setup: &Setup<'_>) -> Envoy {
    Envoy::start(&Setup { servers: [local(echo().port), local(9)], ..*setup })
}

/// Every request is for the server that echoes.
fn only_echo() -> Envoy {
    echo_under("")
}

/// The same under a contract.
fn echo_under(contract: &str) -> Envoy {
    echo_with(&Setup { contract, replaced: &[ONE_SERVER], ..Setup::default() })
}

/// A call of `echo`.
fn echoed(text: &str) -> String {
    call(1, "echo", &json!({ "text": text }))
}

/// The body mode of the example.
const MODE: &str = "FULL_DUPLEX_STREAMED";

#[test]
fn calls_are_repaired_or_refused_on_the_way() {
    let (_demo, port) = demo();
    let servers = [local(port), local(9)];
    let envoy = Envoy::start(&Setup { servers, replaced: &[ONE_SERVER], ..Setup::default() });
    for (city, hours) in [("Oslo", json!("2")), ("Rome", json!(1))] {
        let arguments = json!({ "city": city, "hours": hours });
        let answer = ask_modern(envoy.port, "/mcp", &call(7, "get-weather-forecast", &arguments));
        assert!(answer.contains("\"structuredContent\":[{\"hour\":\"09:00\""), "{answer}");
        let answer = ask(envoy.port, POST, &call(8, "get-weather-forecast", &arguments));
        // The demo server wants a session.
        assert!(answer.contains("Session ID is required"), "{answer}");
    }
    let invalid = call(9, "get-weather-forecast", &json!({ "hours": 30 }));
    let answer = ask_modern(envoy.port, "/mcp", &invalid);
    assert!(answer.contains("expected a number ≤ 24"), "{answer}");
}

/// Nothing passes in another body mode, and client and log name the line to write.
#[test]
fn other_body_modes_are_refused_with_the_line_to_write() {
    let modes = ["NONE", "STREAMED", "BUFFERED", "BUFFERED_PARTIAL"];
    let keys = ["request_body_mode", "response_body_mode"];
    let all: Vec<_> = keys.iter().flat_map(|key| modes.map(|mode| (*key, mode))).collect();
    // A route for each.
    let mut routes = String::new();
    for (key, mode) in &all {
        let both = keys.map(|it| format!("{it}: {}", if it == *key { mode } else { MODE }));
        let [request, response] = &both;
        write!(
            routes,
            r#"
                        - name: weather
                          match: {{ prefix: /{key}/{mode}/ }}
                          route: {{ cluster: weather, prefix_rewrite: /, timeout: 0s }}
                          typed_per_filter_config:
                            envoy.filters.http.ext_proc:
                              "@type": type.googleapis.com/envoy.extensions.filters.http.ext_proc.v3.ExtProcPerRoute
                              overrides:
                                processing_mode: {{ request_header_mode: SEND, {request}, request_trailer_mode: SEND, response_header_mode: SEND, {response}, response_trailer_mode: SEND }}"#
        )
        .unwrap();
    }
    let routes = format!("routes:{routes}");
    let replaced = &[("routes:", routes.as_str())];
    let envoy = echo_with(&Setup { replicas: 1, replaced, ..Setup::default() });
    let mut reasons = Vec::new();
    for (key, mode) in all {
        let reason = format!(
            "cannot check messages: the ext_proc filter of Envoy has {key} {mode}; write `{key}: {MODE}` in its processing_mode"
        );
        let path = format!("/{key}/{mode}/mcp");
        let post = POST.replace("/mcp", &path);
        let get = format!("GET {path} HTTP/1.1\r\naccept: text/event-stream");
        for (head, text) in [(&post, echoed("x")), (&post, echoed("x")), (&get, String::new())] {
            let answer = ask(envoy.port, head, &text);
            assert!(answer.starts_with("HTTP/1.1 500"), "{path}: {answer}");
            assert_eq!(body(&answer)["error"]["message"], reason.as_str());
        }
        wait_until("the log says it", || envoy.replicas[0].said(&reason) > 0);
        reasons.push(reason);
    }
    assert!(reasons.iter().all(|reason| envoy.replicas[0].said(reason) == 1));
    assert_eq!(envoy.counter("cluster.weather.upstream_rq_total"), 0);
    assert!(
        ask(envoy.port, &POST.replace("/mcp", "/weather/mcp"), &echoed("x"))
            .contains("structuredContent")
    );
}

#[test]
fn a_body_over_the_limit_is_refused_with_an_error_of_json_rpc() {
    let envoy = echo_under("max-message = 100000\n");
    let answer = ask(envoy.port, POST, &echoed(&"x".repeat(90_000)));
    assert!(answer.contains("\"structuredContent\""), "{}", &answer[..200.min(answer.len())]);
    for bytes in [100_000, 300_000] {
        let answer = ask(envoy.port, POST, &echoed(&"x".repeat(bytes)));
        assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
        let error = body(&answer);
        assert!(error["error"]["message"].as_str().unwrap().contains("100000 bytes"), "{error}");
    }
    assert!(ask(envoy.port, POST, &echoed("x")).contains("\"structuredContent\""));
}

#[test]
fn a_large_body_passes_both_ways() {
    let envoy = only_echo();
    for bytes in [70_000, 1_100_000, 9_000_000] {
        let text = "x".repeat(bytes);
        let answer = ask(envoy.port, POST, &echoed(&text));
        assert!(
            answer.starts_with("HTTP/1.1 200"),
            "{bytes}: {}",
            &answer[..300.min(answer.len())]
        );
        let result = body(&answer);
        assert!(result["result"]["structuredContent"]["text"] == text.as_str(), "{bytes}");
        assert!(answer.to_ascii_lowercase().contains("\r\ncontent-length:"), "{bytes}");
    }
    let answer = ask(envoy.port, POST, &call(1, "flood", &json!({})));
    assert!(answer.contains("could not read the answer of the server"), "{}", &answer[..300]);
}

#[test]
fn an_unknown_route_is_refused_and_others_go_on() {
    let renamed = "name: other\n                          match: { prefix: /notes/ }";
    let envoy = echo_with(&Setup {
        replaced: &[("name: notes\n                          match: { prefix: /notes/ }", renamed)],
        ..Setup::default()
    });
    let post = |path: &str| format!("POST {path} HTTP/1.1\r\nmcp-protocol-version: 2025-11-25");
    let answer = ask(envoy.port, &post("/notes/mcp"), &echoed("x"));
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    assert!(answer.contains("no server for route `other`"), "{answer}");
    let said = |replica: &Replica| replica.said("no server for route `other`");
    wait_until("the log says it", || envoy.replicas.iter().map(said).sum::<usize>() == 1);
    let answer = ask(envoy.port, &post("/weather/mcp"), &echoed("x"));
    assert!(answer.contains("\"structuredContent\""), "{answer}");
}

#[test]
fn a_contract_that_is_switched_off_lets_everything_pass() {
    let off = "tools = \"off\"\narguments = \"off\"\nresults = \"off\"\nno-project = true\nkeep-dialects = true\n";
    let envoy = echo_under(off);
    for bytes in [1, 300_000] {
        let answer = ask(envoy.port, POST, &echoed(&"x".repeat(bytes)));
        let result = body(&answer);
        assert_eq!(result["result"]["structuredContent"]["text"], "x".repeat(bytes));
    }
}

#[test]
fn without_the_tool_list_calls_are_refused() {
    let envoy = only_echo();
    let text = std::fs::read_to_string(envoy.folder.join("toolbond.toml")).unwrap();
    let own = text.split("127.0.0.1:").nth(1).unwrap().split('/').next().unwrap();
    envoy.folder.write("toolbond.toml", text.replace(own, "9"));
    let applied = |replica: &Replica| replica.said("configuration: applied") > 0;
    wait_until("the configuration is applied", || envoy.replicas.iter().all(applied));
    let answer = ask(envoy.port, POST, &echoed("x"));
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(
        answer.contains("could not fetch the tool list, and the call was not sent"),
        "{answer}"
    );
}

#[test]
fn a_client_that_the_server_does_not_serve_gets_the_answer_of_the_server() {
    let envoy = only_echo();
    let answer = ask(envoy.port, &format!("{POST}\r\nauthorization: Bearer expired"), &echoed("x"));
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    assert!(answer.contains("www-authenticate: Bearer resource_metadata"), "{answer}");
    assert!(ask(envoy.port, POST, &echoed("x")).contains("\"structuredContent\""));
}

#[test]
fn a_stream_that_a_client_listens_to_ends_when_its_replica_drains() {
    let (_demo, port) = demo();
    let servers = [local(port), local(9)];
    let envoy =
        Envoy::start(&Setup { servers, replicas: 1, replaced: &[ONE_SERVER], ..Setup::default() });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "raw", "version": "1" } } });
    let head = "POST /mcp HTTP/1.1\r\naccept: application/json, text/event-stream";
    let answer = ask(envoy.port, head, &hello.to_string());
    let session = answer.split("mcp-session-id: ").nth(1).unwrap().split("\r\n").next().unwrap();
    let head = format!(
        "GET /mcp HTTP/1.1\r\naccept: text/event-stream\r\nmcp-session-id: {session}\r\nmcp-protocol-version: 2025-11-25\r\nconnection: close"
    );
    let mut stream = Connection::open(envoy.port, &head, b"");
    stream.wait_for("HTTP/1.1 200");
    envoy.replicas[0].process.signal("-TERM");
    let rest = stream.rest();
    // The end of a body in chunks: it did not break off.
    assert!(rest.ends_with(b"0\r\n\r\n"), "{}", String::from_utf8_lossy(&rest));
}

#[test]
fn without_a_replica_calls_pass_unchecked_if_envoy_is_told_so() {
    let mut envoy = echo_with(&Setup {
        replaced: &[ONE_SERVER, ("failure_mode_allow: false", "failure_mode_allow: true")],
        ..Setup::default()
    });
    assert!(ask(envoy.port, POST, &echoed("x")).contains("\"structuredContent\""));
    envoy.replicas.clear();
    let invalid = call(1, "echo", &json!({ "text": 7 }));
    // Until Envoy knows that there is no replica, calls fail.
    wait_until("calls pass", || ask(envoy.port, POST, &invalid).starts_with("HTTP/1.1 200"));
}

#[test]
fn the_example_starts_with_one_command() {
    let envoy = peers::installed("python/tools");
    let mut paths = vec![program().parent().unwrap().to_owned(), envoy.join("bin")];
    paths.extend(std::env::split_paths(&std::env::var_os("PATH").unwrap()));
    let mut command = Command::new(root().join("examples/envoy/start.sh"));
    let mut address = reserved();
    command.env("PATH", std::env::join_paths(paths).unwrap()).env("PYTHONPATH", &envoy);
    command.env("ADDRESS", address.ip().to_string()).stdout(Stdio::null());
    let mut script = Process::start(command);
    let oslo = json!({ "city": "Oslo", "hours": 1 });
    let (head, text) = modern("/mcp", &call(1, "get-weather-forecast", &oslo));
    address.set_port(10_000);
    for path in ["/weather/mcp", "/notes/mcp"] {
        let head = head.replace("/mcp", path) + "\r\nhost: localhost\r\nconnection: close";
        // Envoy listens before the others are ready.
        wait_until("the example answers", || {
            assert_eq!(script.child.try_wait().unwrap(), None, "{:?}", script.log());
            let answer = TcpStream::connect(address)
                .map(|_| Connection::open_at(address, &head, text.as_bytes()).rest());
            answer.is_ok_and(|it| {
                String::from_utf8_lossy(&it).contains("\"structuredContent\":[{\"hour\"")
            })
        });
    }
    script.signal("-TERM");
    script.wait();
    for port in [10_000, 9002, 9003, 3001, 3002] {
        address.set_port(port);
        assert!(TcpStream::connect(address).is_err(), "somebody is left at {address}");
    }
}

#[test]
fn a_trace_goes_on_through_envoy() {
    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let receiver = Receiver::start(Answer::Takes);
    let envoy = echo_with(&Setup {
        replaced: &[ONE_SERVER],
        variables: &receiver.variables(),
        ..Setup::default()
    });
    let answer =
        ask(envoy.port, &format!("{POST}\r\ntraceparent: {PARENT}"), &echoed("secret-text"));
    let result = body(&answer);
    let seen = &result["result"]["_meta"];
    receiver.wait_until("a span", |got| !got.spans.is_empty());
    let (_, span) = receiver.received().spans[0].clone();
    assert_eq!(span.name, "tools/call echo");
    assert_eq!(hex(&span.trace_id), "0af7651916cd43dd8448eb211c80319c");
    assert_eq!(hex(&span.parent_span_id), "b7ad6b7169203331");
    let own = format!("00-{}-{}-01", hex(&span.trace_id), hex(&span.span_id));
    assert_eq!(seen["meta"], own.as_str());
    assert_eq!(seen["header"], own.as_str());
    assert!(!receiver.received().contains("secret-text"));
}

/// What the server lists at one path or for one header is not the contract of another.
#[test]
fn a_list_is_only_for_those_who_would_get_it() {
    let envoy = echo_under("arguments = \"enforce\"\nresults = \"enforce\"\n");
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    let invalid = call(2, "echo", &json!({ "text": 7 }));
    for lenient in [
        "POST /other/mcp HTTP/1.1\r\nmcp-protocol-version: 2025-11-25\r\nx-lenient: 1",
        "POST /mcp?a=b HTTP/1.1\r\nmcp-protocol-version: 2025-11-25\r\nx-lenient: 1",
        "POST /mcp HTTP/1.1\r\nmcp-protocol-version: 2025-11-25\r\nx-lenient: 1",
        "POST /mcp HTTP/1.1\r\nmcp-protocol-version: 2025-11-25\r\nmcp-session-id: s\r\nx-lenient: 1",
    ] {
        for _ in 0..2 {
            assert!(ask(envoy.port, lenient, list).contains("lenient"), "{lenient}");
        }
        let strict = lenient
            .replace("\r\nx-lenient: 1", "")
            .replace("/other/mcp", "/mcp")
            .replace("?a=b", "");
        for _ in 0..4 {
            let answer = ask(envoy.port, &strict, &invalid);
            assert!(answer.contains("expected string"), "{lenient}: {answer}");
        }
    }
    // A tool that the server does not list has no contract.
    let answer = ask(envoy.port, POST, &call(3, "hidden", &json!({})));
    assert!(answer.contains("the server does not list it"), "{answer}");
}

#[test]
fn what_looks_like_json_to_some_is_not_passed_on() {
    let envoy = echo_with(&Setup::default());
    let head = "POST /weather/mcp HTTP/1.1\r\nmcp-protocol-version: 2025-11-25";
    for start in ["/* */", "// x\n", "\u{feff}\u{feff}"] {
        let text = format!("{start}{}", call(1, "echo", &json!({ "text": 7 })));
        let answer = ask(envoy.port, head, &text);
        assert!(answer.starts_with("HTTP/1.1 400"), "{start}: {answer}");
        // And from the server.
        let answer = ask(envoy.port, head, &call(1, "odd", &json!({ "text": start })));
        assert!(!answer.contains("evil"), "{start}: {answer}");
        assert!(answer.contains("\"error\""), "{start}: {answer}");
    }
}

#[test]
fn a_redirect_to_the_gateway_passes_and_the_mark_of_retries_does_not() {
    let envoy = only_echo();
    let head = format!("{POST}\r\nhost: gateway.example");
    let moved = |to: &str| ask(envoy.port, &head, &call(1, "moved", &json!({ "text": to })));
    let answer = moved("http://gateway.example/mcp/");
    assert!(answer.starts_with("HTTP/1.1 307"), "{answer}");
    assert!(answer.contains("location: http://gateway.example/mcp/"), "{answer}");
    assert!(!answer.contains("x-toolbond-retry"), "{answer}");
    let answer = moved("http://elsewhere.example/mcp");
    assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
}

#[test]
fn an_answer_that_is_resumed_at_another_replica_is_not_lost_in_silence() {
    for (results, expected) in
        [("enforce", "another replica has checked the call"), ("warn", "\"resumed\":true")]
    {
        let envoy = echo_under(&format!("results = \"{results}\"\n"));
        let head = "GET /mcp HTTP/1.1\r\naccept: text/event-stream\r\nlast-event-id: 7";
        let answer = ask(envoy.port, head, "");
        assert!(answer.contains(expected), "{results}: {answer}");
    }
}

/// Each replica learns for itself; a client never loses data, whichever of them it comes to.
#[test]
fn replicas_repair_results_and_relax_schemas() {
    let output = json!({ "type": "object", "properties": { "n": { "type": "integer" } }, "required": ["n"] });
    let tool =
        json!({ "name": "count", "inputSchema": { "type": "object" }, "outputSchema": output });
    let server = HttpServer::start(move |request, reply| {
        let content = request.message()["params"]["arguments"]["content"].clone();
        let result = match content {
            Value::Null => json!({ "tools": [tool], "resultType": "complete", "ttlMs": 60_000 }),
            content => {
                json!({ "content": [], "structuredContent": content, "resultType": "complete" })
            }
        };
        reply.result(request, &result)
    });
    let envoy = Envoy::start(&Setup {
        servers: [local(server.port), local(9)],
        replaced: &[ONE_SERVER],
        ..Setup::default()
    });
    let ask = |method: &str, params: Value| {
        let mut message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
        let name = json!({ "name": "claude-ai", "version": "1" });
        message["params"]["_meta"] = json!({ "io.modelcontextprotocol/clientInfo": name });
        body(&ask_modern(envoy.port, "/mcp", &message.to_string()))["result"].take()
    };
    let call = |content: Value| {
        ask("tools/call", json!({ "name": "count", "arguments": { "content": content } }))
    };
    // One of the replicas lists it.
    assert_eq!(ask("tools/list", json!({}))["tools"][0]["outputSchema"], output);
    for _ in 0..8 {
        assert_eq!(call(json!({ "n": "7" }))["structuredContent"], json!({ "n": 7 }));
    }
    for _ in 0..8 {
        let found = call(json!({ "n": "seven" }));
        assert_eq!(found["content"][1]["text"], r#"{"n":"seven"}"#, "{found}");
    }
    for _ in 0..8 {
        let listed = ask("tools/list", json!({}));
        let found = &listed["tools"][0]["outputSchema"]["properties"]["n"]["type"];
        assert_eq!((found, &listed["ttlMs"]), (&json!(["integer", "string"]), &json!(0)));
    }
    for _ in 0..8 {
        assert_eq!(call(json!({ "n": "seven" }))["structuredContent"], json!({ "n": "seven" }));
    }
    for replica in &envoy.replicas {
        assert_eq!(replica.said("[result-invalid]"), 1);
    }
}
