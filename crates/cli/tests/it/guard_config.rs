//! `toolbond guard --config`, `--status`, and commands for clients on HTTP.

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::{Duration, Instant};

use serde_json::{Value, json};
use toolbond_harness::peers;

use crate::command::toolbond;
use crate::guard_http::{Process, ask, bare, call};
use crate::upstream::Upstream;

/// A guard, and what it says.
pub(crate) struct Guard {
    pub(crate) process: Process,
    said: Arc<Mutex<Vec<String>>>,
}

impl Guard {
    pub(crate) fn start(arguments: &[&str]) -> Self {
        let mut command = toolbond(arguments);
        command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut process = Process(command.spawn().unwrap());
        let said = Arc::new(Mutex::new(Vec::new()));
        let (reader, lines) = (process.0.stderr.take().unwrap(), Arc::clone(&said));
        thread::spawn(move || {
            for line in BufReader::new(reader).lines().map_while(Result::ok) {
                lines.lock().unwrap().push(line);
            }
        });
        Self { process, said }
    }

    /// Waits for a line with `text` after the first `from` ones, and gives it.
    pub(crate) fn says(&self, from: usize, text: &str) -> String {
        let start = Instant::now();
        loop {
            let said = self.said.lock().unwrap().clone();
            if let Some(line) = said.iter().skip(from).find(|line| line.contains(text)) {
                return line.clone();
            }
            assert!(start.elapsed() < Duration::from_secs(120), "{text}: {said:?}");
            thread::sleep(Duration::from_millis(20));
        }
    }

    fn lines(&self) -> usize {
        self.said.lock().unwrap().len()
    }

    /// The port in the line with `text`.
    pub(crate) fn port(&self, text: &str) -> u16 {
        let line = self.says(0, text);
        let port = line.split("http://127.0.0.1:").nth(1).unwrap();
        port.split('/').next().unwrap().parse().unwrap()
    }
}

/// A configuration file that goes with its test.
pub(crate) struct File(PathBuf);

impl File {
    pub(crate) fn new(name: &str, text: &str) -> Self {
        let name = format!("{name}-{}.toml", std::process::id());
        let file = Self(PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join(name));
        file.write(text);
        file
    }

    pub(crate) fn write(&self, text: &str) {
        fs::write(&self.0, text).unwrap();
    }

    pub(crate) fn path(&self) -> &str {
        self.0.to_str().unwrap()
    }
}

impl Drop for File {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

/// The bare server as a command, and more in its table.
pub(crate) fn bare_command(more: &str) -> String {
    let program = peers::path("servers/bare.mjs");
    format!("[servers.bare]\ncommand = 'node'\nargs = ['{}', '--bad']\n{more}\n", program.display())
}

const BOTH: &str = "accept: application/json, text/event-stream";

pub(crate) fn post(path: &str, more: &str) -> String {
    format!("POST {path} HTTP/1.1\r\n{BOTH}{more}")
}

pub(crate) fn body(answer: &str) -> Value {
    let text = answer.split("\r\n\r\n").nth(1).unwrap_or_default();
    serde_json::from_str(text).unwrap_or_else(|_| panic!("{answer}"))
}

/// The head and the body of `message` as a request of 2026-07-28 to `path`.
pub(crate) fn modern(path: &str, message: &str) -> (String, String) {
    let mut message: Value = serde_json::from_str(message).unwrap();
    let meta = &mut message["params"]["_meta"];
    meta["io.modelcontextprotocol/protocolVersion"] = json!("2026-07-28");
    meta["io.modelcontextprotocol/clientCapabilities"] = json!({});
    let method = message["method"].as_str().unwrap();
    let mut more = format!("\r\nmcp-protocol-version: 2026-07-28\r\nmcp-method: {method}");
    if let Some(name) = message["params"]["name"].as_str() {
        write!(more, "\r\nmcp-name: {name}").unwrap();
    }
    (post(path, &more), message.to_string())
}

/// Sends `message` as a request of 2026-07-28 to `path`.
pub(crate) fn ask_modern(port: u16, path: &str, message: &str) -> String {
    let (head, body) = modern(path, message);
    ask(port, &head, &body)
}

/// Opens a session: the head of the requests in it.
pub(crate) fn open(port: u16, path: &str) -> String {
    let hello = json!({ "jsonrpc": "2.0", "id": 0, "method": "initialize",
        "params": { "protocolVersion": "2025-11-25", "capabilities": {} } });
    let answer = ask(port, &post(path, ""), &hello.to_string());
    let id = answer.split("mcp-session-id: ").nth(1).unwrap().split("\r\n").next().unwrap();
    assert_eq!(body(&answer)["result"]["serverInfo"]["name"], "bare");
    post(path, &format!("\r\nmcp-session-id: {id}"))
}

pub(crate) fn waits(id: u32) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": "tools/call",
        "params": { "name": "wait", "_meta": { "progressToken": id } } })
    .to_string()
}

pub(crate) const PING: &str = r#"{"jsonrpc":"2.0","id":99,"method":"ping"}"#;

/// What the bare server knows as a ping from 2026-07-28 on.
pub(crate) const MODERN_PING: &str = r#"{"jsonrpc":"2.0","id":99,"method":"bare/ping"}"#;

/// The processes that run the bare server for `guard`.
pub(crate) fn children(guard: &Guard) -> usize {
    running(guard, "bare.mjs")
}

/// The processes of `guard` with `what` in their command.
pub(crate) fn running(guard: &Guard, what: &str) -> usize {
    let parent = guard.process.0.id().to_string();
    let output = Command::new("ps").args(["-o", "args=", "--ppid", &parent]).output().unwrap();
    let lines = String::from_utf8(output.stdout).unwrap();
    lines.lines().filter(|line| line.contains(what)).count()
}

pub(crate) fn settles(what: &str, mut is: impl FnMut() -> bool) {
    let start = Instant::now();
    while !is() {
        assert!(start.elapsed() < Duration::from_secs(60), "{what}");
        thread::sleep(Duration::from_millis(50));
    }
}

#[test]
fn several_servers_are_reached_by_name() {
    let (_server, upstream) = bare(&[]);
    let mut text = bare_command("max-sessions = 2");
    write!(text, "[servers.remote]\nurl = 'http://127.0.0.1:{upstream}/mcp'\n").unwrap();
    let file = File::new("several", &text);
    let guard = Guard::start(&["guard", "--config", file.path(), "--listen", "127.0.0.1:0"]);
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
    guard.says(0, "toolbond: bare: ");
    assert!(ask(port, &one.replace("POST", "DELETE"), "").starts_with("HTTP/1.1 204"));
    assert!(ask(port, &one, PING).starts_with("HTTP/1.1 404"));
    settles("the process of a session that ended is gone", || children(&guard) == 1);
    assert!(ask(port, &two, PING).starts_with("HTTP/1.1 200"));

    // Without a session.
    assert!(ask(port, &post("/bare/mcp", ""), PING).starts_with("HTTP/1.1 400"));
    let clients: Vec<_> =
        (0..3).map(|_| thread::spawn(move || ask_modern(port, "/bare/mcp", &waits(7)))).collect();
    settles("all wait", || {
        let answer = ask_modern(port, "/bare/mcp", &call(7, "count", &json!({})));
        assert_eq!(body(&answer)["id"], 7);
        assert_eq!(body(&answer)["result"]["structuredContent"], 42);
        children(&guard) == 2
    });
    for client in clients {
        settles("the answer", || {
            ask_modern(port, "/bare/mcp", MODERN_PING);
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
    let head = format!("{natural}\r\nhost: localhost\r\ncontent-length: {}", body.len());
    settles("it is cancelled", || {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        write!(stream, "{head}\r\n\r\n{body}").unwrap();
        stream.read_exact(&mut [0; 64]).unwrap();
        drop(stream);
        ask_modern(port, "/bare/mcp", MODERN_PING).contains(r#""cancelled":"#)
    });

    drop(two);
    let id = guard.process.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    settles("nothing is left", || children(&guard) == 0);
}

#[test]
fn lines_of_json_name_their_server() {
    let text = bare_command("[servers.other]\ncommand = 'sh'");
    let file = File::new("named", &text);
    let arguments = ["guard", "--config", file.path(), "--listen", "127.0.0.1:0", "--log", "json"];
    let guard = Guard::start(&[&arguments[..], &["--status", "127.0.0.1:0"]].concat());
    let port = guard.port("/bare/mcp");
    let session = open(port, "/bare/mcp");
    let list = r#"{"jsonrpc":"2.0","id":1,"method":"tools/list"}"#;
    assert!(ask(port, &session, list).starts_with("HTTP/1.1 200"));
    let read = |text| serde_json::from_str::<Value>(&guard.says(0, text)).unwrap();
    assert_eq!(read("no_input")["server"], "bare");
    assert_eq!(read("/bare/mcp")["server"], "bare");
    assert_eq!(read("/other/mcp")["server"], "other");
    assert_eq!(read("status on")["severity"], "info");
}

#[test]
fn an_idle_session_and_a_process_that_died_are_over() {
    let file = File::new("idle", &bare_command("idle-seconds = 1"));
    let guard = Guard::start(&["guard", "--config", file.path(), "--listen", "127.0.0.1:0"]);
    let port = guard.port("/bare/mcp");
    let session = open(port, "/bare/mcp");
    assert!(ask(port, &session, PING).starts_with("HTTP/1.1 200"));
    settles("an idle session ends", || children(&guard) == 0);
    assert!(ask(port, &session, PING).starts_with("HTTP/1.1 404"));

    // One that is there, and cannot be started.
    let program = File::new("program", "#!/no/such/interpreter\n");
    let allowed = Command::new("chmod").args(["+x", program.path()]).status().unwrap();
    assert!(allowed.success());
    let file = File::new("gone", &format!("[servers.gone]\ncommand = '{}'", program.path()));
    let guard = Guard::start(&["guard", "--config", file.path(), "--listen", "127.0.0.1:0"]);
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
    let answer = ask(guard.port("/gone/mcp"), &post("/gone/mcp", ""), hello);
    assert!(answer.starts_with("HTTP/1.1 502") && answer.contains("could not start"), "{answer}");

    let file = File::new("dies", "[servers.dies]\ncommand = 'sh'\nargs = ['-c', 'read line']");
    let guard = Guard::start(&["guard", "--config", file.path(), "--listen", "127.0.0.1:0"]);
    let answer = ask(guard.port("/dies/mcp"), &post("/dies/mcp", ""), hello);
    assert_eq!(body(&answer)["error"]["code"], -32603, "{answer}");
    assert!(!answer.contains("mcp-session-id"));
}

#[test]
fn a_client_that_leaves_before_its_session_is_open_leaves_none() {
    let file = File::new(
        "mute",
        "[servers.mute]\ncommand = 'sh'\nargs = ['-c', 'cat > /dev/null']\nmax-sessions = 1",
    );
    let guard = Guard::start(&["guard", "--config", file.path(), "--listen", "127.0.0.1:0"]);
    let port = guard.port("/mute/mcp");
    assert!(ask(port, &post("/mute/mcp", ""), "[]").starts_with("HTTP/1.1 400"));
    let hello = r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}"#;
    for _ in 0..2 {
        let mut client = TcpStream::connect(("127.0.0.1", port)).unwrap();
        let (head, length) = (post("/mute/mcp", "\r\nhost: localhost"), hello.len());
        write!(client, "{head}\r\ncontent-length: {length}\r\n\r\n{hello}").unwrap();
        settles("a session is opened", || running(&guard, "cat") == 1);
        drop(client);
        settles("a session that nobody has is over", || running(&guard, "cat") == 0);
    }
}

#[test]
fn a_guard_that_ends_waits_for_calls_and_not_for_streams() {
    let (upstream, file) = (Upstream::start(), bare_command(""));
    let url = format!("[servers.remote]\nurl = 'http://127.0.0.1:{}/mcp'\n", upstream.port);
    let file = File::new("ends", &(file + &url));
    let guard = Guard::start(&["guard", "--config", file.path(), "--listen", "127.0.0.1:0"]);
    let port = guard.port("/bare/mcp");
    let session = open(port, "/bare/mcp");
    let send = |head: &str, body: &str| {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        let length = body.len();
        write!(stream, "{head}\r\nhost: localhost\r\ncontent-length: {length}\r\n\r\n{body}")
            .unwrap();
        // The head of the answer at least.
        stream.read_exact(&mut [0; 64]).unwrap();
        stream
    };
    let stream = send(&session.replace("POST", "GET"), "");
    let remote = send(&post("/remote/mcp", "").replace("POST", "GET"), "");
    let mut call = send(&session, &waits(1));
    let id = guard.process.0.id().to_string();
    assert!(Command::new("kill").args(["-TERM", &id]).status().unwrap().success());
    for mut stream in [stream, remote] {
        stream.read_to_end(&mut Vec::new()).unwrap();
    }
    assert_eq!(children(&guard), 1, "the call goes on");
    call.set_nonblocking(true).unwrap();
    let mut rest = Vec::new();
    let error = call.read_to_end(&mut rest).expect_err("the call goes on");
    assert_eq!(error.kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn changes_are_in_force_from_the_next_call_and_sessions_go_on() {
    let file = File::new("reload", &bare_command(""));
    let guard = Guard::start(&["guard", "--config", file.path(), "--listen", "127.0.0.1:0"]);
    let port = guard.port("/bare/mcp");
    let session = open(port, "/bare/mcp");
    let count = |id| ask(port, &session, &call(id, "count", &json!({})));
    assert_eq!(body(&count(1))["result"]["structuredContent"], json!({ "result": 42 }));
    let slow = {
        let session = session.clone();
        thread::spawn(move || ask(port, &session, &waits(5)))
    };

    let from = guard.lines();
    file.write(&bare_command("[servers.bare.tools.count]\nhide = true"));
    guard.says(from, "configuration: applied");
    assert!(count(2).contains("its operator hides it"), "{}", count(3));
    let list = r#"{"jsonrpc":"2.0","id":4,"method":"tools/list"}"#;
    assert!(!ask(port, &session, list).contains(r#""count""#));

    // What is wrong is said, and what was before stays.
    let from = guard.lines();
    file.write("[servers.bare]\ncomand = 'x'\n");
    let line = guard.says(from, "stays in force");
    assert!(line.contains(":2:1: unknown key `comand`"), "{line}");
    assert!(count(6).contains("its operator hides it"));

    let from = guard.lines();
    file.write(&bare_command(""));
    guard.says(from, "configuration: applied");
    assert_eq!(body(&count(7))["result"]["structuredContent"], json!({ "result": 42 }));

    // The call that was open all the time is answered by the process that it was sent to.
    assert!(!slow.is_finished());
    ask(port, &session, PING);
    let answer = slow.join().unwrap();
    assert!(answer.contains(r#""id":5,"result":{"content":[],"waited":"#), "{answer}");

    // SIGHUP reads the file again.
    let from = guard.lines();
    let id = guard.process.0.id().to_string();
    assert!(Command::new("kill").args(["-HUP", &id]).status().unwrap().success());
    guard.says(from, "configuration: applied");
    assert_eq!(body(&count(8))["result"]["structuredContent"], json!({ "result": 42 }));
}

#[test]
fn the_status_of_a_guard_is_shown() {
    let program = peers::path("servers/bare.mjs");
    let mut guard = Guard::start(&[
        "guard",
        "--tools",
        "filter",
        "--status",
        "127.0.0.1:0",
        "--",
        "node",
        program.to_str().unwrap(),
        "--bad",
    ]);
    let port = guard.port("status on");
    let mut client = guard.process.0.stdin.take().unwrap();
    let mut server = BufReader::new(guard.process.0.stdout.take().unwrap());
    let mut say = |text: &str| {
        writeln!(client, "{text}").unwrap();
        let mut line = String::new();
        server.read_line(&mut line).unwrap();
    };
    say(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25"}}"#,
    );
    say(&call(2, "count", &json!({})));
    say(&call(3, "ranged", &json!({ "n": 11 })));
    say(&call(4, "lying", &json!({})));
    say(&call(5, "<script>alert(1)</script>", &json!({})));

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
    assert!(
        ask(port, "GET /metrics HTTP/1.1\r\nhost: evil.example", "").starts_with("HTTP/1.1 403")
    );
    assert!(ask(port, "POST / HTTP/1.1", "").starts_with("HTTP/1.1 405"));
}

#[test]
fn a_command_is_served_to_typescript_v1_over_http() {
    let program = peers::path("servers/bare.mjs");
    let guard = Guard::start(&[
        "guard",
        "--listen",
        "127.0.0.1:0",
        "--tools",
        "filter",
        "--",
        "node",
        program.to_str().unwrap(),
        "--bad",
    ]);
    let url = format!("http://127.0.0.1:{}/mcp", guard.port("listening on"));
    let calls = json!([["forecast", {}], ["find_person", { "id": 2 }], ["ranged", { "n": 500 }]]);
    let seen = crate::guard_peers::visit(None, &calls, &[&url]);
    assert_eq!(seen["tools"].as_array().unwrap().len(), 8);
    assert_eq!(seen["calls"][1]["structuredContent"], json!({ "result": null }));
    assert_eq!(seen["calls"][2]["isError"], true);
}
