//! Requests over HTTP that lead around a guard: other spellings of the path, other methods, two hosts.

use std::net::TcpListener;
use std::process::Command;

use toolbond_harness::files::Folder;
use toolbond_harness::guard::{ENFORCE, in_front_of};
use toolbond_harness::http::send;
use toolbond_harness::peers;
use toolbond_harness::process::Process;
use toolbond_harness::skip;
use toolbond_harness::wait::wait_until;

use crate::recorder::{Reached, Record, Recorder, Way, call};

const INVALID: i64 = 500;

/// Sends a call to each target, and gives those at which the tool ran.
fn ran_at(recorder: Recorder, requests: &[(&str, &str)]) -> Vec<String> {
    let mut ran = Vec::new();
    for (method, target) in requests {
        let before = recorder.record.arguments().len();
        let (port, head) = recorder.http();
        let head = head.replacen("POST /mcp", &format!("{method} {target}"), 1);
        let body = call("7", INVALID);
        send(port, &head, body.as_bytes());
        if recorder.record.arguments().len() > before {
            ran.push(format!("{method} {target}"));
        }
    }
    recorder.close();
    ran
}

fn typescript(way: Way, options: &[&str], requests: &[(&str, &str)]) -> Vec<String> {
    ran_at(Recorder::open("recorder-v1.mjs", options, way), requests)
}

/// Other ways to write `/mcp`, and targets beside it.
const TARGETS: [&str; 22] = [
    "/./mcp",
    "/x/../mcp",
    "/%2e/mcp",
    "/x/%2e%2e/mcp",
    "/x/.%2E/mcp",
    "//x/mcp",
    "//mcp",
    "/x//../mcp",
    "/x\\..\\mcp",
    "/\\x/mcp",
    "\\mcp",
    "/mcp#x",
    "/mcp?x",
    "/mcp/",
    "/;/../mcp",
    "http://127.0.0.1/mcp",
    "http://127.0.0.1/x/../mcp",
    "http://elsewhere.example/mcp",
    "http:/mcp",
    "/%6dcp",
    "/m%63p",
    "/\tmcp",
];

#[test]
fn other_spellings_of_the_path_lead_nowhere_unjudged() {
    let requests: Vec<_> = TARGETS.map(|target| ("POST", target)).into();
    let direct = typescript(Way::Http, &[], &requests);
    for target in ["/./mcp", "/x/../mcp", "/%2e/mcp", "/x/%2e%2e/mcp", "//x/mcp", "/x\\..\\mcp"] {
        assert!(direct.contains(&format!("POST {target}")), "{target}: {direct:?}");
    }
    for way in [Way::GuardedHttp, Way::GuardedProcess] {
        assert_eq!(typescript(way, &[], &requests), Vec::<String>::new(), "{way:?}");
    }
}

/// Debian's nginx in front of a server; nothing where it is not installed.
fn nginx(server: u16) -> Option<(Process, u16)> {
    let paths = std::env::var_os("PATH").unwrap_or_default();
    let paths = std::env::split_paths(&paths).chain(["/usr/sbin".into()]);
    let program = paths.map(|path| path.join("nginx")).find(|path| path.exists())?;
    let folder = Folder::new();
    let place = folder.path().display();
    let kinds = ["client_body", "proxy", "fastcgi", "uwsgi", "scgi"];
    let places = kinds.map(|kind| format!("{kind}_temp_path {place}/{kind};")).join(" ");
    loop {
        // Somebody else may take the port before nginx does, and then it ends.
        let port = TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap().port();
        let config = format!(
            "daemon off; master_process off; error_log stderr; pid {place}/pid; events {{}}
            http {{ access_log off; {places} server {{ listen 127.0.0.1:{port};
                location = /mcp {{ proxy_pass http://127.0.0.1:{server}/mcp; }} }} }}"
        );
        let file = folder.write("nginx.conf", config);
        let mut command = Command::new(&program);
        command.args(["-p", &folder.join(""), "-c", &file, "-e", "stderr"]);
        let mut process = Process::start(command);
        let mut has_ended = false;
        wait_until("nginx listens", || {
            has_ended = process.child.try_wait().unwrap().is_some();
            has_ended || std::net::TcpStream::connect(("127.0.0.1", port)).is_ok()
        });
        if !has_ended {
            return Some((process, port));
        }
    }
}

#[test]
fn other_spellings_of_the_path_lead_nowhere_unjudged_before_nginx() {
    let requests: Vec<_> = TARGETS.map(|target| ("POST", target)).into();
    let ran = |is_guarded: bool| {
        let record = Record::new();
        let mut server = peers::command("servers/recorder-v1.mjs");
        server.args([record.path(), "--express"]);
        let (server, port) = Process::listening(server);
        let (nginx, mut port) = nginx(port)?;
        let mut processes = vec![server, nginx];
        if is_guarded {
            let (guard, guarded) = in_front_of(port, &ENFORCE);
            processes.push(guard);
            port = guarded;
        }
        Some(ran_at(Recorder::at(record, Reached::at(port, processes)), &requests))
    };
    let Some(direct) = ran(false) else { return skip("nginx is not installed") };
    for target in ["/./mcp", "/x/../mcp", "/%2e/mcp", "/x/%2e%2e/mcp", "//mcp"] {
        assert!(direct.contains(&format!("POST {target}")), "{target}: {direct:?}");
    }
    assert_eq!(ran(true), Some(Vec::new()));
}

#[test]
fn other_methods_carry_no_call_unjudged() {
    let methods = ["PUT", "PATCH", "GET", "DELETE", "OPTIONS", "QUERY", "HEAD", "post", "PURGE"];
    let requests: Vec<_> = methods.map(|method| (method, "/mcp")).into();
    let options = ["--any-method"];
    let direct = typescript(Way::Http, &options, &requests);
    for method in ["PUT", "PATCH", "GET", "DELETE", "OPTIONS"] {
        assert!(direct.contains(&format!("{method} /mcp")), "{method}: {direct:?}");
    }
    assert_eq!(typescript(Way::GuardedHttp, &options, &requests), Vec::<String>::new());
    // DELETE ends a session.
    let requests: Vec<_> = requests.into_iter().filter(|(method, _)| *method != "DELETE").collect();
    assert_eq!(typescript(Way::GuardedProcess, &options, &requests), Vec::<String>::new());
}

#[test]
fn a_request_with_two_hosts_is_refused() {
    for way in [Way::GuardedHttp, Way::GuardedProcess] {
        let recorder = Recorder::open("recorder-v1.mjs", &[], way);
        let before = recorder.record.arguments().len();
        let (port, head) = recorder.http();
        for hosts in [
            "\r\nhost: 127.0.0.1\r\nhost: evil.example",
            "\r\nhost: evil.example\r\nhost: 127.0.0.1",
            "\r\nhost: 127.0.0.1\r\nhost: 127.0.0.1",
        ] {
            let answer = send(port, &format!("{head}{hosts}"), call("7", 2).as_bytes());
            let answer = String::from_utf8_lossy(&answer).into_owned();
            assert!(answer.starts_with("HTTP/1.1 4"), "{way:?} {hosts:?}: {answer}");
        }
        assert_eq!(recorder.record.arguments().len(), before, "{way:?}");
        recorder.close();
    }
}
