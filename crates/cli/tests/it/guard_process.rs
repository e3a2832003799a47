//! The server of a guard as a process: how it ends, and that nothing is left of it.

use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread::sleep;
use std::time::{Duration, Instant};

use serde_json::Value;

use crate::command::{toolbond, toolbond_with};

/// Longer than anything takes on a busy machine.
const HANG: Duration = Duration::from_secs(60);

/// A file that the server of one test writes.
struct Note(PathBuf);

impl Note {
    fn new(name: &str) -> Self {
        let path = std::env::temp_dir().join(format!("toolbond-{}-{name}", std::process::id()));
        let _ = fs::remove_file(&path);
        Self(path)
    }

    /// The process id that the server wrote.
    fn process(&self) -> u32 {
        let start = Instant::now();
        loop {
            let text = fs::read_to_string(&self.0).unwrap_or_default();
            if let Some(id) = text.strip_suffix('\n') {
                return id.parse().unwrap();
            }
            assert!(start.elapsed() < HANG, "the server did not start");
            sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Note {
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.0);
    }
}

fn runs(process: u32) -> bool {
    let mut kill = Command::new("sh");
    kill.args(["-c", &format!("kill -0 {process}")]).stderr(Stdio::null());
    if !kill.status().unwrap().success() {
        return false;
    }
    // A process that nobody has waited for yet has ended, too.
    let stat = fs::read_to_string(format!("/proc/{process}/stat")).unwrap_or_default();
    !stat.rsplit(')').next().unwrap_or_default().trim_start().starts_with('Z')
}

fn wait_until_gone(process: u32) {
    let start = Instant::now();
    while runs(process) {
        assert!(start.elapsed() < HANG, "process {process} is left");
        sleep(Duration::from_millis(20));
    }
}

fn signal(name: &str, process: u32) {
    let status = Command::new("sh").args(["-c", &format!("kill -{name} {process}")]).status();
    assert!(status.unwrap().success());
}

fn start(script: &str) -> Child {
    start_with("guard", script)
}

fn start_with(verb: &str, script: &str) -> Child {
    toolbond(&[verb, "--", "sh", "-c", script])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap()
}

#[test]
fn the_exit_code_is_that_of_the_server() {
    assert_eq!(toolbond_with(&["guard", "--", "sh", "-c", "exit 7"], "").status.code(), Some(7));
    let killed = toolbond_with(&["guard", "--", "sh", "-c", "kill -9 $$"], "");
    assert_eq!(killed.status.code(), Some(137));
}

#[test]
fn standard_error_of_the_server_passes() {
    let output = toolbond_with(&["guard", "--", "sh", "-c", "echo here >&2"], "");
    assert_eq!(output.stderr, b"here\n");
}

#[test]
fn a_server_killed_in_the_middle_of_a_call_answers_it() {
    let request = "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"}\n";
    let output = toolbond_with(&["guard", "--", "sh", "-c", "read -r line; kill -9 $$"], request);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["id"], "a");
    assert_eq!(answer["error"]["code"], -32603);
    assert_eq!(output.status.code(), Some(137));
}

#[test]
fn what_the_server_started_ends_with_it() {
    let note = Note::new("grandchild");
    let script = format!("sleep 600 & echo $! > {}; cat > /dev/null", note.0.display());
    let mut guard = start(&script);
    let process = note.process();
    assert!(runs(process));
    drop(guard.stdin.take());
    assert_eq!(guard.wait().unwrap().code(), Some(0));
    wait_until_gone(process);
}

#[test]
fn a_server_that_ends_is_over_though_what_it_started_keeps_its_output_open() {
    let mut guard = start("read -r line; sleep 600 & exit 3");
    let request = r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#;
    writeln!(guard.stdin.as_mut().unwrap(), "{request}").unwrap();
    let mut line = String::new();
    BufReader::new(guard.stdout.take().unwrap()).read_line(&mut line).unwrap();
    assert!(line.contains("the server ended before it answered"), "{line}");
    assert_eq!(guard.wait().unwrap().code(), Some(3));
}

#[test]
fn a_signal_is_passed_on() {
    let note = Note::new("terminated");
    let script = format!("echo $$ > {}; exec sleep 600", note.0.display());
    let mut guard = start(&script);
    let process = note.process();
    // The guard listens to signals before it reads a message.
    writeln!(guard.stdin.as_mut().unwrap(), "no message").unwrap();
    let mut line = String::new();
    BufReader::new(guard.stdout.take().unwrap()).read_line(&mut line).unwrap();
    signal("TERM", guard.id());
    assert_eq!(guard.wait().unwrap().code(), Some(143));
    wait_until_gone(process);
}

#[test]
fn a_guard_that_is_killed_leaves_no_server_behind() {
    let note = Note::new("killed");
    let script = format!("sleep 600 & echo $! > {}; wait", note.0.display());
    let mut guard = start(&script);
    let process = note.process();
    writeln!(guard.stdin.as_mut().unwrap(), "no message").unwrap();
    let mut line = String::new();
    BufReader::new(guard.stdout.take().unwrap()).read_line(&mut line).unwrap();
    guard.kill().unwrap();
    guard.wait().unwrap();
    wait_until_gone(process);
}

#[test]
fn a_lint_that_is_told_to_end_or_killed_leaves_no_server_behind() {
    for (name, code) in [("INT", Some(130)), ("TERM", Some(143)), ("KILL", None)] {
        let note = Note::new(&format!("lint-{name}"));
        let script = format!("read -r line; sleep 600 & echo $! > {}; wait", note.0.display());
        let mut lint = start_with("lint", &script);
        let process = note.process();
        signal(name, lint.id());
        assert_eq!(lint.wait().unwrap().code(), code, "{name}");
        wait_until_gone(process);
    }
}
