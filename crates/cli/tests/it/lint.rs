//! `toolbond lint` with live servers.

use std::net::TcpListener;

use serde_json::json;
use toolbond_harness::files::Folder;
use toolbond_harness::process::{Process, example};

use crate::command::{texts, toolbond, toolbond_with};

/// Some servers of 2026-07-28 end when they get `initialize`.
#[test]
fn lints_a_server_that_does_not_know_initialize() {
    let server = example("toolbond-peers", "era_server");
    let server = ["lint", "--target", "none", "--", server.to_str().unwrap(), "modern"];
    let output = toolbond_with(&server, "");
    assert_eq!(output.status.code(), Some(0), "{}", texts(output).2);
}

/// A server in `sh` that calls itself `name`, with one tool, as an old client sees it.
fn named(name: &str) -> String {
    let hello = json!({ "jsonrpc": "2.0", "id": 1, "result": {
        "protocolVersion": "2025-11-25", "capabilities": { "tools": {} },
        "serverInfo": { "name": name, "version": "1" }
    } });
    let list = |id: u8| {
        let tool = json!({ "name": "a", "description": "A.", "inputSchema": { "type": "object", "properties": {} } });
        json!({ "jsonrpc": "2.0", "id": id, "result": { "tools": [tool] } })
    };
    format!(
        "read l; printf '%s\\n' '{hello}'; read l; read l; printf '%s\\n' '{}'; read l; printf '%s\\n' '{}'",
        list(2),
        list(3)
    )
}

#[test]
fn a_live_server_has_the_name_that_it_gives_itself() {
    for (name, shown) in [
        ("shop".to_owned(), "shop".to_owned()),
        ("\u{1b}[2J\n::error::x".to_owned(), "\\u{1b}[2J\\u{a}::error::x".to_owned()),
        ("x".repeat(500), "x".repeat(80)),
        (" ".to_owned(), "sh".to_owned()),
    ] {
        let (code, out, err) = texts(toolbond_with(&["lint", "--", "sh", "-c", &named(&name)], ""));
        assert_eq!(code, Some(0), "{err}");
        assert!(out.starts_with(&format!("{shown}: 1 tool without findings\n")), "{out}");
    }
}

#[test]
fn a_server_that_ends_is_started_once_and_reported() {
    let folder = Folder::new();
    let script = format!("echo x >> {}; echo no key >&2; exit 3", folder.join("started"));
    let output = toolbond(&["lint", "--", "sh", "-c", &script]).output().unwrap();
    let (code, out, err) = texts(output);
    let error = "error: sh: the server ended before it answered `initialize`: exit status: 3; stderr: no key\n";
    assert_eq!((code, out.as_str(), err), (Some(2), "", format!("no key\n{error}")));
    assert_eq!(std::fs::read_to_string(folder.join("started")).unwrap(), "x\n");
}

/// Whoever reads a log learns after 5 s what is waited for.
#[test]
fn a_log_says_what_is_waited_for() {
    let (_listener, url) = silent();
    let output = toolbond(&["lint", "--timeout", "7", &url]).output().unwrap();
    let expected =
        format!("note: waiting for the tools of {url}\nerror: {url}: no tool list within 7 s\n");
    assert_eq!(texts(output), (Some(2), String::new(), expected));
}

/// A listener at which nobody answers, and its URL.
fn silent() -> (TcpListener, String) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    (listener, url)
}

#[test]
fn a_url_that_never_answers_is_told_in_one_line() {
    let (_listener, url) = silent();
    let output = toolbond(&["lint", "--timeout", "1", &url]).output().unwrap();
    let expected = format!("error: {url}: no tool list within 1 s\n");
    assert_eq!(texts(output), (Some(2), String::new(), expected));
}

/// As those of the guard, a server does not outlive the command; and a URL is not waited for.
#[test]
fn a_signal_ends_the_wait_for_a_url() {
    let (listener, url) = silent();
    let mut lint = Process::start(toolbond(&["lint", &url]));
    // It has connected, and so handles signals.
    let _connection = listener.accept().unwrap();
    lint.signal("-INT");
    assert_eq!(lint.wait().code(), Some(130));
}
