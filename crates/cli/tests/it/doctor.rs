//! `toolbond doctor` ends, whatever servers do, and leaves nothing running.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;

use serde_json::json;
use toolbond_harness::files::Folder;
use toolbond_harness::process::{self, Process};
use toolbond_harness::wait::{wait_for, wait_until};

use crate::command::texts;

/// A doctor that waits for a server that hangs, and the server.
fn waiting(folder: &Folder) -> (Process, u32) {
    let server = json!({ "command": "sh", "args": ["-c", "echo $$ > started; exec sleep 98764"] });
    folder.write("mcp.json", json!({ "mcpServers": { "hangs": server } }).to_string());
    let mut doctor = process::toolbond(&["doctor", "--yes", "--file", "mcp.json"]);
    doctor.current_dir(folder.path()).env("HOME", folder.path());
    let doctor = Process::start(doctor);
    let started = || {
        let text = std::fs::read_to_string(folder.path().join("started")).ok()?;
        text.trim().parse().ok()
    };
    (doctor, wait_for("the server", started))
}

fn is_running(process: u32) -> bool {
    Path::new(&format!("/proc/{process}")).exists()
}

#[test]
fn a_signal_ends_the_server_too() {
    let folder = Folder::new();
    let (mut doctor, server) = waiting(&folder);
    doctor.signal("-INT");
    assert_eq!(doctor.wait().code(), Some(130));
    assert!(!is_running(server));
}

#[test]
fn a_server_does_not_survive_a_doctor_that_is_killed() {
    let folder = Folder::new();
    let (mut doctor, server) = waiting(&folder);
    wait_until("the watchdog", || !doctor.children("--watch").is_empty());
    doctor.signal("-KILL");
    assert_eq!(doctor.wait().signal(), Some(9));
    wait_until("the end of the server", || !is_running(server));
}

/// A process that left the group of its server.
#[cfg(target_os = "linux")]
#[test]
fn what_a_server_left_behind_ends_too() {
    let folder = Folder::new();
    let script = "setsid sh -c 'echo $$ > new; mv new started; exec sleep 98762' >/dev/null 2>&1 & while [ ! -e started ]; do :; done";
    let server = json!({ "command": "sh", "args": ["-c", script], "cwd": folder.path() });
    folder.write("mcp.json", json!({ "mcpServers": { "forks": server } }).to_string());
    let mut doctor = process::toolbond(&["doctor", "--yes", "--file", "mcp.json"]);
    let output = doctor.current_dir(folder.path()).env("HOME", folder.path()).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let left = std::fs::read_to_string(folder.path().join("started")).unwrap();
    assert!(!is_running(left.trim().parse().unwrap()));
}

/// Answers until it does what its argument says.
const SERVER: &str = r#"
import fcntl, json, sys, time
mode = sys.argv[1]
def read(): return json.loads(sys.stdin.readline())
def say(**message): print(json.dumps({"jsonrpc": "2.0", **message}), flush=True)
def listed(request, tools, **more): say(id=request["id"], result={"tools": tools, **more})
tool = {"name": "a", "description": "A tool.", "inputSchema": {"type": "object"}}
first = read()
if mode == "deaf":
    # One page of the pipe takes the four answers, and no notification after them.
    fcntl.fcntl(0, 1031, 4096)
    for n in range(4): say(id=str(n) * 975, method="ping")
info = {"name": "s", "version": "1"}
say(id=first["id"], result={"protocolVersion": "2025-11-25", "capabilities": {}, "serverInfo": info})
if mode == "deaf": time.sleep(1000)
read()
request = read()
if mode == "slow":
    for n in range(1000):
        time.sleep(0.2)
        listed(request, [], nextCursor=str(n))
        request = read()
if mode == "many": listed(request, [tool] * 10001)
if mode == "long":
    for n in range(3):
        listed(request, [{**tool, "description": "x" * 6000000}], nextCursor=str(n))
        request = read()
if mode == "tells":
    listed(request, [{**tool, "name": "with " + sys.argv[-1], "inputSchema": []}, tool])
if mode == "asks":
    say(id="p", method="ping")
    assert read()["result"] == {}
    say(id=2, method="roots/list")
    assert read()["error"]["code"] == -32601
    listed(request, [tool])
"#;

#[test]
fn a_server_that_does_not_end_is_left() {
    let folder = Folder::new();
    folder.write("server.py", SERVER);
    let cases = [
        ("deaf", "✗ deaf: the server did not read its input for 4 s"),
        ("slow", "✗ slow: the server did not finish its list of tools within 8 s"),
        ("many", "✗ many: expected at most 10000 tools with 16777216 bytes in all"),
        ("long", "✗ long: expected at most 10000 tools with 16777216 bytes in all"),
        ("asks", "✓ asks: 1 tool"),
        ("tells", "with [secret]: "),
    ];
    let servers = cases.map(|(mode, _)| {
        let words =
            json!({ "command": "python3", "args": ["server.py", mode, "--api-key", "sk-12345"] });
        (mode.to_owned(), words)
    });
    let servers: serde_json::Map<_, _> = servers.into_iter().collect();
    folder.write("mcp.json", json!({ "mcpServers": servers }).to_string());
    let mut doctor =
        process::toolbond(&["doctor", "--yes", "--timeout", "4", "--file", "mcp.json"]);
    let output = doctor.current_dir(folder.path()).env("HOME", folder.path()).output().unwrap();
    let (_, out, err) = texts(output);
    for (_, expected) in cases {
        assert!(out.contains(expected), "{expected}: {out}{err}");
    }
    assert!(!out.contains("sk-12345"), "{out}");
}
