//! Clients on HTTP before a server that is a process: whose answer is whose, and what is left.

use std::thread;

use serde_json::{Value, json};
use toolbond_harness::guard::{Configured, listening};
use toolbond_harness::http::{Connection, ask, body, body_text};
use toolbond_harness::mcp::{PING, ask_modern, call, initialize, modern, open, post};
use toolbond_harness::wait::wait_until;

use crate::guard_peers::{BARE_PING, bare_program, bare_table, waits};

const NATURAL: &str = "\r\nmcp-protocol-version: 2026-07-28";

/// How a server in a shell answers `ping`.
const PONG: &str = r#"*ping*) echo '{"jsonrpc":"2.0","id":99,"result":{}}';;"#;

/// A server in a shell that knows a greeting, and more.
pub(crate) fn shell(more: &str, cases: &str) -> (Configured, u16) {
    let hello = r#"echo '{"jsonrpc":"2.0","id":0,"result":{"serverInfo":{"name":"bare"}}}'"#;
    let script = format!(
        r#"while read -r line; do case "$line" in *initialize*) {hello};; {cases} esac; done"#
    );
    let text = format!("[servers.sh]\ncommand = 'sh'\nargs = ['-c', '''{script}''']\n{more}\n");
    let guard = Configured::start(&text);
    let port = guard.port("/sh/mcp");
    (guard, port)
}

/// The bare server.
fn bare() -> (Configured, u16) {
    let guard = Configured::start(&bare_table(""));
    let port = guard.port("/bare/mcp");
    (guard, port)
}

/// The messages of a stream.
fn events(answer: &str) -> Vec<Value> {
    let text = body_text(answer);
    let data = text.split("\n\n").map(|event| {
        let lines = event.split(['\n', '\r']).filter_map(|line| line.strip_prefix("data: "));
        lines.collect::<Vec<_>>().join("\n")
    });
    let data = data.filter(|data| !data.is_empty());
    data.map(|data| serde_json::from_str(&data).unwrap_or_else(|_| panic!("{data}"))).collect()
}

/// Opens the stream of a session, and returns it when its head was there.
pub(crate) fn listens(port: u16, session: &str) -> Connection {
    let mut stream = Connection::open(port, &session.replacen("POST", "GET", 1), b"");
    stream.wait_for("HTTP/1.1 200");
    stream
}

/// Ends a session, and returns the messages that its stream had until then.
fn end(port: u16, session: &str, mut stream: Connection) -> Vec<Value> {
    assert!(ask(port, &session.replacen("POST", "DELETE", 1), "").starts_with("HTTP/1.1 204"));
    events(&String::from_utf8(stream.rest()).unwrap())
}

#[test]
fn what_is_said_before_an_answer_comes_before_it() {
    let ping = r#"*ping*) printf '{"jsonrpc":"2.0",\r"method":"notifications/message"}\n{"jsonrpc":"2.0",\r"id":99,"result":{}}\n';;"#;
    let (_guard, port) = shell("", ping);
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
    assert_eq!(end(port, &session, listens(port, &session)).len(), 1);
}

#[test]
fn a_client_that_reads_misses_nothing() {
    const MANY: usize = 20_000;
    let ping = format!(
        r#"*ping*) seq {MANY} | sed 's/.*/{{"jsonrpc":"2.0","method":"notifications\/message","params":{{"n":&}}}}/'; echo '{{"jsonrpc":"2.0","id":99,"result":{{}}}}';;"#
    );
    let (_guard, port) = shell("", &ping);
    let session = open(port, "/sh/mcp");
    let events = events(&ask(port, &session, PING));
    let seen: Vec<_> = events.iter().filter_map(|event| event["params"]["n"].as_u64()).collect();
    assert_eq!(seen, (1..=MANY as u64).collect::<Vec<_>>());
    assert_eq!(events.last().unwrap()["id"], 99);
}

#[test]
fn what_nobody_reads_is_kept_up_to_a_mebibyte() {
    let cases = r#"*go*) a=$(head -c 300000 /dev/zero | tr '\0' a); for n in $(seq 20); do printf '{"jsonrpc":"2.0","method":"notifications/message","params":{"n":%s,"a":"%s"}}\n' $n $a; done;;"#;
    let (guard, port) = shell("", &format!("{cases} {PONG}"));
    let session = open(port, "/sh/mcp");
    let go = r#"{"jsonrpc":"2.0","method":"notifications/go"}"#;
    let plain = session.replace(", text/event-stream", "");
    assert!(ask(port, &plain, go).starts_with("HTTP/1.1 202"));
    assert_eq!(body(&ask(port, &plain, PING))["id"], 99);
    let kept = end(port, &session, listens(port, &session));
    let seen: Vec<_> = kept.iter().map(|event| event["params"]["n"].clone()).collect();
    assert_eq!(seen, [18, 19, 20]);
    guard.process.log().wait_for("sh: warning: client: has no stream open");
}

#[test]
fn a_session_that_nobody_uses_makes_room_for_a_new_one() {
    let (guard, port) = shell("max-sessions = 2", PONG);
    let (one, two) = (open(port, "/sh/mcp"), open(port, "/sh/mcp"));
    assert!(ask(port, &one, PING).starts_with("HTTP/1.1 200"));
    let three = open(port, "/sh/mcp");
    guard.process.log().wait_for("idle longest");
    assert!(ask(port, &two, PING).starts_with("HTTP/1.1 404"));
    // Those that listen stay.
    let _streams = [listens(port, &one), listens(port, &three)];
    let hello = initialize("2025-11-25", &json!({}));
    assert!(ask(port, &post("/sh/mcp", ""), &hello).starts_with("HTTP/1.1 503"));
    for session in [one, three] {
        assert!(ask(port, &session, PING).starts_with("HTTP/1.1 200"));
    }
}

#[test]
fn sessions_that_were_ended_or_left_leave_nothing() {
    const SESSIONS: usize = 200;
    let (guard, port) = shell(&format!("idle-seconds = 1\nmax-sessions = {SESSIONS}"), PONG);
    let running = || guard.process.children("").len();
    let session = |n: usize| loop {
        let head = open(port, "/sh/mcp");
        // One that is idle for a second is over: on a busy machine there is another one.
        if ask(port, &head, PING).starts_with("HTTP/1.1 404") {
            continue;
        }
        // One that listens, and is gone in the middle of it.
        let mut stream = Connection::open(port, &head.replacen("POST", "GET", 1), b"");
        if stream.line().starts_with("HTTP/1.1 404") {
            continue;
        }
        if n.is_multiple_of(2) {
            let ended = ask(port, &head.replacen("POST", "DELETE", 1), "");
            assert!(ended.starts_with("HTTP/1.1 204"), "{ended}");
        }
        break;
    };
    // What is there once is there from the first session on.
    session(0);
    wait_until("the first session is over", || running() == 0);
    let idle = guard.process.descriptors();
    thread::scope(|scope| {
        for part in 0..4 {
            let session = &session;
            scope.spawn(move || (part..SESSIONS).step_by(4).for_each(session));
        }
    });
    wait_until("no process is left", || running() == 0);
    guard.process.wait_for_descriptors(idle + 2);
}

#[test]
fn an_id_beyond_what_a_double_holds_comes_back_as_it_was() {
    let (_guard, port) = bare();
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
    let mut waiting = Connection::open(port, &session, wait.as_bytes());
    waiting.wait_for("notifications/progress");
    let cancelled = format!(
        r#"{{"jsonrpc":"2.0","method":"notifications/cancelled","params":{{"requestId":{long}}}}}"#
    );
    assert!(ask(port, &session, &cancelled).starts_with("HTTP/1.1 202"));
    let answer = ask(port, &session, PING);
    assert!(answer.contains(r#""cancelled":1"#), "{answer}");
}

#[test]
fn requests_without_a_session_are_what_their_head_says_and_nobody_elses() {
    let (_guard, port) = bare();
    let answer = ask_modern(port, "/bare/mcp", &call(1, "count", &json!({})));
    assert_eq!(body(&answer)["result"]["structuredContent"], 42);

    let (head, wait) = modern("/bare/mcp", &waits(1));
    let mut waiting = Connection::open(port, &head, wait.as_bytes());
    waiting.wait_for("notifications/progress");
    for id in 0..4 {
        let cancelled = json!({ "jsonrpc": "2.0", "method": "notifications/cancelled",
            "params": { "requestId": id } });
        let answer = ask(port, &post("/bare/mcp", NATURAL), &cancelled.to_string());
        assert!(answer.starts_with("HTTP/1.1 202"), "{answer}");
    }
    let ping = ask_modern(port, "/bare/mcp", BARE_PING);
    // The bare server is of an earlier era, so the guard completes its result.
    assert_eq!(body(&ping)["result"], json!({ "resultType": "complete" }));
}

#[test]
fn the_status_names_a_server_that_is_not_greeted() {
    let options = ["--status", "127.0.0.1:0", "--", "node", &bare_program(), "--natural"];
    let (guard, _) = listening(&options);
    let (status, port) = (guard.port("status on"), guard.port("/mcp for"));
    let discover = r#"{"jsonrpc":"2.0","id":1,"method":"server/discover"}"#;
    let answer = ask_modern(port, "/mcp", discover);
    assert!(answer.contains("supportedVersions"), "{answer}");
    let status = body(&ask(status, "GET /status.json HTTP/1.1", ""));
    assert_eq!(status["servers"][0]["server"], "bare 1");
}

#[test]
fn a_stream_of_2025_11_25_is_resumed_where_its_connection_broke() {
    let (guard, port) = bare();
    let session = open(port, "/bare/mcp");
    let head = format!("{session}\r\nmcp-protocol-version: 2025-11-25");
    assert!(ask(port, &session, PING).starts_with("HTTP/1.1 200"));
    let before = guard.process.descriptors();
    let mut stream = Connection::open(port, &head, waits(5).as_bytes());
    let id = stream.wait_for("id: ").trim_end().replace("id: ", "");
    assert_eq!([stream.line(), stream.line()], ["retry: 1000\n", "data:\n"]);
    stream.wait_for("notifications/progress");
    drop(stream);
    // The guard has noticed that the connection broke.
    guard.process.wait_for_descriptors(before);
    assert!(ask(port, &session, PING).starts_with("HTTP/1.1 200"));
    let get = head.replacen("POST", "GET", 1);
    let resumed = ask(port, &format!("{get}\r\nlast-event-id: {id}"), "");
    assert!(resumed.contains("notifications/progress"), "{resumed}");
    assert!(resumed.contains(r#""waited":"#), "{resumed}");
}

/// A large answer is checked on a worker, and the server may end meanwhile.
#[test]
fn a_large_answer_arrives_though_the_server_ends_after_it() {
    const SERVER: &str = r#"while read -r l; do
        id=$(printf '%s' "$l" | sed -n 's/.*"id":\([^,}]*\).*/\1/p')
        say() { printf '{"jsonrpc":"2.0","id":%s,"result":%s}\n' "$id" "$1"; }
        case "$l" in
        *'"initialize"'*) say '{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"s","version":"1"}}';;
        *'"tools/list"'*) say '{"tools":[{"name":"t","inputSchema":{"type":"object"}}]}';;
        *'"tools/call"'*) printf '{"jsonrpc":"2.0","id":%s,"result":{"content":[{"type":"text","text":"%0200000d"}]}}\n' "$id" 7; exit 3;;
        esac; done"#;
    let (_guard, port) = listening(&["--", "sh", "-c", SERVER]);
    let head = open(port, "/mcp");
    let answer = ask(port, &head, &call(2, "t", &json!({})));
    assert!(answer.contains(&"0".repeat(199_999)), "{answer:.300}");
}

#[test]
fn a_call_without_an_id_costs_no_other_message_of_its_batch_the_answer() {
    let (_guard, port) = shell("", PONG);
    let session = open(port, "/sh/mcp");
    for id in ["", r#""id":null,"#] {
        let call =
            format!(r#"{{"jsonrpc":"2.0",{id}"method":"tools/call","params":{{"name":"t"}}}}"#);
        for batch in [format!("[{call},{PING}]"), format!("[{PING},{call}]")] {
            let answer = body(&ask(port, &session, &batch));
            let answers = answer.as_array().unwrap_or_else(|| panic!("{batch}: {answer}"));
            let pong = answers.iter().find(|answer| answer["id"] == 99);
            assert!(pong.is_some_and(|pong| pong["result"].is_object()), "{batch}: {answer}");
            assert!(answers.iter().any(|answer| answer["error"].is_object()), "{batch}: {answer}");
        }
    }
}
