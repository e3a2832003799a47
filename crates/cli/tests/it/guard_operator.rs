//! What somebody meets who starts a guard for the first time: its first line, its log, its status page.

use std::process::{Command, Stdio};

use serde_json::{Value, json};
use toolbond_harness::files::Folder;
use toolbond_harness::guard::{Configured, Talk};
use toolbond_harness::http::{ask, body, body_text};
use toolbond_harness::mcp::{initialize, post};
use toolbond_harness::process::{Process, program, run, toolbond};
use toolbond_harness::skip;
use toolbond_harness::wait::wait_until;

use crate::command::texts;
use crate::guard_peers::{bare_program, bare_table};

/// A guard before the bare server, whose list has bad tools, with these options.
fn bare(options: &[&str]) -> Talk {
    Talk::start(options, &["node", &bare_program(), "--bad"])
}

fn lines_of(log: &str) -> Vec<&str> {
    log.lines().filter(|line| line.starts_with("toolbond: ")).collect()
}

#[test]
fn a_line_of_the_log_has_its_time_and_its_request() {
    let mut talk = bare(&["--arguments", "enforce"]);
    talk.greet(&json!({}));
    talk.request("tools/list", &json!({}));
    let refused = talk.call("ranged", &json!({ "n": 99 }));
    assert_eq!(refused["result"]["isError"], true, "{refused}");
    let log = talk.end();
    let lines = lines_of(&log);
    let is_timed = |line: &&str| {
        let time = line.strip_prefix("toolbond: ").unwrap().split(' ').next().unwrap();
        time.len() == "2026-11-19T04:26:31.120Z".len()
            && time.starts_with("20")
            && time.ends_with('Z')
    };
    assert!(!lines.is_empty() && lines.iter().all(is_timed), "{log}");
    let call = lines.iter().find(|line| line.contains("ranged arguments")).unwrap();
    assert!(call.ends_with("call refused (request \"tools/call\" of test)"), "{call}");
}

#[test]
fn an_option_of_the_guard_after_the_command_is_told() {
    let mut talk = Talk::start(&[], &["node", &bare_program(), "--results=enforce"]);
    talk.greet(&json!({}));
    let log = talk.end();
    assert!(log.contains("`--results` stands after the command, so the server gets it"), "{log}");
}

#[test]
fn a_line_in_json_has_them_too() {
    let mut talk = bare(&["--arguments", "enforce", "--log", "json"]);
    talk.greet(&json!({}));
    talk.request("tools/list", &json!({}));
    talk.call("ranged", &json!({ "n": 99 }));
    let log = talk.end();
    let read = |line: &str| serde_json::from_str::<Value>(line).ok();
    let lines: Vec<Value> = log.lines().filter_map(read).collect();
    assert!(lines.iter().all(|line| line["time"].as_str().unwrap().ends_with('Z')), "{log}");
    let call = lines.iter().find(|line| line["tool"] == "ranged").unwrap();
    assert_eq!((&call["request"], &call["client"]), (&json!("\"tools/call\""), &json!("test")));
}

#[test]
fn the_log_is_as_long_as_it_is_asked_to_be() {
    let conversation = |options: &[&str]| {
        let mut talk = bare(options);
        talk.greet(&json!({}));
        talk.request("tools/list", &json!({}));
        talk.call("ranged", &json!({ "n": 1 }));
        talk.end()
    };
    let quiet = conversation(&["--quiet"]);
    assert!(lines_of(&quiet).iter().all(|line| line.contains(" error")), "{quiet}");
    let verbose = conversation(&["-v"]);
    for said in [
        "guarding bare.mjs for one client",
        "server: connected to ",
        "client: called `ranged` (request \"tools/call\" of test)",
        "arguments of `ranged`: valid",
    ] {
        assert!(verbose.contains(said), "{said}: {verbose}");
    }
    assert!(!conversation(&[]).contains("called `ranged`"));
}

#[test]
fn a_file_takes_the_log_and_leaves_what_the_server_says() {
    let folder = Folder::new();
    let file = folder.join("guard.log");
    for _ in 0..2 {
        let mut command = toolbond(&["guard", "--log-file", &file]);
        command.args(["sh", "-c", "echo out of paper >&2; exit 3"]);
        let (code, _, said) = texts(run(command, ""));
        assert_eq!((code, &*said), (Some(3), "out of paper\n"));
    }
    let log = std::fs::read_to_string(&file).unwrap();
    assert_eq!(log.matches("server: ended with exit status: 3; stderr: out of paper").count(), 2);
    let missing = folder.join("nowhere/guard.log");
    let (code, _, said) =
        texts(toolbond(&["guard", "--log-file", &missing, "cat"]).output().unwrap());
    assert!(code == Some(2) && said.contains("--log-file"), "{said}");
}

#[test]
fn on_a_terminal_the_first_line_says_what_is_guarded() {
    let has_script = Command::new("script").arg("--version").stdout(Stdio::null()).status();
    if !has_script.is_ok_and(|status| status.success()) {
        return skip("`script`, which gives a command a terminal, is not installed");
    }
    let program = program();
    let program = program.to_str().unwrap();
    let line = format!("{program} guard --results-file none sh -c 'exit 0'");
    let mut script = Command::new("script");
    script.args(["-qec", &line, "/dev/null"]).stdin(Stdio::null());
    let (_, said, _) = texts(script.output().unwrap());
    assert!(said.contains("guarding exit 0 for one client on standard input and output"), "{said}");
    // In the configuration of a client there is nothing to greet.
    let (_, _, said) = texts(run(toolbond(&["guard", "sh", "-c", "exit 0"]), ""));
    assert_eq!(said, "");
}

#[test]
fn a_server_that_dies_with_an_open_request_is_one_line() {
    let script = "read line; echo 'npm error 404 Not Found - GET https://a.example/nope' >&2; \
        echo 'npm error A complete log of this run can be found in: /a.log' >&2; exit 1";
    let command = toolbond(&["guard", "sh", "-c", script]);
    let (code, printed, said) = texts(run(command, &(initialize("2025-11-25", &json!({})) + "\n")));
    assert_eq!(code, Some(1));
    let reason = "exit status: 1; stderr: npm error 404 Not Found - GET https://a.example/nope";
    assert!(printed.contains(reason), "{printed}");
    let lines = lines_of(&said);
    assert!(matches!(lines[..], [line] if line.contains(reason)), "{said}");
}

#[test]
fn an_interrupt_says_what_is_waited_for() {
    let mut command =
        toolbond(&["guard", "sh", "-c", "trap '' INT TERM; echo {}; while :; do sleep 1; done"]);
    command.stdin(Stdio::piped()).stdout(Stdio::piped());
    let mut guard = Process::start(command);
    guard.lines().wait_for("{}");
    guard.signal("-INT");
    guard.log().wait_for("a second Ctrl-C kills it at once");
    guard.signal("-INT");
    assert_eq!(guard.wait().code(), Some(137));

    let mut guard = Configured::start(&bare_table(""));
    guard.port("/bare/mcp");
    guard.process.signal("-INT");
    guard.process.log().wait_for("open calls have 10 s to finish; a second Ctrl-C");
    assert_eq!(guard.process.wait().code(), Some(0));
}

#[test]
fn a_wrong_path_is_answered_with_the_right_ones() {
    let guard = Configured::start(&bare_table(""));
    let port = guard.port("/bare/mcp");
    for path in ["/", "/mcp", "/bare", "/bare/mcp/"] {
        let answer = ask(port, &format!("GET {path} HTTP/1.1"), "");
        assert!(answer.starts_with("HTTP/1.1 404"), "{answer}");
        assert_eq!(body_text(&answer), "no server at this path; there is one at\n/bare/mcp\n");
    }
}

#[test]
fn the_status_page_says_what_went_wrong() {
    let hidden = "[servers.bare.tools.ranged]\nhide = true";
    let text = format!(
        "status = '127.0.0.1:0'\n{}\n[servers.gone]\ncommand = 'sh'\nargs = ['-c', 'echo no key >&2; exit 1']",
        bare_table(hidden)
    );
    let guard = Configured::with(&text, &[]);
    let (port, status) = (guard.port("/bare/mcp"), guard.port("status on"));
    let hello = initialize("2025-11-25", &json!({}));
    ask(port, &post("/gone/mcp", ""), &hello);
    let session = toolbond_harness::mcp::open(port, "/bare/mcp");
    let list = r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#;
    ask(port, &session, list);
    let call = toolbond_harness::mcp::call(7, "ranged", &json!({ "n": 1 }));
    let answer = body(&ask(port, &session, &call));
    assert!(answer["error"]["message"].as_str().unwrap().contains("not offered"), "{answer}");
    let shown = || body(&ask(status, "GET /status.json HTTP/1.1", ""))["servers"].clone();
    wait_until("its end", || !shown()[1]["trouble"].is_null());
    let servers = shown();
    let trouble = servers[1]["trouble"].as_str().unwrap();
    assert_eq!(trouble, "ended with exit status: 1; stderr: no key");
    assert_eq!(servers[1]["last_notices"][0]["severity"], "warning");
    let bare = &servers[0];
    assert_eq!(bare["tools"]["ranged"]["verdict"], "hidden");
    let failed = &bare["failed_calls"][0];
    assert_eq!(
        (&failed["tool"], &failed["client"], &failed["request"]),
        (&json!("ranged"), &json!("test"), &json!("7")),
        "{failed}"
    );
    assert!(failed["message"].as_str().unwrap().contains("not offered"));
    let page = body_text(&ask(status, "GET / HTTP/1.1", ""));
    let order = [
        "not connected: ",
        "no key",
        "Calls that failed",
        "the configuration hides it",
        "<h3>Tools<",
    ];
    let mut rest = &*page;
    for text in order {
        let (_, after) = rest.split_once(text).unwrap_or_else(|| panic!("no `{text}` in {rest}"));
        rest = after;
    }
}
