//! `toolbond ext-mcp`: the service for agentgateway, beside what `toolbond guard` does with the same messages.

mod client;

use std::process::{Command, Stdio};

use hyper::body::Bytes;
use serde_json::{Value, json};

use self::client::{
    Asked, Reply, SERVICE, Status, Verdict, call, check_request, check_response, frame, health,
    list, params, unary,
};
use crate::command::{toolbond, toolbond_with};
use crate::guard_config::{File, Guard, ask_modern};
use crate::guard_http::{Process, ask, bare, guard, port_of};
use crate::guard_repairs::headers_server;

const LEGACY: [(&str, &str); 2] =
    [("mcp-protocol-version", "2025-11-25"), ("mcp-session-id", "one of the gateway")];
const MODERN: [(&str, &str); 1] = [("mcp-protocol-version", "2026-07-28")];
const POST: &str = "POST /mcp HTTP/1.1\r\naccept: application/json, text/event-stream\r\nmcp-protocol-version: 2025-11-25";

/// A replica of the service: the process and its port.
fn replica(config: &File, options: &[&str]) -> (Guard, u16) {
    let start = ["ext-mcp", "--listen", "127.0.0.1:0", "--config", config.path()];
    let service = Guard::start(&[&start[..], options].concat());
    let line = service.says(0, "listening for agentgateway on ");
    let port = line.rsplit(':').next().unwrap().trim_end_matches('"').parse().unwrap();
    (service, port)
}

/// The table of the server `name` on `port`.
fn table(name: &str, port: u16) -> String {
    format!("[servers.{name}]\nurl = 'http://127.0.0.1:{port}/mcp'\n")
}

/// What the server on `port` answers to a request, in the revision of `headers`.
fn answer(port: u16, method: &str, params: &Value, headers: &[(&str, &str)]) -> Value {
    let message = json!({ "jsonrpc": "2.0", "id": 1, "method": method, "params": params });
    let answer = if headers == MODERN {
        ask_modern(port, "/mcp", &message.to_string())
    } else {
        ask(port, POST, &message.to_string())
    };
    // The server sends it in one chunk.
    let text = answer.split("\r\n").find(|line| line.starts_with('{'));
    serde_json::from_str(text.unwrap_or_default()).unwrap_or_else(|_| panic!("{answer}"))
}

/// What the client gets through a gateway: the first replica checks the request, the second one the result.
fn through(replicas: [u16; 2], upstream: u16, asked: &Asked<'_>) -> Result<Value, Verdict> {
    let Reply { verdict, metadata, .. } = check_request(replicas[0], asked).unwrap();
    let sent = match verdict {
        Verdict::Pass => {
            asked.params.as_ref().map_or(json!({}), |it| serde_json::from_slice(it).unwrap())
        }
        Verdict::Mutated(params) => params,
        refused @ Verdict::Error { .. } => return Err(refused),
    };
    let mut answer = answer(upstream, asked.method, &sent, asked.headers);
    let mcp_error = answer["error"].take();
    if let Some(message) = mcp_error["message"].as_str() {
        // The service does not see errors of servers.
        return Err(Verdict::Error { code: 0, reason: message.to_owned(), mcp_error });
    }
    let result = answer["result"].take();
    let checked = check_response(replicas[1], asked, metadata, result.to_string()).unwrap();
    match checked.verdict {
        Verdict::Pass => Ok(result),
        Verdict::Mutated(result) => Ok(result),
        refused @ Verdict::Error { .. } => Err(refused),
    }
}

/// Holds two replicas to what a guard with the same terms does.
fn agrees_with_the_guard(results: &str) {
    let (_server, upstream) = bare(&["--bad"]);
    let (_guard, guarded) = guard(upstream, &["--keep-eras", "--results", results]);
    let terms = format!("[contract]\nresults = '{results}'\n{}", table("bare", upstream));
    let config = File::new(&format!("ext-mcp-{results}"), &terms);
    let replicas = [replica(&config, &[]), replica(&config, &[])];
    let ports = [replicas[0].1, replicas[1].1];
    for headers in [&LEGACY[..], &MODERN] {
        let listed = through(ports, upstream, &list(&["bare"], headers)).unwrap();
        assert_eq!(listed, answer(guarded, "tools/list", &json!({}), headers)["result"]);
        for (name, arguments) in [
            ("forecast", json!({})),
            ("count", json!({})),
            ("find_person", json!({ "id": 1 })),
            ("find_person", json!({ "id": "2" })),
            ("shape", json!({})),
            ("ranged", json!({ "n": 5, "code": "abc" })),
            ("ranged", json!({ "n": 500, "code": "abc" })),
            ("lying", json!({})),
            ("undeclared", json!({})),
            ("remote", json!({})),
            ("no_input", json!({})),
        ] {
            let params = params(name, &arguments);
            let got = through(ports, upstream, &call(&["bare"], &params, headers));
            let expected = answer(guarded, "tools/call", &params, headers);
            match got {
                Ok(result) => assert_eq!(result, expected["result"], "{params}"),
                Err(Verdict::Error { reason, mcp_error, .. }) if expected["error"].is_object() => {
                    assert_eq!(mcp_error, expected["error"]);
                    assert_eq!(reason, expected["error"]["message"].as_str().unwrap());
                }
                // There is no way to answer a call with a result.
                Err(Verdict::Error { code, reason, mcp_error }) => {
                    assert_eq!((code, &mcp_error["data"]), (3, &expected["result"]), "{params}");
                    assert_eq!(reason, expected["result"]["content"][0]["text"].as_str().unwrap());
                }
                Err(other) => panic!("{params}: {other:?}"),
            }
        }
    }
}

#[test]
fn two_replicas_agree_with_the_guard() {
    agrees_with_the_guard("warn");
}

#[test]
fn two_replicas_withhold_what_the_guard_withholds() {
    agrees_with_the_guard("enforce");
}

#[test]
fn arguments_are_repaired_and_results_are_noted() {
    let (_server, upstream) = bare(&[]);
    let config = File::new("ext-mcp-note", &table("bare", upstream));
    let (_service, port) = replica(&config, &[]);
    let ask = |params: &Value, headers| check_request(port, &call(&["bare"], params, headers));
    let reply = ask(&params("find_person", &json!({ "id": "2" })), &MODERN).unwrap();
    assert_eq!(reply.verdict, Verdict::Mutated(params("find_person", &json!({ "id": 2 }))));
    let note = reply.note();
    assert_eq!(note["server"], "bare");
    assert_eq!((&note["tool"], &note["revision"]), (&json!("find_person"), &json!("2026-07-28")));
    let definition: Value = serde_json::from_str(note["definition"].as_str().unwrap()).unwrap();
    assert_eq!(definition["inputSchema"], json!({ "type": "object" }));
    assert_eq!(definition["outputSchema"]["anyOf"][1], json!({ "type": "null" }));

    // The request itself names its revision.
    let mut named = params("count", &json!({}));
    named["_meta"] = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
    assert_eq!(ask(&named, &[]).unwrap().note()["revision"], "2026-07-28");
    assert_eq!(ask(&params("count", &json!({})), &[]).unwrap().note()["revision"], Value::Null);
    let unlisted = ask(&params("wait", &json!({})), &[]).unwrap();
    assert!(matches!(unlisted.verdict, Verdict::Error { .. }), "{:?}", unlisted.verdict);
    let text = format!("[contract]\nrequire-list = false\n{}", table("bare", upstream));
    let lax = File::new("ext-mcp-unlisted", &text);
    let (_lax, lax) = replica(&lax, &[]);
    let unlisted = check_request(lax, &call(&["bare"], &params("wait", &json!({})), &[])).unwrap();
    assert_eq!(unlisted.verdict, Verdict::Pass);
    assert_eq!(unlisted.note(), json!({ "server": "bare", "unlisted": true }));
    let other = Asked { servers: &["nobody"], method: "prompts/get", ..Asked::default() };
    assert_eq!(check_request(port, &other).unwrap().verdict, Verdict::Pass);
    assert_eq!(check_response(port, &other, None, "{}").unwrap().verdict, Verdict::Pass);
}

#[test]
fn a_result_without_metadata_has_the_legacy_shape_or_is_withheld() {
    let (_server, upstream) = bare(&[]);
    let result = json!({ "content": [], "structuredContent": [1] }).to_string();
    let asked = call(&["bare"], &params("count", &json!({})), &MODERN);
    let task = |method| Asked { servers: &["bare"], method, ..Asked::default() };
    let running = json!({ "taskId": "1", "status": "working" }).to_string();
    let done = json!({ "taskId": "1", "status": "completed", "result": {} }).to_string();

    let config = File::new("ext-mcp-absent", &table("bare", upstream));
    let (service, port) = replica(&config, &[]);
    let Verdict::Mutated(legacy) =
        check_response(port, &asked, None, result.clone()).unwrap().verdict
    else {
        panic!("not projected")
    };
    assert_eq!(legacy["structuredContent"], json!({ "result": [1] }));
    service.says(0, "could not check a result: the gateway does not say which tool it is of");
    let verdict = check_response(port, &task("tasks/get"), None, done.clone()).unwrap().verdict;
    assert_eq!(verdict, Verdict::Pass);
    let Verdict::Mutated(tools) = check_response(
        port,
        &list(&["bare"], &[]),
        None,
        answer(upstream, "tools/list", &json!({}), &LEGACY)["result"].to_string(),
    )
    .unwrap()
    .verdict
    else {
        panic!("not projected")
    };
    assert_eq!(tools["tools"][0]["outputSchema"]["type"], "object");

    let terms =
        format!("{}[servers.bare.tools.count]\nresults = 'enforce'\n", table("bare", upstream));
    let config = File::new("ext-mcp-absent-enforce", &terms);
    let (_service, port) = replica(&config, &[]);
    let verdict = check_response(port, &asked, None, result.clone()).unwrap().verdict;
    assert!(verdict.reason().starts_with("could not check the result: the gateway"), "{verdict:?}");
    for (method, text) in [("tasks/result", &result), ("tasks/get", &done)] {
        let verdict = check_response(port, &task(method), None, text.clone()).unwrap().verdict;
        assert!(verdict.reason().starts_with("could not check the result: it is of a task"));
    }
    let verdict = check_response(port, &task("tasks/get"), None, running).unwrap().verdict;
    assert_eq!(verdict, Verdict::Pass);
}

#[test]
fn headers_follow_repaired_arguments() {
    let (_server, upstream) = headers_server();
    let config = File::new("ext-mcp-headers", &table("route", upstream));
    let (_service, port) = replica(&config, &[]);
    let headers = [
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-param-region", "=?base64?IEVV?="),
        ("mcp-param-limit", "7.0"),
        ("x-other", "1"),
    ];
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {} });
    let mut given = params("route", &json!({ "region": " EU", "limit": "7.0" }));
    given["_meta"] = meta.clone();
    let mut repaired = params("route", &json!({ "region": "eu", "limit": 7.0 }));
    repaired["_meta"] = meta;
    let reply = check_request(port, &call(&["route"], &given, &headers)).unwrap();
    assert_eq!(reply.verdict, Verdict::Mutated(repaired));
    let mut changed = reply.headers.clone();
    changed.sort();
    let set = |name: &str, value: &str| (name.to_owned(), Some(value.to_owned()));
    assert_eq!(changed, [set("mcp-param-limit", "7"), set("mcp-param-region", "eu")]);
}

#[test]
fn a_legacy_server_that_needs_a_session_is_asked_in_one() {
    let mut command = toolbond(&["demo", "--http", "127.0.0.1:0"]);
    let mut demo = Process(command.stderr(Stdio::piped()).spawn().unwrap());
    let upstream = port_of(&mut demo);
    let config = File::new("ext-mcp-session", &table("demo", upstream));
    let (_service, port) = replica(&config, &[]);
    for headers in [&LEGACY[..], &MODERN] {
        let right = params("get-weather-forecast", &json!({ "city": "Oslo", "hours": "2" }));
        let reply = check_request(port, &call(&["demo"], &right, headers)).unwrap();
        let repaired = params("get-weather-forecast", &json!({ "city": "Oslo", "hours": 2 }));
        assert_eq!(reply.verdict, Verdict::Mutated(repaired));
        let wrong = params("get-weather-forecast", &json!({ "city": "Oslo", "hours": 30 }));
        let verdict = check_request(port, &call(&["demo"], &wrong, headers)).unwrap().verdict;
        assert!(verdict.reason().contains("hours: expected a number ≤ 24, found 30"));
    }
}

#[test]
fn a_call_whose_list_cannot_be_fetched_is_refused() {
    let (server, upstream) = bare(&["--locked"]);
    let config = File::new("ext-mcp-locked", &table("bare", upstream));
    let (_service, port) = replica(&config, &[]);
    let count = params("count", &json!({}));
    let key = [("authorization", "Bearer key")];
    let verdict = |headers| check_request(port, &call(&["bare"], &count, headers)).unwrap().verdict;
    let refused = verdict(&[("authorization", "Bearer none")][..]);
    assert!(
        refused.reason().starts_with("could not fetch the tool list, and the call was not sent")
    );
    assert_eq!(verdict(&key), Verdict::Pass);
    drop(server);
    // Others have a list of their own.
    assert!(matches!(
        verdict(&[("authorization", "Bearer other")]),
        Verdict::Error { code: 0, .. }
    ));
}

#[test]
fn merged_lists_are_checked_tool_by_tool() {
    let (_server, upstream) = bare(&["--bad"]);
    let hidden = "[servers.a.tools.count]\nhide = true\n";
    let terms = [&table("a", upstream), hidden, &table("a_b", upstream)].concat();
    let config = File::new("ext-mcp-merged", &terms);
    let (_service, port) = replica(&config, &[]);
    let object = json!({ "type": "object" });
    let tool = |name: &str| json!({ "name": name, "inputSchema": object });
    let counting = |name: &str| json!({ "name": name, "inputSchema": object, "outputSchema": { "type": "integer" } });
    let servers = ["a", "a_b"];
    let asked = list(&servers, &LEGACY);
    let metadata = check_request(port, &asked).unwrap().metadata;
    let check = |tools: Value| {
        let merged = json!({ "tools": tools, "nextCursor": "more" });
        check_response(port, &asked, metadata.clone(), merged.to_string()).unwrap().verdict
    };
    let kept = json!([tool("a_x"), tool("a_y"), tool("a_b_x"), tool("other")]);
    assert_eq!(check(kept), Verdict::Pass);
    let Verdict::Mutated(list) = check(json!([
        counting("a_sum"),
        tool("a_count"),
        { "name": "a_bad", "inputSchema": null },
        counting("a_b_count"),
        { "name": "bad", "inputSchema": 7 },
        tool("count"),
        counting("other"),
    ])) else {
        panic!("not changed")
    };
    let tools = list["tools"].as_array().unwrap();
    let names: Vec<_> = tools.iter().map(|tool| tool["name"].as_str().unwrap()).collect();
    // `a_b_count` may be of either server, and `count`, which `a` hides, may be one of `a`.
    assert_eq!(names, ["a_sum", "a_bad", "a_b_count", "other"]);
    assert_eq!(tools[0]["outputSchema"]["properties"]["result"]["type"], "integer");
    assert_eq!(tools[2]["outputSchema"], tools[0]["outputSchema"]);
    assert_eq!(tools[3]["outputSchema"], tools[0]["outputSchema"]);
    assert_eq!(list["nextCursor"], "more");
}

#[test]
fn wrong_input_is_refused_and_others_go_on() {
    let (_server, upstream) = bare(&[]);
    let terms = format!("[contract]\nmax-message = 100000\n{}", table("bare", upstream));
    let config = File::new("ext-mcp-wrong", &terms);
    let (service, port) = replica(&config, &[]);
    let works = || {
        let asked = call(&["bare"], &params("count", &json!({})), &LEGACY);
        assert_eq!(check_request(port, &asked).unwrap().verdict, Verdict::Pass);
    };
    let refused = |servers: &[&str], method: &str, text: Option<&str>| {
        let given = text.map(|text| Bytes::from(text.to_owned()));
        let asked = Asked { servers, method, params: given, headers: &[] };
        let verdict = check_request(port, &asked).unwrap().verdict;
        works();
        verdict.reason().to_owned()
    };
    let call = "tools/call";
    let unknown = "no server for the backend `nobody`: expected [servers.nobody] with a url in the configuration";
    assert_eq!(refused(&["nobody"], call, Some("{}")), unknown);
    service.says(0, unknown);
    assert_eq!(refused(&["bare", "nobody"], "tools/list", None), unknown);
    assert_eq!(refused(&[], call, Some("{}")), "expected the name of a server, found none");
    assert_eq!(refused(&["bare", "bare"], call, None), "expected the name of one server, found 2");
    assert_eq!(refused(&["bare"], call, None), "`tools/call` needs `params`");
    for (text, reason) in [
        ("{", "could not check the call: expected JSON: EOF while parsing an object"),
        (
            r#"{"name":"count"},"id":2"#,
            "could not check the call: expected JSON: trailing characters",
        ),
        ("\u{feff}{}", "could not check the call: expected JSON: expected value"),
        ("[]", "#/params: invalid type: sequence, expected an object"),
        (r#"{"name":1}"#, "#/params: invalid type: integer `1`"),
        (
            r#"{"name":"count","Name":"ranged"}"#,
            "#/params: key `Name` differs from `name` only in case",
        ),
    ] {
        let found = refused(&["bare"], call, Some(text));
        assert!(found.starts_with(reason), "{text}: {found}");
    }
    let large = params("count", &json!({ "text": "x".repeat(100_000) })).to_string();
    let reason =
        "could not check the call: message exceeds the limit of 100000 bytes (--max-message)";
    assert_eq!(refused(&["bare"], call, Some(&large)), reason);
    for result in ["", "{", "{}},", "nul"] {
        let asked = Asked { servers: &["bare"], method: call, ..Asked::default() };
        let verdict = check_response(port, &asked, None, result).unwrap().verdict;
        assert!(verdict.reason().starts_with("could not check the result: expected JSON"));
    }

    let path = format!("{SERVICE}/CheckRequest");
    // Not a message, half a frame, no frame, a frame beyond the limit, and no such method.
    assert!(unary(port, &path, frame(&[0xff, 0xff, 0xff])).is_err());
    assert!(unary(port, &path, vec![0, 0, 0, 0, 9, 1]).is_err());
    assert!(unary(port, &path, Vec::new()).is_err());
    assert_eq!(unary(port, &path, frame(&vec![0; 2_000_000])), Err(Status(11)));
    assert_eq!(unary(port, &format!("{SERVICE}/Check"), frame(&[])), Err(Status(12)));
    works();
}

#[test]
fn views_are_those_of_one_target() {
    let (_server, upstream) = bare(&[]);
    let with = |terms: &str| format!("[contract]\n{terms}\n{}", table("bare", upstream));
    for terms in ["for = 'auto'", "for-clients = { a = 'gemini' }"] {
        let config = File::new("ext-mcp-auto", &with(terms));
        let output = toolbond_with(&["ext-mcp", "--check-config", "--config", config.path()], "");
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2));
        assert!(said.contains("the gateway does not say who the client is"), "{said}");
    }
    let config = File::new("ext-mcp-view", &with("for = 'openai'"));
    let (_service, port) = replica(&config, &[]);
    let (_guard, guarded) = guard(upstream, &["--for", "openai"]);
    let listed = through([port, port], upstream, &list(&["bare"], &LEGACY)).unwrap();
    assert_eq!(listed, answer(guarded, "tools/list", &json!({}), &LEGACY)["result"]);
    for arguments in [json!({ "n": 5, "code": null }), json!({ "n": 50, "code": null })] {
        let params = params("ranged", &arguments);
        let expected = answer(guarded, "tools/call", &params, &LEGACY)["result"].take();
        match through([port, port], upstream, &call(&["bare"], &params, &LEGACY)) {
            Ok(result) => assert_eq!(result, expected),
            Err(Verdict::Error { mcp_error, .. }) => assert_eq!(mcp_error["data"], expected),
            Err(other) => panic!("{other:?}"),
        }
    }
}

#[test]
fn it_says_that_it_ends_and_then_ends() {
    let (_server, upstream) = bare(&[]);
    let config = File::new("ext-mcp-drain", &table("bare", upstream));
    let end = |service: &Guard| {
        let id = service.process.0.id().to_string();
        assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    };
    let (mut service, port) = replica(&config, &["--drain-seconds", "600"]);
    assert_eq!(health(port), 1);
    end(&service);
    while health(port) == 1 {}
    // New calls are still checked.
    let asked = call(&["bare"], &params("count", &json!({})), &LEGACY);
    assert_eq!(check_request(port, &asked).unwrap().verdict, Verdict::Pass);
    end(&service);
    assert!(!service.process.0.wait().unwrap().success());

    let (mut service, port) = replica(&config, &["--drain-seconds", "0"]);
    assert_eq!(check_request(port, &asked).unwrap().verdict, Verdict::Pass);
    end(&service);
    assert!(service.process.0.wait().unwrap().success());
}
