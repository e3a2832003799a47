//! What an operator sees of a guard: its configuration, its end, its log and its metrics.

use std::ffi::OsString;
use std::fs;
use std::io::Write as _;
use std::net::TcpStream;
use std::os::unix::ffi::OsStringExt as _;
use std::process::{Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolbond_harness::peers;

use crate::command::{toolbond, toolbond_with};
use crate::guard_config::{File, Guard, bare_command, body, open, post, settles};
use crate::guard_http::{Process, ask, call, guard};
use crate::recorder::{HANG, Record};
use crate::upstream::Upstream;

#[test]
fn a_server_that_wants_projection_has_it_though_the_others_do_not() {
    for (all, own, expected) in [
        ("true", "", json!(42)),
        ("true", "[servers.bare.contract]\nno-project = false", json!({ "result": 42 })),
        ("false", "[servers.bare.contract]\nno-project = true", json!(42)),
    ] {
        let text = format!("[contract]\nno-project = {all}\n{}", bare_command(own));
        let file = File::new("no-project", &text);
        let guard = Guard::start(&["guard", "--config", file.path(), "--listen", "127.0.0.1:0"]);
        let port = guard.port("/bare/mcp");
        let session = open(port, "/bare/mcp");
        let answer = body(&ask(port, &session, &call(1, "count", &json!({}))));
        assert_eq!(answer["result"]["structuredContent"], expected, "{all} {own}");
    }
}

#[test]
fn the_status_page_takes_hosts_that_were_allowed_later() {
    let text = |hosts: &str| {
        format!("allow-hosts = [{hosts}]\nstatus = '127.0.0.1:0'\n{}", bare_command(""))
    };
    let file = File::new("hosts", &text(""));
    let guard = Guard::start(&["guard", "--config", file.path(), "--listen", "127.0.0.1:0"]);
    let (port, status) = (guard.port("/bare/mcp"), guard.port("status on"));
    let shown = || ask(status, "GET /status.json HTTP/1.1\r\nhost: tools.example", "");
    assert!(shown().starts_with("HTTP/1.1 403"));
    file.write(&text("'tools.example'"));
    let ping = || ask(port, &post("/bare/mcp", "\r\nhost: tools.example"), "{}");
    settles("clients may use the name", || !ping().starts_with("HTTP/1.1 403"));
    settles("the page is shown", || shown().starts_with("HTTP/1.1 200"));
    file.write(&text(""));
    settles("clients may not use the name", || ping().starts_with("HTTP/1.1 403"));
    settles("the page is not shown", || shown().starts_with("HTTP/1.1 403"));
}

fn interrupt(process: &Process) {
    let id = process.0.id().to_string();
    // One that has ended meanwhile takes no signal.
    let _ = Command::new("kill").args(["-INT", &id]).stderr(Stdio::null()).status();
}

/// Interrupts `patient` once and `hurried` until it ends, which it does first.
fn ends_before(mut hurried: Process, mut patient: Process) {
    interrupt(&patient);
    let start = Instant::now();
    while hurried.0.try_wait().unwrap().is_none() {
        assert!(patient.0.try_wait().unwrap().is_none(), "the one that was told once ended first");
        assert!(start.elapsed() < HANG, "it does not end");
        interrupt(&hurried);
        sleep(Duration::from_millis(50));
    }
    assert!(patient.0.try_wait().unwrap().is_none(), "both ended");
}

#[test]
fn a_second_interrupt_ends_a_guard_that_waits_for_a_call() {
    let upstream = Upstream::start();
    let waiting = || {
        let (guard, port) = guard(upstream.port, &[]);
        let body = r#"{"jsonrpc":"2.0","id":1,"method":"hang"}"#;
        let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let length = body.len();
        write!(
            client,
            "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{body}"
        )
        .unwrap();
        // Another one is answered after this one was sent on.
        let ping = r#"{"jsonrpc":"2.0","id":1,"method":"ping"}"#;
        assert!(ask(port, "POST /mcp HTTP/1.1", ping).starts_with("HTTP/1.1 200"));
        (guard, client)
    };
    let ((patient, _one), (hurried, _two)) = (waiting(), waiting());
    ends_before(hurried, patient);
}

#[test]
fn a_second_interrupt_ends_a_guard_whose_server_does_not_end() {
    let waiting = || {
        let record = Record::new();
        let script =
            format!("trap '' INT TERM; echo on > {}; while :; do sleep 1; done", record.path());
        let mut command = toolbond(&["guard", "--", "sh", "-c", &script]);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::null());
        let process = Process(command.spawn().unwrap());
        settles("the server runs", || record.0.exists());
        process
    };
    let (patient, hurried) = (waiting(), waiting());
    ends_before(hurried, patient);
}

#[test]
fn arguments_of_a_process_may_be_no_unicode() {
    let record = Record::new();
    let odd = OsString::from_vec(b"a\xff\xfe".to_vec());
    let script = format!(
        r#"printf '%s' "$0" > {}; read -r line; echo '{{"jsonrpc":"2.0","id":1,"result":{{}}}}'"#,
        record.path()
    );
    let run = |verb: &[&str]| {
        let _ = fs::remove_file(&record.0);
        let mut command = toolbond(verb);
        command.args(["--", "sh", "-c", &script]).arg(&odd);
        command.stdin(Stdio::piped()).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut process = Process(command.spawn().unwrap());
        let mut stdin = process.0.stdin.take().unwrap();
        // One that ended does not read.
        let _ = stdin.write_all(b"{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\"}\n");
        (process, stdin)
    };
    for verb in [&["guard"][..], &["lint"]] {
        let (mut process, stdin) = run(verb);
        drop(stdin);
        let status = process.0.wait().unwrap();
        assert_ne!(status.code(), Some(101), "{verb:?} panics");
        assert_eq!(fs::read(&record.0).unwrap_or_default(), b"a\xff\xfe", "{verb:?}");
    }
    let (mut process, _stdin) = run(&["guard", "--listen", "127.0.0.1:0"]);
    let port = crate::guard_http::port_of(&mut process);
    let hello = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{}}"#;
    let answer = ask(port, &post("/mcp", ""), hello);
    assert!(answer.starts_with("HTTP/1.1 200"), "{answer}");
    assert_eq!(fs::read(&record.0).unwrap_or_default(), b"a\xff\xfe");
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
        let guard = ["guard", "--log", log, "--"];
        let server = server.iter().map(String::as_str);
        let command: Vec<&str> = guard.into_iter().chain(server).chain([record.path()]).collect();
        let lines = [
            call(1, "ranged", &json!({ "n": SECRET })),
            call(2, "ranged", &json!({ "n": 1, SECRET: SECRET })),
            call(3, "ranged", &json!(SECRET)),
            call(4, "ranged", &json!({ "n": [SECRET] })),
        ];
        let output = toolbond_with(&command, &(lines.join("\n") + "\n"));
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
    let file = Record::new();
    fs::write(&file.0, script.to_string()).unwrap();
    let server = peers::words("servers/scripted.py");
    let mut command = vec!["guard", "--tools", "off", "--status", "127.0.0.1:0", "--"];
    command.extend(server.iter().map(String::as_str).chain([file.path()]));
    let mut guard = Guard::start(&command);
    let status = guard.port("status on");
    let mut input = guard.process.0.stdin.take().unwrap();
    for (id, name) in (1..).zip(names) {
        writeln!(input, "{}", call(id, name, &json!({}))).unwrap();
    }
    let calls = || {
        let status: Value = body(&ask(status, "GET /status.json HTTP/1.1", ""));
        names.iter().all(|name| status["servers"][0]["tools"][name]["calls"] == 1)
    };
    settles("the calls are counted", calls);
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
    let server = toolbond_harness::process::example("toolbond", "weather");
    if !server.exists() {
        let build = ["build", "--quiet", "--package", "toolbond", "--example", "weather"];
        assert!(Command::new(env!("CARGO")).args(build).status().unwrap().success());
    }
    let output = Command::new(server).arg(OsString::from_vec(b"\xff".to_vec())).output().unwrap();
    assert_ne!(output.status.code(), Some(101), "{}", String::from_utf8_lossy(&output.stderr));
}
