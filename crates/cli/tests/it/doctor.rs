//! `toolbond doctor` leaves nothing running, however it ends.

use std::os::unix::process::ExitStatusExt as _;
use std::path::Path;

use serde_json::json;
use toolbond_harness::files::Folder;
use toolbond_harness::process::{self, Process};
use toolbond_harness::wait::{wait_for, wait_until};

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
    doctor.signal("-KILL");
    assert_eq!(doctor.wait().signal(), Some(9));
    wait_until("the end of the server", || !is_running(server));
}
