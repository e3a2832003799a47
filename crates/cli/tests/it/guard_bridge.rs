//! Clients on HTTP before a server that is a process: whose answer is whose, and what is left.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use serde_json::{Value, json};
use toolbond_harness::peers;

use crate::guard_config::{
    File, Guard, MODERN_PING, PING, ask_modern, bare_command, body, modern, open, post, running,
    settles, waits,
};
use crate::guard_faults::{descriptors, wait_for_descriptors};
use crate::guard_http::{ask, call};

const NATURAL: &str = "\r\nmcp-protocol-version: 2026-07-28";

/// A server that knows a greeting and `ping`.
const SHELL: &str = r#"while read -r line; do case "$line" in
*initialize*) echo '{"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"name":"bare"}}}';;
*ping*) echo '{"jsonrpc":"2.0","id":99,"result":{}}';;
esac; done"#;

/// A server in a shell that knows a greeting, and more.
fn shell(name: &str, more: &str, cases: &str) -> (File, Guard, u16) {
    let hello = r#"echo '{"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"name":"bare"}}}'"#;
    let script = format!(
        r#"while read -r line; do case "$line" in *initialize*) {hello};; {cases} esac; done"#
    );
    let text = format!("[servers.sh]\ncommand = 'sh'\nargs = ['-c', '''{script}''']\n{more}\n");
    let file = File::new(name, &text);
    let guard = Guard::start(&["guard", "--config", file.path(), "--listen", "127.0.0.1:0"]);
    let port = guard.port("/sh/mcp");
    (file, guard, port)
}

/// The messages of a stream.
fn events(answer: &str) -> Vec<Value> {
    let data = answer.split("\n\n").map(|event| {
        let lines = event.split(['\n', '\r']).filter_map(|line| line.strip_prefix("data: "));
        lines.collect::<Vec<_>>().join("\n")
    });
    let data = data.filter(|data| !data.is_empty());
    data.map(|data| serde_json::from_str(&data).unwrap_or_else(|_| panic!("{data}"))).collect()
}

/// Opens the stream of a session, and gives it when its head was there.
fn listens(port: u16, session: &str) -> TcpStream {
    let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
    stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
    let get = session.replacen("POST", "GET", 1);
    write!(stream, "{get}\r\nhost: localhost\r\n\r\n").unwrap();
    stream.read_exact(&mut [0; 16]).unwrap();
    stream
}

#[test]
fn what_is_said_before_an_answer_comes_before_it() {
    let ping = r#"*ping*) printf '{"jsonrpc":"2.0",\r"method":"notifications/message"}\n{"jsonrpc":"2.0",\r"id":99,"result":{}}\n';;"#;
    let (_file, _guard, port) = shell("together", "", ping);
    let session = open(port, "/sh/mcp");
    for _ in 0..20 {
        let answer = ask(port, &session, PING);
        let events = events(&answer);
        assert_eq!(events.len(), 2, "{answer}");
        assert_eq!(
            (&events[0]["method"], &events[1]["id"]),
            (&json!("notifications/message"), &json!(99))
        );
    }
    // Who takes no stream gets the answer, and the rest where there is one.
    let plain = session.replace(", text/event-stream", "");
    assert_eq!(body(&ask(port, &plain, PING))["id"], 99);
    let mut stream = listens(port, &session);
    assert!(ask(port, &session.replacen("POST", "DELETE", 1), "").starts_with("HTTP/1.1 204"));
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    assert_eq!(events(&rest).len(), 1, "{rest}");
}

#[test]
fn a_client_that_reads_misses_nothing() {
    const MANY: usize = 20_000;
    let ping = format!(
        r#"*ping*) seq {MANY} | sed 's/.*/{{"jsonrpc":"2.0","method":"notifications\/message","params":{{"n":&}}}}/'; echo '{{"jsonrpc":"2.0","id":99,"result":{{}}}}';;"#
    );
    let (_file, _guard, port) = shell("many", "", &ping);
    let session = open(port, "/sh/mcp");
    let events = events(&ask(port, &session, PING));
    let seen: Vec<_> = events.iter().filter_map(|event| event["params"]["n"].as_u64()).collect();
    assert_eq!(seen, (1..=MANY as u64).collect::<Vec<_>>());
    assert_eq!(events.last().unwrap()["id"], 99);
}

#[test]
fn what_nobody_reads_is_kept_up_to_a_mebibyte() {
    let cases = r#"*go*) a=$(head -c 300000 /dev/zero | tr '\0' a); for n in $(seq 20); do printf '{"jsonrpc":"2.0","method":"notifications/message","params":{"n":%s,"a":"%s"}}\n' $n $a; done;;
*ping*) echo '{"jsonrpc":"2.0","id":99,"result":{}}';;"#;
    let (_file, guard, port) = shell("kept", "", cases);
    let session = open(port, "/sh/mcp");
    let go = r#"{"jsonrpc":"2.0","method":"notifications/go"}"#;
    let plain = session.replace(", text/event-stream", "");
    assert!(ask(port, &plain, go).starts_with("HTTP/1.1 202"));
    assert_eq!(body(&ask(port, &plain, PING))["id"], 99);
    let mut stream = listens(port, &session);
    assert!(ask(port, &session.replacen("POST", "DELETE", 1), "").starts_with("HTTP/1.1 204"));
    let mut rest = String::new();
    stream.read_to_string(&mut rest).unwrap();
    let seen: Vec<_> = events(&rest).iter().map(|event| event["params"]["n"].clone()).collect();
    assert_eq!(seen, [18, 19, 20]);
    guard.says(0, "sh: warning: client: has no stream open");
}

#[test]
fn a_session_that_nobody_uses_makes_room_for_a_new_one() {
    let ping = r#"*ping*) echo '{"jsonrpc":"2.0","id":99,"result":{}}';;"#;
    let (_file, guard, port) = shell("room", "max-sessions = 2", ping);
    let (one, two) = (open(port, "/sh/mcp"), open(port, "/sh/mcp"));
    assert!(ask(port, &one, PING).starts_with("HTTP/1.1 200"));
    let three = open(port, "/sh/mcp");
    guard.says(0, "idle longest");
    assert!(ask(port, &two, PING).starts_with("HTTP/1.1 404"));
    // Those that listen stay.
    let _streams = [listens(port, &one), listens(port, &three)];
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
    assert!(ask(port, &post("/sh/mcp", ""), hello).starts_with("HTTP/1.1 503"));
    for session in [one, three] {
        assert!(ask(port, &session, PING).starts_with("HTTP/1.1 200"));
    }
}

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
    let count = call(1, "count", &json!({}));
    for (head, count) in [(session.clone(), count.clone()), modern("/bare/mcp", &count)] {
        for id in ["18446744073709551617", "9007199254740993", "-9223372036854775809", "1.50", "7"]
        {
            let count = count.replace("\"id\":1,", &format!("\"id\":{id},"));
            let answer = ask(port, &head, &count);
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
    let answer = ask_modern(port, "/bare/mcp", &call(1, "count", &json!({})));
    assert_eq!(body(&answer)["result"]["structuredContent"], 42);

    let mut waiting = TcpStream::connect(("127.0.0.1", port)).unwrap();
    let (head, wait) = modern("/bare/mcp", &waits(1));
    let length = wait.len();
    write!(waiting, "{head}\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{wait}").unwrap();
    assert!(waiting.read(&mut [0; 16]).unwrap() > 0);
    for id in 0..4 {
        let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": { "requestId": id } });
        let answer = ask(port, &post("/bare/mcp", NATURAL), &cancelled.to_string());
        assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
    }
    let ping = ask_modern(port, "/bare/mcp", MODERN_PING);
    // The bare server is of an earlier era, so the guard completes its result.
    assert_eq!(body(&ping)["result"], json!({ "resultType": "complete" }));
}

#[test]
fn the_status_names_a_server_that_is_not_greeted() {
    let program = peers::path("servers/bare.mjs");
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
    let answer = ask_modern(port, "/mcp", discover);
    assert!(answer.contains("supportedVersions"), "{answer}");
    let status = body(&ask(status, "GET /status.json HTTP/1.1", ""));
    assert_eq!(status["servers"][0]["server"], "bare 1");
}

#[test]
fn a_stream_of_2025_11_25_is_resumed_where_its_connection_broke() {
    let file = File::new("resumed", &bare_command(""));
    let guard = Guard::start(&["guard", "--config", file.path(), "--listen", "127.0.0.1:0"]);
    let port = guard.port("/bare/mcp");
    let session = open(port, "/bare/mcp");
    let head = format!("{session}\r\nmcp-protocol-version: 2025-11-25");
    let (wait, length) = (waits(5), waits(5).len());
    // The guard may notice that the connection broke only after the answer was sent.
    settles("it is resumed", || {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        write!(stream, "{head}\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{wait}")
            .unwrap();
        let mut seen = String::new();
        while !seen.contains("notifications/progress") {
            let mut buffer = [0; 1024];
            let count = stream.read(&mut buffer).unwrap();
            seen.push_str(&String::from_utf8_lossy(&buffer[..count]));
        }
        let first = seen.split("id: ").nth(1).unwrap();
        assert!(first.contains("\nretry: 1000\ndata:\n\n"), "{seen}");
        let id = first.lines().next().unwrap();
        drop(stream);
        thread::sleep(Duration::from_millis(100));
        assert!(ask(port, &session, PING).starts_with("HTTP/1.1 200"));
        let mut resumed = TcpStream::connect(("127.0.0.1", port)).unwrap();
        resumed.set_read_timeout(Some(Duration::from_secs(2))).unwrap();
        let get = head.replacen("POST", "GET", 1);
        write!(
            resumed,
            "{get}\r\nhost: localhost\r\nlast-event-id: {id}\r\nconnection: close\r\n\r\n"
        )
        .unwrap();
        let mut rest = Vec::new();
        // A stream that was not kept is one that does not end.
        let ends = resumed.read_to_end(&mut rest).is_ok();
        let rest = String::from_utf8(rest).unwrap();
        ends && rest.contains("notifications/progress") && rest.contains(r#""waited":"#)
    });
}
