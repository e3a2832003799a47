//! `toolpact ext-proc`: Envoy with two replicas, in front of real servers.

use std::process::{Command, Stdio};

use serde_json::{Value, json};

use crate::clients::{Client, data, listen};
use crate::envoy::{Envoy, ONE_SERVER, Setup};
use crate::guard_http::{POST, Process, ask, call, guard_at, port_of};
use crate::guard_peers::{peers, put};

/// One test, one client of `tests/clients`.
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
    put("peers/v2.mjs", &peers());
    let mut node = Command::new("node");
    node.args(["v2.mjs", "--http"]).current_dir(peers()).stdout(Stdio::piped());
    let mut process = Process(node.spawn().unwrap());
    let port = port_of(&mut process);
    (process, port)
}

fn port_in(url: &str) -> u16 {
    url.rsplit(':').next().unwrap().split('/').next().unwrap().parse().unwrap()
}

/// Two servers, rmcp and TypeScript, through the guard and through Envoy: both give a client the same.
fn sees_what_it_sees_through_the_guard(client: &Client) {
    let (_demo, demo_url) = listen(&[env!("CARGO_BIN_EXE_toolpact"), "demo"]);
    let (_typescript, typescript_port) = typescript();
    let typescript_url = format!("http://127.0.0.1:{typescript_port}/mcp");
    let envoy = Envoy::start(&Setup {
        servers: [port_in(&demo_url), typescript_port],
        contract: "results = \"enforce\"\n",
        ..Setup::default()
    });
    let options = ["--results", "enforce", "--keep-eras"];
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

fn demo_with(setup: &Setup<'_>) -> (Process, Envoy) {
    let (demo, url) = listen(&[env!("CARGO_BIN_EXE_toolpact"), "demo"]);
    let envoy = Envoy::start(&Setup { servers: [port_in(&url), 9], ..*setup });
    (demo, envoy)
}

const MODES: [(&str, &str); 2] = [
    ("request_body_mode: FULL_DUPLEX_STREAMED", "response_body_mode: FULL_DUPLEX_STREAMED"),
    ("request_trailer_mode: SEND", "response_trailer_mode: SEND"),
];

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

/// The same answers, whatever the body modes of Envoy.
#[test]
fn every_body_mode_that_shows_bodies_works() {
    for (request, response) in [
        ("FULL_DUPLEX_STREAMED", "FULL_DUPLEX_STREAMED"),
        ("BUFFERED", "BUFFERED"),
        ("STREAMED", "STREAMED"),
        ("BUFFERED", "STREAMED"),
        ("BUFFERED", "FULL_DUPLEX_STREAMED"),
    ] {
        for allow in ["true", "false"] {
            let modes =
                format!("allow_mode_override: {allow}\n                      processing_mode:");
            let request_mode = format!("request_body_mode: {request}");
            let response_mode = format!("response_body_mode: {response}");
            let (_demo, envoy) = demo_with(&Setup {
                replaced: &[
                    ONE_SERVER,
                    ("processing_mode:", &modes),
                    (MODES[0].0, &request_mode),
                    (MODES[0].1, &response_mode),
                ],
                ..Setup::default()
            });
            let what = format!("{request} {response} {allow}");
            for (city, hours) in [("Oslo", json!("2")), ("Rome", json!(1))] {
                let arguments = json!({ "city": city, "hours": hours });
                let (head, text) = modern(7, "get-weather-forecast", &arguments);
                let answer = ask(envoy.port, &head, &text);
                assert!(
                    answer.contains("\"structuredContent\":[{\"hour\":\"09:00\""),
                    "{what}: {answer}"
                );
                let text = call(8, "get-weather-forecast", &arguments);
                let answer = ask(envoy.port, POST, &text);
                assert!(answer.contains("\"jsonrpc\""), "{what}: {answer}");
            }
            let (head, text) = modern(9, "get-weather-forecast", &json!({ "hours": 30 }));
            let answer = ask(envoy.port, &head, &text);
            assert!(answer.contains("expected a number ≤ 24"), "{what}: {answer}");
        }
    }
}
