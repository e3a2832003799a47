//! What an operator sees of a guard: its configuration, its end, its log and its metrics.

use std::ffi::OsString;
use std::fs;
use std::os::unix::ffi::OsStringExt as _;
use std::process::{Command, Stdio};

use serde_json::{Value, json};
use toolbond_harness::files::Folder;
use toolbond_harness::guard::{Configured, Talk, in_front_of};
use toolbond_harness::http::{Connection, ask, body};
use toolbond_harness::mcp::{PING, POST, call, open, post};
use toolbond_harness::peers;
use toolbond_harness::process::{Process, example, run, toolbond};
use toolbond_harness::upstream::Upstream;
use toolbond_harness::wait::wait_until;

use crate::guard_peers::bare_table;
use crate::recorder::Record;

#[test]
fn a_server_that_wants_projection_has_it_though_the_others_do_not() {
    for (all, own, expected) in [
        ("true", "", json!(42)),
        ("true", "[servers.bare.contract]\nno-project = false", json!({ "result": 42 })),
        ("false", "[servers.bare.contract]\nno-project = true", json!(42)),
    ] {
        let text = format!("[contract]\nno-project = {all}\n{}", bare_table(own));
        let guard = Configured::start(&text);
        let port = guard.port("/bare/mcp");
        let session = open(port, "/bare/mcp");
        let answer = body(&ask(port, &session, &call(1, "count", &json!({}))));
        assert_eq!(answer["result"]["structuredContent"], expected, "{all} {own}");
    }
}

#[test]
fn the_status_page_takes_hosts_that_were_allowed_later() {
    let text = |hosts: &str| {
        format!("allow-hosts = [{hosts}]\nstatus = '127.0.0.1:0'\n{}", bare_table(""))
    };
    let guard = Configured::start(&text(""));
    let (port, status) = (guard.port("/bare/mcp"), guard.port("status on"));
    let shown = || ask(status, "GET /status.json HTTP/1.1\r\nhost: tools.example", "");
    assert!(shown().starts_with("HTTP/1.1 403"));
    guard.write(&text("'tools.example'"));
    let ping = || ask(port, &post("/bare/mcp", "\r\nhost: tools.example"), "{}");
    wait_until("clients may use the name", || !ping().starts_with("HTTP/1.1 403"));
    wait_until("the page is shown", || shown().starts_with("HTTP/1.1 200"));
    guard.write(&text(""));
    wait_until("clients may not use the name", || ping().starts_with("HTTP/1.1 403"));
    wait_until("the page is not shown", || shown().starts_with("HTTP/1.1 403"));
}

fn interrupt(process: &Process) {
    // One that has ended meanwhile takes no signal.
    let id = process.id().to_string();
    let _ = Command::new("kill").args(["-INT", &id]).stderr(Stdio::null()).status();
}

#[test]
fn a_second_interrupt_ends_a_guard_that_waits_for_a_call() {
    let upstream = Upstream::start();
    let (mut guard, port) = in_front_of(upstream.port, &[]);
    let _waiting = Connection::open(port, POST, br#"{"jsonrpc":"2.0","id":1,"method":"hang"}"#);
    // Another one is answered after this one was sent on.
    assert!(ask(port, POST, PING).starts_with("HTTP/1.1 200"));
    wait_until("it ends", || {
        interrupt(&guard);
        guard.child.try_wait().unwrap().is_some()
    });
    // One that has waited in vain for the call ends with 0.
    assert_eq!(guard.wait().code(), Some(130));
}

#[test]
fn a_second_interrupt_ends_a_guard_whose_server_does_not_end() {
    let start = || {
        let folder = Folder::new();
        let script =
            format!("trap '' INT TERM; echo > {}; while :; do sleep 1; done", folder.join("on"));
        let mut command = toolbond(&["guard", "--", "sh", "-c", &script]);
        command.stdin(Stdio::piped()).stdout(Stdio::null());
        let process = Process::start(command);
        wait_until("the server runs", || folder.path().join("on").exists());
        process
    };
    // One that is interrupted once kills its server after a while. One that is interrupted later and again ends first:
    // one of a few times, however busy the machine is.
    let is_first = (0..5).any(|_| {
        let (mut patient, mut hurried) = (start(), start());
        interrupt(&patient);
        wait_until("it ends", || {
            interrupt(&hurried);
            hurried.child.try_wait().unwrap().is_some()
        });
        patient.child.try_wait().unwrap().is_none()
    });
    assert!(is_first, "it waits for its server");
}

#[test]
fn arguments_of_a_process_may_be_no_unicode() {
    let folder = Folder::new();
    let odd = OsString::from_vec(b"a\xff\xfe".to_vec());
    let script = format!(
        r#"printf '%s' "$0" > {}; read -r line; echo '{{"jsonrpc":"2.0","id":1,"result":{{}}}}'"#,
        folder.join("argument")
    );
    let command = |verb: &[&str]| {
        let mut command = toolbond(verb);
        command.args(["--", "sh", "-c", &script]).arg(&odd);
        command
    };
    let check = |verb: &[&str]| {
        let argument = fs::read(folder.join("argument")).unwrap_or_default();
        assert_eq!(argument, b"a\xff\xfe", "{verb:?}");
        fs::remove_file(folder.join("argument")).unwrap();
    };
    for verb in [&["guard"][..], &["lint"]] {
        let output = run(command(verb), "{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
        assert_ne!(output.status.code(), Some(101), "{verb:?} panics");
        check(verb);
    }
    let verb = ["guard", "--listen", "127.0.0.1:0"];
    let (_guard, port) = Process::listening(command(&verb));
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    let answer = ask(port, &post("/mcp", ""), hello);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    check(&verb);
}

#[test]
fn a_program_that_is_no_unicode_is_not_found_without_a_panic() {
    let odd = OsString::from_vec(b"no-such\xff".to_vec());
    for verb in [&["guard"][..], &["lint"], &["guard", "--listen", "127.0.0.1:0"]] {
        let output = toolbond(verb).arg("--").arg(&odd).output().unwrap();
        assert_eq!(output.status.code(), Some(2), "{verb:?}: {output:?}");
    }
}

#[test]
fn values_of_arguments_are_not_logged() {
    const SECRET: &str = "hunter2-and-more";
    let server = peers::words("servers/lenient.py");
    let record = Record::new();
    for log in ["text", "json"] {
        let mut command = vec!["guard", "--log", log, "--"];
        command.extend(server.iter().map(String::as_str).chain([record.path()]));
        let lines = [
            call(1, "ranged", &json!({ "n": SECRET })),
            call(2, "ranged", &json!({ "n": 1, SECRET: SECRET })),
            call(3, "ranged", &json!(SECRET)),
            call(4, "ranged", &json!({ "n": [SECRET] })),
        ];
        let output = run(toolbond(&command), &(lines.join("\n") + "\n"));
        let said = String::from_utf8(output.stderr).unwrap();
        // It is said what is wrong, and to the client what was found.
        assert!(said.contains("ranged") && said.contains("#/n"), "{said}");
        assert!(String::from_utf8(output.stdout).unwrap().contains(SECRET));
        assert!(!said.contains(SECRET), "{log}: {said}");
    }
}

/// Whether a line of metrics is a name, labels whose values are escaped, and a number.
fn is_metric(line: &str) -> bool {
    let Some((name, rest)) = line.split_once('{') else { return line.split(' ').count() == 2 };
    let is_name = |name: &str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_')
    };
    let mut rest = rest;
    loop {
        let Some((label, value)) = rest.split_once("=\"") else { return false };
        let mut escaped = false;
        let end = value.bytes().position(|byte| {
            let ends = byte == b'"' && !escaped;
            escaped = byte == b'\\' && !escaped;
            ends
        });
        let Some(end) = end else { return false };
        if !is_name(label) {
            return false;
        }
        rest = &value[end + 1..];
        match rest.strip_prefix(',') {
            Some(more) => rest = more,
            None => break,
        }
    }
    let number = rest.strip_prefix("} ").and_then(|number| number.split(' ').next());
    is_name(name) && number.is_some_and(|number| number.parse::<f64>().is_ok())
}

#[test]
fn names_of_tools_are_escaped_in_metrics() {
    let names = ["quote\"d", "back\\slash", "two\nlines", "a\"} 1\ntoolbond_calls_total{tool=\"b"];
    let tool = |name: &&str| json!({ "name": name, "inputSchema": { "type": "object" } });
    let script = json!({ "pages": [names.iter().map(tool).collect::<Vec<_>>()] });
    let folder = Folder::new();
    let file = folder.write("script.json", script.to_string());
    let server = peers::words("servers/scripted.py");
    let server = server.iter().map(String::as_str).chain([&file[..]]);
    let options = ["--tools", "off", "--status", "127.0.0.1:0"];
    let mut talk = Talk::start(&options, &server.collect::<Vec<_>>());
    let status = talk.guard.port("status on");
    for (id, name) in (1..).zip(names) {
        talk.send(&call(id, name, &json!({})));
    }
    let calls = || {
        let status: Value = body(&ask(status, "GET /status.json HTTP/1.1", ""));
        names.iter().all(|name| status["servers"][0]["tools"][name]["calls"] == 1)
    };
    wait_until("the calls are counted", calls);
    let metrics = ask(status, "GET /metrics HTTP/1.1", "");
    let text = metrics.split_once("\r\n\r\n").unwrap().1;
    for line in text.lines().filter(|line| !line.starts_with('#')) {
        assert!(is_metric(line), "{line}\n{text}");
    }
    assert!(text.contains(r#"tool="quote\"d""#), "{text}");
    assert!(text.contains(r#"tool="back\\slash""#), "{text}");
    assert!(text.contains(r#"tool="two\nlines""#), "{text}");
}

#[test]
fn a_server_of_the_library_takes_arguments_that_are_no_unicode() {
    let server = example("toolbond", "weather");
    let output = Command::new(server).arg(OsString::from_vec(b"\xff".to_vec())).output().unwrap();
    assert_ne!(output.status.code(), Some(101), "{}", String::from_utf8_lossy(&output.stderr));
}
