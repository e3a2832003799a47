//! `toolbond ext-proc`: Envoy with two replicas, in front of real servers.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolbond_harness::peers;

use crate::clients::{Client, data, listen};
use crate::envoy::{Echo, Envoy, ONE_SERVER, Replica, Setup};
use crate::guard_http::{POST, Process, ask, call, guard_at, port_of};
use crate::receiver::{Answer, Receiver};
use crate::recorder::{HANG, post, wait_for};

/// One test, one client of `peers/clients`.
macro_rules! clients {
    ($($test:ident: $program:literal, $mode:literal;)*) => {$(
        #[test]
        fn $test() {
            sees_what_it_sees_through_the_guard(&Client {
                name: stringify!($test), program: $program, mode: $mode, is_natural: false,
            });
        }
    )*};
}

clients! {
    typescript_v1: "typescript.mjs", "v1";
    typescript_v2_legacy: "typescript.mjs", "legacy";
    typescript_v2_modern: "typescript.mjs", "modern";
    python_v1: "python_v1.py", "legacy";
    python_v2_legacy: "python_v2.py", "legacy";
    python_v2_modern: "python_v2.py", "auto";
    fastmcp_legacy: "fastmcp_v4.py", "legacy";
    fastmcp_modern: "fastmcp_v4.py", "auto";
}

/// The server of the TypeScript SDK v2: the process and its port.
fn typescript() -> (Process, u16) {
    let mut node = peers::command("servers/v2.mjs");
    node.arg("--http").stdout(Stdio::piped());
    let mut process = Process(node.spawn().unwrap());
    let port = port_of(&mut process);
    (process, port)
}

fn port_in(url: &str) -> u16 {
    url.rsplit(':').next().unwrap().split('/').next().unwrap().parse().unwrap()
}

/// Two servers, rmcp and TypeScript, through the guard and through Envoy: both give a client the same.
fn sees_what_it_sees_through_the_guard(client: &Client) {
    let (_demo, demo_url) = listen(&[env!("CARGO_BIN_EXE_toolbond"), "demo"]);
    let (_typescript, typescript_port) = typescript();
    let typescript_url = format!("http://127.0.0.1:{typescript_port}/mcp");
    let envoy = Envoy::start(&Setup {
        servers: [port_in(&demo_url), typescript_port],
        contract: "results = \"enforce\"\n",
        ..Setup::default()
    });
    let options = ["--results", "enforce", "--keep-eras", "--require-list"];
    let (_one, demo_guard) = guard_at(&demo_url, &options);
    let (_two, typescript_guard) = guard_at(&typescript_url, &options);
    let cases = data("demo");
    let pair = |case: &Value| json!([case["tool"], case["arguments"]]);
    let demo_calls: Value = cases.as_array().unwrap().iter().map(pair).collect();
    let wrong = json!([["forecast", {}], ["count", {}], ["find_person", { "id": "x" }],
        ["find_person", { "id": "2" }], ["shape", {}], ["unknown", {}]]);
    let guard = |port: u16| format!("http://127.0.0.1:{port}/mcp");
    let reports = client.visit(&json!([
        [[guard(demo_guard)], demo_calls],
        [[envoy.url("/weather/mcp")], demo_calls],
        [[guard(typescript_guard)], wrong],
        [[envoy.url("/notes/mcp")], wrong],
        [[envoy.url("/weather/mcp")], demo_calls],
    ]));
    let [demo, demo_envoy, typescript, typescript_envoy, again] = &reports[..] else {
        panic!("{reports:?}")
    };
    assert!(demo["tools"].as_array().is_some_and(|tools| tools.len() > 3), "{demo}");
    assert_eq!(demo, demo_envoy);
    assert_eq!(demo, again);
    assert!(typescript["tools"].as_array().is_some_and(|tools| tools.len() == 4), "{typescript}");
    assert_eq!(typescript, typescript_envoy);
    let started =
        |port: u16| envoy.get("/clusters").contains(&format!("127.0.0.1:{port}::rq_total::0"));
    for replica in &envoy.replicas {
        assert!(!started(replica.port), "a replica was not used");
    }
}

/// The body of an answer.
fn body(answer: &str) -> &str {
    answer.split_once("\r\n\r\n").map_or("", |(_, body)| body)
}

/// The server that echoes, behind Envoy.
fn echo_with(setup: &Setup<'_>) -> Envoy {
    Envoy::start(&Setup { servers: [Echo::start().port, 9], ..*setup })
}

fn echo(text: &str) -> String {
    call(1, "echo", &json!({ "text": text }))
}

fn demo_with(setup: &Setup<'_>) -> (Process, Envoy) {
    let (demo, url) = listen(&[env!("CARGO_BIN_EXE_toolbond"), "demo"]);
    let envoy = Envoy::start(&Setup { servers: [port_in(&url), 9], ..*setup });
    (demo, envoy)
}

/// The body mode of the example.
const MODE: &str = "FULL_DUPLEX_STREAMED";

/// The modern request for a call.
fn modern(id: u32, name: &str, arguments: &Value) -> (String, String) {
    let body = json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
        "name": name, "arguments": arguments,
        "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientInfo": { "name": "raw", "version": "1" },
            "io.modelcontextprotocol/clientCapabilities": {} } } });
    let head = format!(
        "POST /mcp HTTP/1.1\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: tools/call\r\nmcp-name: {name}"
    );
    (head, body.to_string())
}

#[test]
fn calls_are_repaired_or_refused_on_the_way() {
    let (_demo, envoy) = demo_with(&Setup { replaced: &[ONE_SERVER], ..Setup::default() });
    for (city, hours) in [("Oslo", json!("2")), ("Rome", json!(1))] {
        let arguments = json!({ "city": city, "hours": hours });
        let (head, text) = modern(7, "get-weather-forecast", &arguments);
        let answer = ask(envoy.port, &head, &text);
        assert!(answer.contains("\"structuredContent\":[{\"hour\":\"09:00\""), "{answer}");
        let answer = ask(envoy.port, POST, &call(8, "get-weather-forecast", &arguments));
        // The demo server wants a session.
        assert!(answer.contains("Session ID is required"), "{answer}");
    }
    let (head, text) = modern(9, "get-weather-forecast", &json!({ "hours": 30 }));
    let answer = ask(envoy.port, &head, &text);
    assert!(answer.contains("expected a number ≤ 24"), "{answer}");
}

/// Nothing passes in another body mode, and client and log name the line to write.
#[test]
fn other_body_modes_are_refused_with_the_line_to_write() {
    for (key, mode) in [
        ("request_body_mode", "NONE"),
        ("request_body_mode", "STREAMED"),
        ("request_body_mode", "BUFFERED"),
        ("request_body_mode", "BUFFERED_PARTIAL"),
        ("response_body_mode", "NONE"),
        ("response_body_mode", "STREAMED"),
        ("response_body_mode", "BUFFERED"),
        ("response_body_mode", "BUFFERED_PARTIAL"),
    ] {
        let (line, other) = (format!("{key}: {MODE}"), format!("{key}: {mode}"));
        let envoy = echo_with(&Setup {
            replicas: 1,
            replaced: &[ONE_SERVER, (&line, &other)],
            ..Setup::default()
        });
        let reason = format!(
            "cannot check messages: the ext_proc filter of Envoy has {key} {mode}; write `{line}` in its processing_mode"
        );
        for (head, text) in [
            (POST, echo("x")),
            (POST, echo("x")),
            ("GET /mcp HTTP/1.1\r\naccept: text/event-stream", String::new()),
        ] {
            let answer = ask(envoy.port, head, &text);
            assert!(answer.starts_with("HTTP/1.1 500"), "{other}: {answer}");
            let error: Value = serde_json::from_str(body(&answer)).unwrap();
            assert_eq!(error["error"]["message"], reason.as_str());
        }
        assert_eq!(envoy.replicas[0].log().matches(&reason).count(), 1, "{other}");
        assert_eq!(envoy.counter("cluster.weather.upstream_rq_total"), 0, "{other}");
    }
}

#[test]
fn a_body_over_the_limit_is_refused_with_an_error_of_json_rpc() {
    let envoy = echo_with(&Setup {
        contract: "max-message = 100000\n",
        replaced: &[ONE_SERVER],
        ..Setup::default()
    });
    let answer = ask(envoy.port, POST, &echo(&"x".repeat(90_000)));
    assert!(answer.contains("\"structuredContent\""), "{}", &answer[..200.min(answer.len())]);
    for bytes in [100_000, 300_000] {
        let answer = ask(envoy.port, POST, &echo(&"x".repeat(bytes)));
        assert!(answer.starts_with("HTTP/1.1 413"), "{answer}");
        let error: Value = serde_json::from_str(body(&answer)).unwrap();
        assert!(error["error"]["message"].as_str().unwrap().contains("100000 bytes"), "{error}");
    }
    assert!(ask(envoy.port, POST, &echo("x")).contains("\"structuredContent\""));
}

#[test]
fn a_large_body_passes_both_ways() {
    let envoy = echo_with(&Setup { replaced: &[ONE_SERVER], ..Setup::default() });
    for bytes in [70_000, 1_100_000, 9_000_000] {
        let text = "x".repeat(bytes);
        let answer = ask(envoy.port, POST, &echo(&text));
        assert!(
            answer.starts_with("HTTP/1.1 200"),
            "{bytes}: {}",
            &answer[..300.min(answer.len())]
        );
        let result: Value = serde_json::from_str(body(&answer)).unwrap();
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
    let answer = ask(envoy.port, &post("/notes/mcp"), &echo("x"));
    assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
    assert!(answer.contains("no server for route `other`"), "{answer}");
    let logs: String = envoy.replicas.iter().map(Replica::log).collect();
    assert!(logs.contains("no server for route `other`"), "{logs}");
    let answer = ask(envoy.port, &post("/weather/mcp"), &echo("x"));
    assert!(answer.contains("\"structuredContent\""), "{answer}");
}

#[test]
fn a_contract_that_is_switched_off_lets_everything_pass() {
    let off = "tools = \"off\"\narguments = \"off\"\nresults = \"off\"\nno-project = true\nkeep-dialects = true\n";
    let envoy = echo_with(&Setup { contract: off, replaced: &[ONE_SERVER], ..Setup::default() });
    for bytes in [1, 300_000] {
        let answer = ask(envoy.port, POST, &echo(&"x".repeat(bytes)));
        let result: Value = serde_json::from_str(body(&answer)).unwrap();
        assert_eq!(result["result"]["structuredContent"]["text"], "x".repeat(bytes));
    }
}

#[test]
fn without_the_tool_list_calls_are_refused() {
    let envoy = echo_with(&Setup { replaced: &[ONE_SERVER], ..Setup::default() });
    let path = envoy.folder.join("toolbond.toml");
    let text = std::fs::read_to_string(&path).unwrap();
    let own = text.split("127.0.0.1:").nth(1).unwrap().split('/').next().unwrap();
    std::fs::write(&path, text.replace(own, "9")).unwrap();
    let applied = |replica: &Replica| replica.log().contains("configuration: applied");
    while !envoy.replicas.iter().all(applied) {
        std::thread::sleep(Duration::from_millis(50));
    }
    let answer = ask(envoy.port, POST, &echo("x"));
    assert!(answer.starts_with("HTTP/1.1 503"), "{answer}");
    assert!(
        answer.contains("could not fetch the tool list, and the call was not sent"),
        "{answer}"
    );
}

#[test]
fn a_client_that_the_server_does_not_serve_gets_the_answer_of_the_server() {
    let envoy = echo_with(&Setup { replaced: &[ONE_SERVER], ..Setup::default() });
    let answer = ask(envoy.port, &format!("{POST}\r\nauthorization: Bearer expired"), &echo("x"));
    assert!(answer.starts_with("HTTP/1.1 401"), "{answer}");
    assert!(answer.contains("www-authenticate: Bearer resource_metadata"), "{answer}");
    assert!(ask(envoy.port, POST, &echo("x")).contains("\"structuredContent\""));
}

#[test]
fn a_stream_that_a_client_listens_to_ends_when_its_replica_drains() {
    let (_demo, envoy) =
        demo_with(&Setup { replicas: 1, replaced: &[ONE_SERVER], ..Setup::default() });
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": { "name": "raw", "version": "1" } } });
    let head = "POST /mcp HTTP/1.1\r\naccept: application/json, text/event-stream";
    let answer = ask(envoy.port, head, &hello.to_string());
    let session = answer.split("mcp-session-id: ").nth(1).unwrap().split("\r\n").next().unwrap();
    let mut stream = TcpStream::connect(("127.0.0.1", envoy.port)).unwrap();
    stream.set_read_timeout(Some(HANG)).unwrap();
    write!(stream, "GET /mcp HTTP/1.1\r\nhost: localhost\r\naccept: text/event-stream\r\nmcp-session-id: {session}\r\nmcp-protocol-version: 2025-11-25\r\nconnection: close\r\n\r\n").unwrap();
    let mut first = [0; 64];
    let count = stream.read(&mut first).unwrap();
    assert!(first[..count].starts_with(b"HTTP/1.1 200"), "{first:?}");
    let replica = &envoy.replicas[0];
    let status = Command::new("kill").arg(replica.process.0.id().to_string()).status().unwrap();
    assert!(status.success());
    let mut rest = Vec::new();
    stream.read_to_end(&mut rest).unwrap();
    // The end of a body in chunks: it did not break off.
    assert!(rest.ends_with(b"0\r\n\r\n"), "{}", String::from_utf8_lossy(&rest));
}

#[test]
fn without_a_replica_calls_pass_unchecked_if_envoy_is_told_so() {
    let mut envoy = echo_with(&Setup {
        replaced: &[ONE_SERVER, ("failure_mode_allow: false", "failure_mode_allow: true")],
        ..Setup::default()
    });
    assert!(ask(envoy.port, POST, &echo("x")).contains("\"structuredContent\""));
    envoy.replicas.clear();
    let invalid = call(1, "echo", &json!({ "text": 7 }));
    let start = Instant::now();
    // Until Envoy knows that there is no replica, calls fail.
    while !post(envoy.port, POST, invalid.as_bytes()).starts_with(b"HTTP/1.1 200") {
        assert!(start.elapsed() < HANG);
        std::thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn the_example_starts_with_one_command() {
    let envoy = peers::installed("python/tools");
    let path = [Path::new(env!("CARGO_BIN_EXE_toolbond")).parent().unwrap(), &envoy.join("bin")];
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/envoy");
    let paths = path.iter().map(|path| path.to_path_buf());
    let old = std::env::var_os("PATH").unwrap();
    let paths = std::env::join_paths(paths.chain(std::env::split_paths(&old))).unwrap();
    let mut command = Command::new(folder.join("start.sh"));
    command
        .env("PATH", paths)
        .env("PYTHONPATH", &envoy)
        .stderr(Stdio::null())
        .stdout(Stdio::null());
    let mut script = Process(command.spawn().unwrap());
    wait_for(10_000);
    let (head, text) = modern(1, "get-weather-forecast", &json!({ "city": "Oslo", "hours": 1 }));
    let start = Instant::now();
    for path in ["/weather/mcp", "/notes/mcp"] {
        let head = head.replace("/mcp", path);
        // Envoy listens before the others are ready.
        while !ask(10_000, &head, &text).contains("\"structuredContent\":[{\"hour\"") {
            assert!(start.elapsed() < HANG);
            std::thread::sleep(Duration::from_millis(50));
        }
    }
    let id = script.0.id().to_string();
    assert!(Command::new("kill").arg(id).status().unwrap().success());
    script.0.wait().unwrap();
    for port in [10_000, 9002, 9003, 3001, 3002] {
        assert!(TcpStream::connect(("127.0.0.1", port)).is_err(), "somebody is left at {port}");
    }
}

#[test]
fn a_trace_goes_on_through_envoy() {
    const PARENT: &str = "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01";
    let receiver = Receiver::start(Answer::Takes);
    let envoy = echo_with(&Setup {
        replaced: &[ONE_SERVER],
        export: Some(receiver.port),
        ..Setup::default()
    });
    let answer = ask(envoy.port, &format!("{POST}\r\ntraceparent: {PARENT}"), &echo("secret-text"));
    let result: Value = serde_json::from_str(body(&answer)).unwrap();
    let seen = &result["result"]["_meta"];
    let start = Instant::now();
    let span = loop {
        let found = receiver.received().spans.first().cloned();
        match found {
            Some((_, span)) => break span,
            None => assert!(start.elapsed() < HANG, "no span"),
        }
        std::thread::sleep(Duration::from_millis(20));
    };
    let hex = |bytes: &[u8]| {
        let number = bytes.iter().fold(0_u128, |all, byte| all << 8 | u128::from(*byte));
        format!("{number:0width$x}", width = 2 * bytes.len())
    };
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
    let envoy = echo_with(&Setup {
        contract: "arguments = \"enforce\"\nresults = \"enforce\"\n",
        replaced: &[ONE_SERVER],
        ..Setup::default()
    });
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
    let envoy = echo_with(&Setup { replaced: &[ONE_SERVER], ..Setup::default() });
    let head = format!("{POST}\r\nhost: gateway.example");
    let answer = ask(
        envoy.port,
        &head,
        &call(1, "moved", &json!({ "text": "http://gateway.example/mcp/" })),
    );
    assert!(answer.starts_with("HTTP/1.1 307"), "{answer}");
    assert!(answer.contains("location: http://gateway.example/mcp/"), "{answer}");
    assert!(!answer.contains("x-toolbond-retry"), "{answer}");
    let answer = ask(
        envoy.port,
        &head,
        &call(1, "moved", &json!({ "text": "http://elsewhere.example/mcp" })),
    );
    assert!(answer.starts_with("HTTP/1.1 502"), "{answer}");
}

#[test]
fn an_answer_that_is_resumed_at_another_replica_is_not_lost_in_silence() {
    for (results, expected) in
        [("enforce", "another replica has checked the call"), ("warn", "\"resumed\":true")]
    {
        let contract = format!("results = \"{results}\"\n");
        let envoy =
            echo_with(&Setup { contract: &contract, replaced: &[ONE_SERVER], ..Setup::default() });
        let head = "GET /mcp HTTP/1.1\r\naccept: text/event-stream\r\nlast-event-id: 7";
        let answer = ask(envoy.port, head, "");
        assert!(answer.contains(expected), "{results}: {answer}");
    }
}
