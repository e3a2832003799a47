//! Requests over HTTP that lead around a guard: other spellings of the path, other methods, two hosts.

use crate::recorder::{Recorder, Way, call, send};

const INVALID: i64 = 500;

/// Sends a call to each target, and gives those at which the tool ran.
fn ran_at(way: Way, options: &[&str], requests: &[(&str, &str)]) -> Vec<String> {
    let mut ran = Vec::new();
    let recorder = Recorder::open("recorder-v1.mjs", options, way);
    for (method, target) in requests {
        let before = recorder.record.arguments().len();
        let (port, head) = recorder.http();
        let head = head.replacen("POST /mcp", &format!("{method} {target}"), 1);
        let body = call("7", INVALID);
        send(port, &format!("{head}\r\ncontent-type: application/json"), body.as_bytes());
        if recorder.record.arguments().len() > before {
            ran.push(format!("{method} {target}"));
        }
    }
    recorder.close();
    ran
}

#[test]
fn other_spellings_of_the_path_lead_nowhere_unjudged() {
    let targets = [
        "/./mcp",
        "/x/../mcp",
        "/%2e/mcp",
        "/x/%2e%2e/mcp",
        "/x/.%2E/mcp",
        "//x/mcp",
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
    let requests: Vec<_> = targets.map(|target| ("POST", target)).into();
    let direct = ran_at(Way::Http, &[], &requests);
    for target in ["/./mcp", "/x/../mcp", "/%2e/mcp", "/x/%2e%2e/mcp", "//x/mcp", "/x\\..\\mcp"] {
        assert!(direct.contains(&format!("POST {target}")), "{target}: {direct:?}");
    }
    assert_eq!(ran_at(Way::GuardedHttp, &[], &requests), Vec::<String>::new());
}

#[test]
fn other_methods_carry_no_call_unjudged() {
    let methods = ["PUT", "PATCH", "GET", "DELETE", "OPTIONS", "QUERY", "HEAD", "post", "PURGE"];
    let requests: Vec<_> = methods.map(|method| (method, "/mcp")).into();
    let options = ["--any-method"];
    let direct = ran_at(Way::Http, &options, &requests);
    for method in ["PUT", "PATCH", "GET", "DELETE", "OPTIONS"] {
        assert!(direct.contains(&format!("{method} /mcp")), "{method}: {direct:?}");
    }
    assert_eq!(ran_at(Way::GuardedHttp, &options, &requests), Vec::<String>::new());
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
            let head = format!("{head}{hosts}\r\ncontent-type: application/json");
            let answer = send(port, &head, call("7", 2).as_bytes());
            let answer = String::from_utf8_lossy(&answer).into_owned();
            assert!(answer.starts_with("HTTP/1.1 4"), "{way:?} {hosts:?}: {answer}");
        }
        assert_eq!(recorder.record.arguments().len(), before, "{way:?}");
        recorder.close();
    }
}
