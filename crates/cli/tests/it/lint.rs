//! `toolbond lint` with live servers.

use std::net::TcpListener;

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
