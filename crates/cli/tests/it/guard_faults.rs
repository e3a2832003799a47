//! Servers and clients that break off, hang, flood and talk nonsense: nothing hangs, nothing is left,
//! and the others go on.

use std::io::Write as _;
use std::process::Command;

use serde_json::json;
use toolbond_harness::guard::{Talk, in_front_of};
use toolbond_harness::http::{Connection, ask};
use toolbond_harness::mcp::{POST, call, initialize, request};
use toolbond_harness::process::program;
use toolbond_harness::upstream::Upstream;

use crate::guard_peers::bare;

fn asking(method: &str) -> String {
    request(1, method)
}

#[test]
fn a_server_that_breaks_off_is_said_to_and_the_next_request_is_answered() {
    let upstream = Upstream::start();
    let (_guard, port) = in_front_of(upstream.port, &[]);
    for method in ["close", "half", "garbage"] {
        let answer = ask(port, POST, &asking(method));
        // An answer that ends early is an error for its request alone.
        let status = if method == "half" { "HTTP/1.1 200" } else { "HTTP/1.1 502" };
        assert!(answer.starts_with(status), "{method}: {answer}");
        assert!(answer.contains("\"code\":-32603"), "{method}: {answer}");
        assert!(ask(port, POST, &asking("ping")).starts_with("HTTP/1.1 200"));
    }
    // What is no message is not for the guard to mend.
    assert!(ask(port, POST, &asking("no json")).ends_with("{broken"));
    // What came before it broke off has arrived, and the end of the answer has not.
    let broken = ask(port, POST, &asking("half stream"));
    assert!(broken.contains("notifications/a") && !broken.ends_with("0\r\n\r\n"), "{broken}");
}

#[test]
fn answers_beyond_the_limit_are_refused_before_they_end() {
    let upstream = Upstream::start();
    let (_guard, port) = in_front_of(upstream.port, &["--max-message", "4000000"]);
    let answer = ask(port, POST, &asking("endless"));
    assert!(answer.contains("\"code\":-32603") && answer.contains("--max-message"), "{answer}");
    let stream = ask(port, POST, &asking("endless event"));
    assert!(stream.starts_with("HTTP/1.1 200") && !stream.ends_with("0\r\n\r\n"));
    assert!(stream.len() < 1000, "{} bytes", stream.len());
    upstream.wait_until_gone(2);
    assert!(ask(port, POST, &asking("ping")).starts_with("HTTP/1.1 200"));
}

#[test]
fn a_slow_server_holds_up_nobody_else_and_a_client_that_leaves_takes_its_request_along() {
    let upstream = Upstream::start();
    let (guard, port) = in_front_of(upstream.port, &[]);
    assert!(ask(port, POST, &asking("ping")).starts_with("HTTP/1.1 200"));
    let idle = guard.descriptors();
    for (head, method) in [(POST, "hang"), (POST, "stream"), ("GET /mcp HTTP/1.1", "")] {
        let clients: Vec<_> = (0..20)
            .map(|_| {
                let body = if method.is_empty() { String::new() } else { asking(method) };
                let mut client = Connection::open(port, head, body.as_bytes());
                if method != "hang" {
                    client.wait_for("HTTP/1.1 200");
                }
                client
            })
            .collect();
        assert!(ask(port, POST, &asking("ping")).starts_with("HTTP/1.1 200"));
        drop(clients);
        upstream.wait_until_gone(20);
    }
    guard.wait_for_descriptors(idle + 2);
}

#[test]
fn sessions_leave_no_connection() {
    let (_server, upstream) = bare(&[]);
    let (guard, port) = in_front_of(upstream, &[]);
    let session = |n: usize| {
        let head = format!("{POST}\r\nmcp-session-id: {n}");
        ask(port, &head, &initialize("2025-11-25", &json!({})));
        let answer = ask(port, &head, &call(2, "count", &json!({})));
        assert!(answer.contains(r#""structuredContent":{"result":42}"#), "{answer}");
        let answer = ask(port, &head, &call(3, "ranged", &json!({ "n": 11 })));
        assert!(answer.contains("\"isError\":true"), "{answer}");
        // Gone in the middle of the stream.
        let get = format!("GET /mcp HTTP/1.1\r\nmcp-session-id: {n}");
        Connection::open(port, &get, b"").wait_for("HTTP/1.1 200");
        if n.is_multiple_of(2) {
            ask(port, &format!("DELETE /mcp HTTP/1.1\r\nmcp-session-id: {n}"), "");
        }
    };
    (0..20).for_each(session);
    let open = guard.descriptors();
    (20..120).for_each(session);
    guard.wait_for_descriptors(open + 2);
}

#[test]
fn a_line_beyond_the_limit_is_passed_over_by_a_guard_that_could_not_keep_it() {
    /// More than a guard can keep whose data takes [`DATA`] KiB at most.
    const HUGE: usize = 250_000_000;
    const DATA: usize = 200_000;
    let flood = format!(
        "read -r line; printf '{{\"jsonrpc\":\"2.0\",\"result\":{{\"x\":\"'; head -c {HUGE} /dev/zero | tr '\\0' x; \
         printf '\"}},\"id\":1}}\\n'; while read -r line; do printf '%s\\n' '{{\"jsonrpc\":\"2.0\",\"id\":2,\"result\":{{}}}}'; done"
    );
    let mut command = Command::new("sh");
    command.args(["-c", &format!("ulimit -d {DATA} && exec \"$0\" \"$@\"")]);
    command.arg(program()).args(["guard", "--results-file", "none", "--", "sh", "-c", &flood]);
    let mut talk = Talk::with(command);
    let answer = talk.ask(&asking("ping"));
    assert_eq!(answer["id"], 1);
    assert!(answer["error"]["message"].as_str().unwrap().contains("--max-message"), "{answer}");
    assert_eq!(talk.ask(&asking("ping").replace(":1,", ":2,"))["result"], json!({}));
    // And the other way.
    let input = talk.input.as_mut().unwrap();
    write!(input, "{{\"jsonrpc\":\"2.0\",\"method\":\"ping\",\"x\":\"").unwrap();
    let piece = vec![b'y'; 100_000];
    for _ in 0..HUGE / piece.len() {
        input.write_all(&piece).unwrap();
    }
    let answer = talk.ask("\",\"id\":3}");
    assert_eq!(answer["id"], 3);
    assert_eq!(answer["error"]["code"], -32600);
}
