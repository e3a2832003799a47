//! Clients on HTTP before a server that is a process: whose answer is whose, and what is left.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread;

use serde_json::json;

use crate::guard_config::{
    File, Guard, PING, bare_command, body, open, post, running, settles, waits,
};
use crate::guard_faults::{descriptors, wait_for_descriptors};
use crate::guard_http::{ask, call};
use crate::guard_peers::peers;

const NATURAL: &str = "\r\nmcp-protocol-version: 2026-07-28";

/// A server that knows a greeting and `ping`.
const SHELL: &str = r#"while read -r line; do case "$line" in
*initialize*) echo '{"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"name":"bare"}}}';;
*ping*) echo '{"jsonrpc":"2.0","id":99,"result":{}}';;
esac; done"#;

#[test]
fn sessions_that_were_ended_or_left_leave_nothing() {
    const SESSIONS: usize = 200;
    let file = format!(
        "[servers.sh]\ncommand = 'sh'\nargs = ['-c', '''{SHELL}''']\nidle-seconds = 1\nmax-sessions = {SESSIONS}\n"
    );
    let file = File::new("sessions", &file);
    let guard = Guard::start(&["guard", "--config", file.path(), "--listen", "127.0.0.1:0"]);
    let port = guard.port("/sh/mcp");
    let session = |n: usize| {
        let head = open(port, "/sh/mcp");
        assert!(ask(port, &head, PING).starts_with("HTTP/1.1 200"));
        // One that listens, and is gone in the middle of it.
        let mut listens = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let get = head.replacen("POST", "GET", 1);
        write!(listens, "{get}\r\nhost: localhost\r\n\r\n").unwrap();
        assert!(listens.read(&mut [0; 16]).unwrap() > 0);
        if n.is_multiple_of(2) {
            let ended = ask(port, &head.replacen("POST", "DELETE", 1), "");
            assert!(ended.starts_with("HTTP/1.1 204"), "{ended}");
        }
    };
    // What is there once is there from the first session on.
    session(0);
    settles("the first session is over", || running(&guard, "") == 0);
    let idle = descriptors(&guard.process);
    thread::scope(|scope| {
        for part in 0..4 {
            let session = &session;
            scope.spawn(move || (part..SESSIONS).step_by(4).for_each(session));
        }
    });
    settles("no process is left", || running(&guard, "") == 0);
    wait_for_descriptors(&guard.process, idle + 2);
}

#[test]
fn an_id_beyond_what_a_double_holds_comes_back_as_it_was() {
    let file = File::new("ids", &bare_command(""));
    let guard = Guard::start(&["guard", "--config", file.path(), "--listen", "127.0.0.1:0"]);
    let port = guard.port("/bare/mcp");
    let session = open(port, "/bare/mcp");
    for head in [&session, &post("/bare/mcp", NATURAL)] {
        for id in ["18446744073709551617", "9007199254740993", "-9223372036854775809", "1.50", "7"]
        {
            let count = call(1, "count", &json!({})).replace("\"id\":1,", &format!("\"id\":{id},"));
            let answer = ask(port, head, &count);
            assert!(answer.contains(&format!("\"id\":{id},")), "{id}: {answer}");
            assert!(answer.contains("\"text\":\"42\""), "{id}: {answer}");
        }
    }
    // It is also what the request is given up by.
    let long = "9007199254740993";
    let wait = waits(1).replace("\"id\":1,", &format!("\"id\":{long},"));
    let mut waiting = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let length = wait.len();
    write!(waiting, "{session}\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{wait}")
        .unwrap();
    assert!(waiting.read(&mut [0; 16]).unwrap() > 0);
    let cancelled = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{long}}}}}"#
    );
    assert!(ask(port, &session, &cancelled).starts_with("HTTP/1.1 202"));
    let answer = ask(port, &session, PING);
    assert!(answer.contains(r#""cancelled":1"#), "{answer}");
}

#[test]
fn requests_without_a_session_are_what_their_head_says_and_nobody_elses() {
    let file = File::new("shared", &bare_command(""));
    let guard = Guard::start(&["guard", "--config", file.path(), "--listen", "127.0.0.1:0"]);
    let port = guard.port("/bare/mcp");
    let natural = post("/bare/mcp", NATURAL);
    let answer = ask(port, &natural, &call(1, "count", &json!({})));
    assert_eq!(body(&answer)["result"]["structuredContent"], 42);

    let mut waiting = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let (wait, length) = (waits(1), waits(1).len());
    write!(waiting, "{natural}\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{wait}")
        .unwrap();
    assert!(waiting.read(&mut [0; 16]).unwrap() > 0);
    for id in 0..4 {
        let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": { "requestId": id } });
        let answer = ask(port, &natural, &cancelled.to_string());
        assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
    }
    assert_eq!(body(&ask(port, &natural, PING))["result"], json!({}));
}

#[test]
fn the_status_names_a_server_that_is_not_greeted() {
    let program = peers().join("bare.mjs");
    let guard = Guard::start(&[
        "guard",
        "--listen",
        "127.0.0.1:0",
        "--status",
        "127.0.0.1:0",
        "--",
        "node",
        program.to_str().unwrap(),
        "--natural",
    ]);
    let (status, port) = (guard.port("status on"), guard.port("/mcp for"));
    let discover = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#;
    let answer = ask(port, &post("/mcp", NATURAL), discover);
    assert!(answer.contains("supportedVersions"), "{answer}");
    let status = body(&ask(status, "GET /status.json HTTP/1.1", ""));
    assert_eq!(status["servers"][0]["server"], "bare 1");
}
