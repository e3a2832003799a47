//! `toolbond guard --config`, `--status`, and commands for clients on HTTP.

use std::io::Read as _;
use std::os::unix::fs::PermissionsExt as _;
use std::thread;

use serde_json::{Value, json};
use toolbond_harness::files::Folder;
use toolbond_harness::guard::{Configured, Talk, listening};
use toolbond_harness::http::{Connection, ask, body};
use toolbond_harness::mcp::{PING, ask_modern, call, initialize, modern, open, post, url};
use toolbond_harness::upstream::Upstream;
use toolbond_harness::wait::wait_until;

use crate::guard_peers::{BARE_PING, bare, bare_program, bare_table, visit, waits};

/// The processes that run the bare server for a guard.
fn children(guard: &Configured) -> usize {
    guard.process.children("bare.mjs").len()
}

fn hello() -> String {
    initialize("2025-11-25", &json!({}))
}

#[test]
fn several_servers_are_reached_by_name() {
    let (_server, upstream) = bare(&[]);
    let remote = format!("[servers.remote]\nurl = '{}'\n", url(upstream));
    let guard = Configured::start(&(bare_table("max-sessions = 2") + &remote));
    let port = guard.port("/bare/mcp");

    let remote = post("/remote/mcp", "\r\nmcp-protocol-version: 2025-11-25");
    let answer = ask(port, &remote, &call(1, "count", &json!({})));
    assert_eq!(body(&answer)["result"]["structuredContent"], json!({ "result": 42 }));
    assert!(ask(port, &post("/nobody/mcp", ""), PING).starts_with("HTTP/1.1 404"));
    assert!(
        ask(port, &format!("{remote}\r\nhost: evil.example"), PING).starts_with("HTTP/1.1 403")
    );

    // A session has a process of its own, which ends with it.
    let (one, two) = (open(port, "/bare/mcp"), open(port, "/bare/mcp"));
    assert_eq!(children(&guard), 2);
    let answer = ask(port, &one, &call(1, "count", &json!({})));
    assert_eq!(body(&answer)["result"]["structuredContent"], json!({ "result": 42 }));
    let answer = ask(port, &two, &call(1, "ranged", &json!({ "n": 11 })));
    assert_eq!(body(&answer)["result"]["isError"], true);
    guard.process.log().wait_for("Z bare: ");
    assert!(ask(port, &one.replace("POST", "DELETE"), "").starts_with("HTTP/1.1 204"));
    assert!(ask(port, &one, PING).starts_with("HTTP/1.1 404"));
    wait_until("the process of a session that ended is gone", || children(&guard) == 1);
    assert!(ask(port, &two, PING).starts_with("HTTP/1.1 200"));

    // Without a session.
    assert!(ask(port, &post("/bare/mcp", ""), PING).starts_with("HTTP/1.1 400"));
    let clients: Vec<_> =
        (0..3).map(|_| thread::spawn(move || ask_modern(port, "/bare/mcp", &waits(7)))).collect();
    wait_until("all wait", || {
        let answer = ask_modern(port, "/bare/mcp", &call(7, "count", &json!({})));
        assert_eq!(body(&answer)["id"], 7);
        assert_eq!(body(&answer)["result"]["structuredContent"], 42);
        children(&guard) == 2
    });
    for client in clients {
        wait_until("the answer", || {
            ask_modern(port, "/bare/mcp", BARE_PING);
            client.is_finished()
        });
        let answer = client.join().unwrap();
        // What came before the answer makes it a stream; ids and tokens are those of the client.
        assert!(answer.contains("text/event-stream"), "{answer}");
        assert!(answer.contains("x-accel-buffering: no"), "{answer}");
        assert!(answer.contains(r#""progressToken":7"#), "{answer}");
        assert!(answer.contains(r#""id":7,"result""#), "{answer}");
    }

    // A request whose client is gone is cancelled, unless the next ping is faster and answers it.
    let (natural, body) = modern("/bare/mcp", &waits(8));
    wait_until("it is cancelled", || {
        Connection::open(port, &natural, body.as_bytes()).wait_for("progressToken");
        ask_modern(port, "/bare/mcp", BARE_PING).contains(r#""cancelled":"#)
    });

    drop(two);
    guard.process.signal("-TERM");
    wait_until("nothing is left", || children(&guard) == 0);
}

#[test]
fn lines_of_json_name_their_server() {
    let text = bare_table("[servers.other]\ncommand = 'sh'");
    let guard = Configured::with(&text, &["--log", "json", "--status", "127.0.0.1:0"]);
    let port = guard.port("/bare/mcp");
    let session = open(port, "/bare/mcp");
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    assert!(ask(port, &session, list).starts_with("HTTP/1.1 200"));
    let read = |text| serde_json::from_str::<Value>(&guard.process.log().wait_for(text)).unwrap();
    assert_eq!(read("no_input")["server"], "bare");
    assert_eq!(read("/bare/mcp")["server"], "bare");
    assert_eq!(read("/other/mcp")["server"], "other");
    assert_eq!(read("status on")["severity"], "info");
}

#[test]
fn an_idle_session_and_a_process_that_died_are_over() {
    let guard = Configured::start(&bare_table("idle-seconds = 1"));
    let port = guard.port("/bare/mcp");
    let session = open(port, "/bare/mcp");
    wait_until("an idle session ends", || children(&guard) == 0);
    assert!(ask(port, &session, PING).starts_with("HTTP/1.1 404"));

    // One that is there, and cannot be started.
    let folder = Folder::new();
    let program = folder.write("program", "#!/no/such/interpreter\n");
    std::fs::set_permissions(&program, std::fs::Permissions::from_mode(0o755)).unwrap();
    let guard = Configured::start(&format!("[servers.gone]\ncommand = '{program}'"));
    let answer = ask(guard.port("/gone/mcp"), &post("/gone/mcp", ""), &hello());
    assert!(answer.starts_with("HTTP/1.1 502") && answer.contains("could not start"), "{answer}");

    let guard = Configured::start("[servers.dies]\ncommand = 'sh'\nargs = ['-c', 'read line']");
    let answer = ask(guard.port("/dies/mcp"), &post("/dies/mcp", ""), &hello());
    assert_eq!(body(&answer)["error"]["code"], -32603, "{answer}");
    assert!(!answer.contains("mcp-session-id"));
}

#[test]
fn a_client_that_leaves_before_its_session_is_open_leaves_none() {
    let guard = Configured::start(
        "[servers.mute]\ncommand = 'sh'\nargs = ['-c', 'cat > /dev/null']\nmax-sessions = 1",
    );
    let port = guard.port("/mute/mcp");
    assert!(ask(port, &post("/mute/mcp", ""), "[]").starts_with("HTTP/1.1 400"));
    let running = || guard.process.children("cat").len();
    for _ in 0..2 {
        let client = Connection::open(port, &post("/mute/mcp", ""), hello().as_bytes());
        wait_until("a session is opened", || running() == 1);
        drop(client);
        wait_until("a session that nobody has is over", || running() == 0);
    }
}

#[test]
fn a_guard_that_ends_waits_for_calls_and_not_for_streams() {
    let upstream = Upstream::start();
    let remote = format!("[servers.remote]\nurl = '{}'\n", url(upstream.port));
    let guard = Configured::start(&(bare_table("") + &remote));
    let port = guard.port("/bare/mcp");
    let session = open(port, "/bare/mcp");
    let send = |head: &str, body: &str| {
        let mut connection = Connection::open(port, head, body.as_bytes());
        // The head of the answer at least.
        connection.wait_for("HTTP/1.1 200");
        connection
    };
    let stream = send(&session.replace("POST", "GET"), "");
    let remote = send(&post("/remote/mcp", "").replace("POST", "GET"), "");
    let mut call = send(&session, &waits(1));
    guard.process.signal("-TERM");
    for mut stream in [stream, remote] {
        stream.reader.read_to_end(&mut Vec::new()).unwrap();
    }
    assert_eq!(children(&guard), 1, "the call goes on");
    call.reader.get_ref().set_nonblocking(true).unwrap();
    let error = call.reader.read_to_end(&mut Vec::new()).expect_err("the call goes on");
    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn changes_are_in_force_from_the_next_call_and_sessions_go_on() {
    let guard = Configured::start(&bare_table(""));
    let port = guard.port("/bare/mcp");
    let session = open(port, "/bare/mcp");
    let count = |id| ask(port, &session, &call(id, "count", &json!({})));
    assert_eq!(body(&count(1))["result"]["structuredContent"], json!({ "result": 42 }));
    let slow = {
        let session = session.clone();
        thread::spawn(move || ask(port, &session, &waits(5)))
    };

    let from = guard.process.log().lines().len();
    guard.write(&bare_table("[servers.bare.tools.count]\nhide = true"));
    guard.process.log().wait_after(from, "configuration: applied");
    assert!(count(2).contains("its operator hides it"), "{}", count(3));
    let list = r#"{"jsonrpc":"2.0","id":4,"method":"tools/list"}"#;
    assert!(!ask(port, &session, list).contains(r#""count""#));

    // What is wrong is said, and what was before stays.
    let from = guard.process.log().lines().len();
    guard.write("[servers.bare]\ncomand = 'x'\n");
    let line = guard.process.log().wait_after(from, "stays in force");
    assert!(line.contains(":2:1: unknown key `comand`"), "{line}");
    assert!(count(6).contains("its operator hides it"));

    let from = guard.process.log().lines().len();
    guard.write(&bare_table(""));
    guard.process.log().wait_after(from, "configuration: applied");
    assert_eq!(body(&count(7))["result"]["structuredContent"], json!({ "result": 42 }));

    // The call that was open all the time is answered by the process that it was sent to.
    assert!(!slow.is_finished());
    ask(port, &session, PING);
    let answer = slow.join().unwrap();
    assert!(answer.contains(r#""id":5,"result":{"content":[],"waited":"#), "{answer}");

    // SIGHUP reads the file again.
    let from = guard.process.log().lines().len();
    guard.process.signal("-HUP");
    guard.process.log().wait_after(from, "configuration: applied");
    assert_eq!(body(&count(8))["result"]["structuredContent"], json!({ "result": 42 }));
}

#[test]
fn the_status_of_a_guard_is_shown() {
    let options = ["--tools", "filter", "--status", "127.0.0.1:0"];
    let mut talk = Talk::start(&options, &["node", &bare_program(), "--bad"]);
    let port = talk.guard.port("status on");
    talk.greet(&json!({}));
    talk.call("count", &json!({}));
    talk.call("ranged", &json!({ "n": 11 }));
    talk.call("lying", &json!({}));
    talk.call("<script>alert(1)</script>", &json!({}));

    let status = body(&ask(port, "GET /status.json HTTP/1.1", ""));
    let server = &status["servers"][0];
    assert_eq!(server["server"], "bare 1");
    assert_eq!(server["revisions"], json!(["2025-11-25"]));
    assert_eq!(server["tools"]["no_input"]["verdict"], "dropped");
    assert_eq!(server["tools"]["remote"]["verdict"], "changed");
    assert_eq!(server["tools"]["count"]["calls"], 1);
    assert_eq!(server["tools"]["count"]["results"]["valid"], 1);
    assert_eq!(server["tools"]["ranged"]["arguments"]["invalid"], 1);
    assert_eq!(server["tools"]["lying"]["results"]["invalid"], 1);
    assert!(server["tools"]["lying"]["results"]["fuel"].as_u64().unwrap() > 0);
    assert!(server["slowest"].as_array().unwrap().len() >= 3);
    // Names of tools that are not there are anybody's.
    assert!(server["tools"].get("<script>alert(1)</script>").is_none());
    assert_eq!(server["tools"]["other tools"]["calls"], 1);

    let page = ask(port, "GET / HTTP/1.1", "");
    assert!(page.contains("text/html") && page.contains("no_input") && page.contains("dropped"));
    assert!(!page.contains("src=") && !page.contains("<script"), "{page}");
    let metrics = ask(port, "GET /metrics HTTP/1.1", "");
    for line in [
        r#"toolbond_calls_total{server="bare.mjs",tool="count"} 1"#,
        r#"toolbond_validations_total{server="bare.mjs",tool="ranged",side="arguments",outcome="invalid"} 1"#,
        r#"toolbond_calls_total{server="bare.mjs",tool="other"} 1"#,
        r#"toolbond_tools{server="bare.mjs",verdict="dropped"} 1"#,
    ] {
        assert!(metrics.contains(line), "{line}\n{metrics}");
    }
    assert!(!metrics.contains(r#"verdict="unknown""#), "{metrics}");
    assert!(
        ask(port, "GET /metrics HTTP/1.1\r\nhost: evil.example", "").starts_with("HTTP/1.1 403")
    );
    assert!(ask(port, "POST / HTTP/1.1", "").starts_with("HTTP/1.1 405"));
}

#[test]
fn a_command_is_served_to_typescript_v1_over_http() {
    let program = bare_program();
    let (_guard, port) = listening(&["--tools", "filter", "--", "node", &program, "--bad"]);
    let calls = json!([["forecast", {}], ["find_person", { "id": 2 }], ["ranged", { "n": 500 }]]);
    let seen = visit(None, &calls, &[&url(port)]);
    assert_eq!(seen["tools"].as_array().unwrap().len(), 8);
    assert_eq!(seen["calls"][1]["structuredContent"], json!({ "result": null }));
    assert_eq!(seen["calls"][2]["isError"], true);
}
