//! Requests of 2026-07-28 in front of a process: what contradicts itself is refused, and nothing of it arrives.

use std::fmt::Write as _;

use serde_json::{Value, json};
use toolbond_harness::guard::listening;
use toolbond_harness::http::{Connection, ask, body};
use toolbond_harness::mcp::{ask_modern, open};
use toolbond_harness::peers;
use toolbond_harness::process::Process;

/// Says which methods it has seen, apart from the one that asks and those that the guard itself sends.
const SERVER: &str = r#"
const tool = { name: "send", inputSchema: { type: "object", properties: {
  region: { type: "string", "x-mcp-header": "Region" }, floor: { type: "integer", "x-mcp-header": "Floor" } } } };
const results = { "tools/list": { tools: [tool] }, "tools/call": { content: [] },
  initialize: { protocolVersion: "2025-11-25", capabilities: {}, serverInfo: { name: "bare", version: "1" } },
  "server/discover": { resultType: "complete", supportedVersions: ["2026-07-28", "2025-11-25"], capabilities: {} } };
let seen = [];
require("readline").createInterface({ input: process.stdin }).on("line", (line) => {
  const { id, method } = JSON.parse(line);
  const known = { ...results, seen: { seen } }[method];
  if (!["seen", "tools/list", "server/discover"].includes(method)) seen.push(method);
  const unknown = { error: { code: -32601, message: "method not found" } };
  if (id !== undefined) console.log(JSON.stringify({ jsonrpc: "2.0", id, ...(known ? { result: known } : unknown) }));
});
"#;

const VERSION: &str = "MCP-Protocol-Version";

type Headers = Vec<(String, Vec<u8>)>;

/// The headers of [`CALL`].
fn headers() -> Headers {
    let all = [
        (VERSION, "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "send"),
        ("Mcp-Param-Region", "eu"),
        ("Mcp-Param-Floor", "42"),
    ];
    all.map(|(name, value)| (name.to_owned(), value.as_bytes().to_owned())).into()
}

/// The headers of [`CALL`], with these values of `name`.
fn with(name: &str, values: &[&[u8]]) -> Headers {
    let mut headers = headers();
    headers.retain(|(own, _)| !own.eq_ignore_ascii_case(name));
    headers.extend(values.iter().map(|value| (name.to_owned(), value.to_vec())));
    headers
}

fn call() -> Value {
    json!({ "jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": {
        "name": "send", "arguments": { "region": "eu", "floor": 42 },
        "_meta": { "io.modelcontextprotocol/protocolVersion": "2026-07-28",
            "io.modelcontextprotocol/clientCapabilities": {} } } })
}

/// The call with `value` at `pointer`; without what is there where it is `None`.
fn changed(pointer: &str, value: Option<Value>) -> String {
    let mut call = call();
    let (parent, name) = pointer.rsplit_once('/').unwrap();
    let parent = call.pointer_mut(parent).unwrap().as_object_mut().unwrap();
    let name = name.replace("~1", "/");
    match value {
        Some(value) => drop(parent.insert(name, value)),
        None => drop(parent.remove(&name)),
    }
    call.to_string()
}

/// Sends a POST, and gives status and body of the answer.
fn send(port: u16, headers: &Headers, text: &str) -> (u16, Value) {
    let length = text.len();
    let mut bytes = format!("POST /mcp HTTP/1.1\r\nhost: localhost\r\naccept: application/json, text/event-stream\r\ncontent-type: application/json\r\ncontent-length: {length}\r\nconnection: close\r\n").into_bytes();
    for (name, value) in headers {
        bytes.extend([name.as_bytes(), b": ", value, b"\r\n"].concat());
    }
    bytes.extend([b"\r\n", text.as_bytes()].concat());
    let mut connection = Connection::to(([127, 0, 0, 1], port).into());
    // A guard that refuses the head does not read the rest.
    let _ = connection.write(&bytes);
    let answer = connection.rest();
    let answer = String::from_utf8(answer).unwrap();
    let status = answer.split(' ').nth(1).unwrap_or_default().parse().unwrap_or_default();
    let body = answer.split("\r\n\r\n").nth(1).unwrap_or_default();
    (status, serde_json::from_str(body).unwrap_or_default())
}

fn start() -> (Process, u16) {
    listening(&["--", &peers::node(), "-e", SERVER])
}

/// The methods that arrived since the guard started.
fn seen(port: u16) -> Vec<String> {
    let answer = ask_modern(port, "/mcp", r#"{"jsonrpc":"2.0","id":1,"method":"seen"}"#);
    let seen = &body(&answer)["result"]["seen"];
    seen.as_array().unwrap().iter().map(|it| it.as_str().unwrap().to_owned()).collect()
}

#[test]
fn headers_that_say_what_the_body_says_are_accepted() {
    let (_guard, port) = start();
    let plain = call().to_string();
    let lower: Headers =
        headers().into_iter().map(|(name, value)| (name.to_ascii_lowercase(), value)).collect();
    let text = changed("/params/arguments/region", Some(json!(" é\n")));
    let literal = changed("/params/arguments/region", Some(json!("=?base64?ZXU=")));
    let cases = [
        (headers(), &plain),
        (lower, &plain),
        (with("Mcp-Name", &[b"  send\t"]), &plain),
        (with("Mcp-Name", &[b"=?base64?c2VuZA==?="]), &plain),
        (with("Mcp-Param-Region", &[b"=?base64?ZXU=?="]), &plain),
        (with("Mcp-Param-Region", &[b"=?base64?IMOpCg==?="]), &text),
        (with("Mcp-Param-Region", &[b"=?base64?ZXU="]), &literal),
        (with("Mcp-Param-Floor", &[b"42.0"]), &plain),
        (with("Mcp-Param-Other", &[b"\xff"]), &plain),
        (with("Mcp-Session-Id", &[b"nobody"]), &plain),
        (with("Last-Event-ID", &[b"1-1"]), &plain),
    ];
    let count = cases.len();
    for (headers, text) in cases {
        let (status, answer) = send(port, &headers, text);
        assert_eq!((status, &answer["id"]), (200, &json!(7)), "{headers:?} {text}: {answer}");
        assert!(answer["result"].is_object(), "{headers:?} {text}: {answer}");
    }
    assert_eq!(seen(port), vec!["tools/call"; count]);
    let absent = changed("/params/arguments", Some(json!({ "region": null })));
    let mut headers = with("Mcp-Param-Region", &[]);
    headers.retain(|(name, _)| name != "Mcp-Param-Floor");
    let (status, answer) = send(port, &headers, &absent);
    assert_eq!((status, &answer["id"]), (200, &json!(7)), "`null` has no header: {answer}");
}

/// Refused requests: what is wrong, headers, body, status and code.
fn contradictions() -> Vec<(&'static str, Headers, String, u16, i64)> {
    const MISMATCH: i64 = -32020;
    let plain = || call().to_string();
    let long = "x".repeat(32 << 10);
    let meta = "/params/_meta/io.modelcontextprotocol~1";
    let mut cases = Vec::new();
    let values: [(&str, &str, &[&[u8]]); 22] = [
        ("no version", VERSION, &[]),
        ("an older version", VERSION, &[b"2025-11-25"]),
        ("two versions", VERSION, &[b"2026-07-28", b"2025-11-25"]),
        ("the same version twice", VERSION, &[b"2026-07-28", b"2026-07-28"]),
        ("a list of versions", VERSION, &[b"2026-07-28, 2026-07-28"]),
        ("a version that is no text", VERSION, &[b"2026-07-28\xff"]),
        ("no method", "Mcp-Method", &[]),
        ("another method", "Mcp-Method", &[b"tools/list"]),
        ("the method in capitals", "Mcp-Method", &[b"TOOLS/CALL"]),
        ("the method encoded", "Mcp-Method", &[b"=?base64?dG9vbHMvY2FsbA==?="]),
        ("two methods", "Mcp-Method", &[b"tools/call", b"tools/list"]),
        ("no name", "Mcp-Name", &[]),
        ("an empty name", "Mcp-Name", &[b""]),
        ("another name", "Mcp-Name", &[b"other"]),
        ("two names", "mcp-name", &[b"send", b"other"]),
        ("the marker in capitals", "Mcp-Name", &[b"=?BASE64?c2VuZA==?="]),
        ("no padding", "Mcp-Name", &[b"=?base64?c2VuZA?="]),
        ("a long name", "Mcp-Name", &[long.as_bytes()]),
        ("no argument", "Mcp-Param-Region", &[]),
        ("another argument", "Mcp-Param-Region", &[b"us"]),
        ("two arguments", "Mcp-Param-Region", &[b"eu", b"us"]),
        ("an argument that is no text", "Mcp-Param-Region", &[b"e\xff"]),
    ];
    for (name, header, values) in values {
        cases.push((name, with(header, values), plain(), 400, MISMATCH));
    }
    for (name, header, value) in [
        ("another number", "Mcp-Param-Floor", &b"43"[..]),
        ("text that is no number", "Mcp-Param-Floor", b"0x2a"),
        ("an argument in bad Base64", "Mcp-Param-Region", b"=?base64?ZX!U=?="),
        ("an argument that is no UTF-8", "Mcp-Param-Region", b"=?base64?/w==?="),
    ] {
        cases.push((name, with(header, &[value]), plain(), 400, MISMATCH));
    }
    let gone = changed("/params/arguments/region", None);
    cases.push(("a header without its argument", headers(), gone, 400, MISMATCH));
    let twice = plain().replace(r#""region":"eu""#, r#""region":"us","\u0072egion":"eu""#);
    cases.push(("an argument that is there twice", headers(), twice, 400, MISMATCH));
    let version = format!("{meta}protocolVersion");
    let older = changed(&version, Some(json!("2025-11-25")));
    cases.push(("a body of another version", headers(), older, 400, MISMATCH));
    for (name, pointer, value) in [
        ("no `_meta`", "/params/_meta".to_owned(), None),
        ("no version in the body", version.clone(), None),
        ("no capabilities", format!("{meta}clientCapabilities"), None),
        ("capabilities that are none", format!("{meta}clientCapabilities"), Some(json!([]))),
        ("a version that is a number", version.clone(), Some(json!(2026))),
    ] {
        cases.push((name, headers(), changed(&pointer, value), 400, -32602));
    }
    let case = plain().replace("\"_meta\"", "\"_Meta\"");
    cases.push(("`_meta` in capitals", headers(), case, 400, -32602));
    for unknown in ["1900-01-01", "2099-01-01", "v999", "DRAFT-2026-v1", "2026-7-28"] {
        let body = changed(&version, Some(json!(unknown)));
        cases.push(("an unknown version", with(VERSION, &[unknown.as_bytes()]), body, 400, -32022));
    }
    for method in ["initialize", "ping", "logging/setLevel", "resources/subscribe", "unknown"] {
        let body = changed("/method", Some(json!(method)));
        cases.push((method, with("Mcp-Method", &[method.as_bytes()]), body, 404, -32601));
    }
    cases
}

#[test]
fn what_contradicts_itself_does_not_reach_the_process() {
    let (_guard, port) = start();
    for (name, headers, text, status, code) in contradictions() {
        let answer = send(port, &headers, &text);
        let found = (answer.0, answer.1["error"]["code"].as_i64(), &answer.1["id"]);
        assert_eq!(found, (status, Some(code), &json!(7)), "{name}: {text}: {}", answer.1);
        if code == -32022 {
            let data = &answer.1["error"]["data"];
            let requested = headers.iter().find(|(name, _)| name == VERSION).unwrap();
            assert_eq!(data["supported"], json!(["2026-07-28"]), "{name}");
            assert_eq!(data["requested"].as_str().unwrap().as_bytes(), requested.1, "{name}");
        }
    }
    // Only the last one is for the process to refuse.
    assert_eq!(seen(port), ["unknown"]);
}

#[test]
fn what_is_no_single_request_does_not_reach_the_process() {
    let (_guard, port) = start();
    let plain = call().to_string();
    let answer = r#"{"jsonrpc":"2.0","id":7,"result":{}}"#;
    let initialized = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
    for (text, status) in [
        (format!("[{plain}]"), 400),
        (format!("[{plain},{plain}]"), 400),
        (answer.to_owned(), 400),
        ("{}".to_owned(), 400),
        (plain.replace("\"id\":7", "\"id\":null"), 400),
        (plain.replace("\"id\":7", "\"id\":{}"), 400),
        (initialized.to_owned(), 400),
        (plain.replace("\"id\":7,", ""), 400),
    ] {
        assert_eq!(send(port, &headers(), &text).0, status, "{text}");
    }
    let only_version = vec![(VERSION.to_owned(), b"2026-07-28".to_vec())];
    assert_eq!(send(port, &only_version, initialized).0, 404);
    // Heads that no server reads.
    let folded = with("Mcp-Name", &[b"se\r\n cond"]);
    assert_eq!(send(port, &folded, &plain).0, 400);
    let huge = with("Mcp-Name", &["x".repeat(1 << 20).as_bytes()]);
    assert!(matches!(send(port, &huge, &plain).0, 0 | 431));
    assert_eq!(seen(port), [""; 0]);
}

#[test]
fn a_session_keeps_the_rules_of_its_revision() {
    let (_guard, port) = start();
    let session = open(port, "/mcp");
    let id = session.rsplit("mcp-session-id: ").next().unwrap().as_bytes();
    let own = |version: Option<&[u8]>| {
        let mut headers = vec![("Mcp-Session-Id".to_owned(), id.to_vec())];
        headers.extend(version.map(|version| (VERSION.to_owned(), version.to_vec())));
        headers
    };
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    assert_eq!(send(port, &own(None), list).0, 200);
    assert_eq!(send(port, &own(Some(b"2025-06-18")), list).0, 200);
    for version in ["v1", "2099-01-01", "1900-01-01"] {
        let (status, answer) = send(port, &own(Some(version.as_bytes())), list);
        assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32022)), "{answer}");
    }
    // A request of 2026-07-28 is none of the session.
    let (status, answer) = send(port, &own(Some(b"2025-11-25")), &call().to_string());
    assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32020)), "{answer}");
    let (status, answer) = send(port, &own(None), &call().to_string());
    assert_eq!((status, &answer["error"]["code"]), (400, &json!(-32020)), "{answer}");
    let mut twice = own(None);
    twice.push(("mcp-session-id".to_owned(), b"other".to_vec()));
    assert_eq!(send(port, &twice, list).0, 400);
    for (method, version, status) in [
        ("GET", "2026-07-28", "405"),
        ("DELETE", "2026-07-28", "405"),
        ("GET", "v1", "400"),
        ("DELETE", "2025-11-25", "204"),
    ] {
        let mut head = session.replacen("POST", method, 1);
        write!(head, "\r\n{VERSION}: {version}").unwrap();
        let answer = ask(port, &head, "");
        assert!(answer.starts_with(&format!("HTTP/1.1 {status}")), "{method} {version}: {answer}");
    }
}
