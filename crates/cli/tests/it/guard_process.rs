//! The server of a guard as a process: how it ends, and that nothing is left of it.

use std::fs;
use std::process::{Command, Stdio};

use serde_json::Value;
use toolbond_harness::files::Folder;
use toolbond_harness::guard::Talk;
use toolbond_harness::process::{run, toolbond};
use toolbond_harness::wait::{wait_for, wait_until};

/// A file that the server of one test writes its process id to.
struct Note(Folder);

impl Note {
    fn new() -> Self {
        Self(Folder::new())
    }

    fn path(&self) -> String {
        self.0.join("note")
    }

    /// The process id that the server wrote.
    fn process(&self) -> u32 {
        wait_for("the server starts", || {
            let text = fs::read_to_string(self.path()).unwrap_or_default();
            text.strip_suffix('\n').map(|id| id.parse().unwrap())
        })
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
    wait_until(&format!("process {process} is gone"), || !runs(process));
}

/// `toolbond VERB -- sh -c SCRIPT`.
fn start(verb: &str, script: &str) -> Talk {
    let mut command = toolbond(&[verb]);
    command.args(["--", "sh", "-c", script]);
    Talk::with(command)
}

/// The same, run to its end with `input`.
fn guard(script: &str, input: &str) -> std::process::Output {
    run(toolbond(&["guard", "--", "sh", "-c", script]), input)
}

#[test]
fn the_exit_code_is_that_of_the_server() {
    assert_eq!(guard("exit 7", "").status.code(), Some(7));
    let killed = guard("kill -9 $$", "");
    assert_eq!(killed.status.code(), Some(137));
}

#[test]
fn standard_error_of_the_server_passes() {
    let output = guard("echo here >&2", "");
    assert_eq!(output.stderr, b"here\n");
}

#[test]
fn a_server_killed_in_the_middle_of_a_call_answers_it() {
    let request = "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"}\n";
    let output = guard("read -r line; kill -9 $$", request);
    let answer: Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(answer["id"], "a");
    assert_eq!(answer["error"]["code"], -32603);
    assert_eq!(output.status.code(), Some(137));
}

#[test]
fn a_server_that_ends_well_after_its_client_left_is_not_told_of() {
    let request = "{\"jsonrpc\":\"2.0\",\"id\":\"a\",\"method\":\"ping\"}\n";
    let output = guard("cat > /dev/null", request);
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    assert_eq!(output.status.code(), Some(0));
}

#[test]
fn what_the_server_started_ends_with_it() {
    let note = Note::new();
    let script = format!("sleep 600 & echo $! > {}; cat > /dev/null", note.path());
    let mut talk = start("guard", &script);
    let process = note.process();
    assert!(runs(process));
    drop(talk.input.take());
    assert_eq!(talk.guard.wait().code(), Some(0));
    wait_until_gone(process);
}

#[test]
fn a_server_that_ends_is_over_though_what_it_started_keeps_its_output_open() {
    let mut talk = start("guard", "read -r line; sleep 600 & exit 3");
    let answer = talk.ask(r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#).to_string();
    assert!(answer.contains("the server ended before it answered"), "{answer}");
    assert_eq!(talk.guard.wait().code(), Some(3));
}

#[test]
fn a_signal_is_passed_on() {
    let note = Note::new();
    let script = format!("echo $$ > {}; exec sleep 600", note.path());
    let mut talk = start("guard", &script);
    let process = note.process();
    // The guard listens to signals before it reads a message.
    talk.ask("no message");
    talk.guard.signal("-TERM");
    assert_eq!(talk.guard.wait().code(), Some(143));
    wait_until_gone(process);
}

#[test]
fn a_guard_that_is_killed_leaves_no_server_behind() {
    let note = Note::new();
    let script = format!("sleep 600 & echo $! > {}; wait", note.path());
    let mut talk = start("guard", &script);
    let process = note.process();
    talk.ask("no message");
    talk.guard.signal("-KILL");
    talk.guard.wait();
    wait_until_gone(process);
}

#[test]
fn a_lint_that_is_told_to_end_or_killed_leaves_no_server_behind() {
    for (name, code) in [("-INT", Some(130)), ("-TERM", Some(143)), ("-KILL", None)] {
        let note = Note::new();
        let script = format!("read -r line; sleep 600 & echo $! > {}; wait", note.path());
        let mut lint = start("lint", &script).guard;
        let process = note.process();
        lint.signal(name);
        assert_eq!(lint.wait().code(), code, "{name}");
        wait_until_gone(process);
    }
}
