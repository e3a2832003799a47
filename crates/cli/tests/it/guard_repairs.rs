//! Arguments as real hosts send them, through the guard to servers of both official SDKs.

use serde_json::{Value, json};
use toolbond_harness::guard::in_front_of;
use toolbond_harness::http::ask;
use toolbond_harness::mcp::{modern, url};
use toolbond_harness::peers;
use toolbond_harness::process::Process;

use crate::guard_peers::Client::TypescriptV2;
use crate::guard_peers::{visit, visit_with};

/// What hosts were seen to send, and what the server has to get.
const WIRE_FORMS: &str = include_str!("data/wire_forms.json");

/// Makes every call directly and through a guard with its defaults.
fn compare(server: &str) {
    let command = peers::words(server);
    let command: Vec<_> = command.iter().map(String::as_str).collect();
    let forms: Vec<Value> = serde_json::from_str(WIRE_FORMS).unwrap();
    let calls: Value = forms.iter().map(|form| json!(["take", form["arguments"]])).collect();
    let direct = visit(None, &calls, &command);
    let guarded = visit(Some(&[]), &calls, &command);
    for (index, form) in forms.iter().enumerate() {
        let result = |report: &Value| report["calls"][index].clone();
        let fails = |result: &Value| result.get("failed").is_some() || result["isError"] == true;
        assert!(fails(&result(&direct)), "{form}: {}", result(&direct));
        assert!(!fails(&result(&guarded)), "{form}: {}", result(&guarded));
        let text = result(&guarded)["content"][0]["text"].as_str().unwrap().to_owned();
        assert_eq!(serde_json::from_str::<Value>(&text).unwrap(), form["arrives"], "{form}");
    }
}

#[test]
fn typescript_gets_what_hosts_mean() {
    compare("servers/takes.mjs");
}

#[test]
fn python_gets_what_hosts_mean() {
    compare("servers/takes_v1.py");
}

/// A server of revision 2026-07-28 that compares arguments with their headers: the process and its port.
pub(crate) fn headers_server() -> (Process, u16) {
    let mut node = peers::command("servers/headers.mjs");
    node.arg("--http");
    Process::listening(node)
}

#[test]
fn headers_follow_repaired_arguments() {
    let (_server, port) = headers_server();
    let (_guard, guarded) = in_front_of(port, &[]);
    let given = json!({ "region": " EU", "limit": "7.0", "dry": null, "place": "{\"floor\":3}" });
    let calls = json!([["route", given], ["route", { "region": "us" }]]);
    let text = |report: &Value, call: usize| -> Value {
        let text = report["calls"][call]["content"][0]["text"].as_str();
        let text = text.unwrap_or_else(|| panic!("{}", report["calls"][call]));
        serde_json::from_str(text).unwrap_or_else(|_| text.into())
    };
    let report = visit_with(TypescriptV2, &calls, &[&url(guarded)]);
    assert_eq!(text(&report, 0), json!({ "region": "eu", "limit": 7, "place": { "floor": 3 } }));
    assert_eq!(text(&report, 1), json!({ "region": "us" }));
}

#[test]
fn a_header_that_contradicts_its_argument_reaches_the_server() {
    let (_server, port) = headers_server();
    let (_guard, guarded) = in_front_of(port, &[]);
    let call = toolbond_harness::mcp::call(1, "route", &json!({ "region": "EU" }));
    let answer = |region: &str| {
        let (head, body) = modern("/mcp", &call);
        ask(guarded, &format!("{head}\r\nmcp-param-region: {region}"), &body)
    };
    let right = answer("EU");
    assert!(right.starts_with("HTTP/1.1 200") && !right.contains("isError"), "{right}");
    let wrong = answer("us");
    assert!(wrong.starts_with("HTTP/1.1 400") && wrong.contains("-32020"), "{wrong}");
}
