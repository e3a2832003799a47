//! The official conformance suite against the examples `conformance_server` and `conformance_client`.
//!
//! `peers/conformance/expected.json` has what is to pass: for each scenario the number of its checks.
//! Scenarios that are out of scope stand there with their reason; together they are all that the suite has.
#![expect(clippy::unwrap_used, reason = "runs programs for tests only")]

use std::collections::BTreeSet;
use std::process::Command;

use toolbond_harness::conformance::{self, Expected, run, suite};
use toolbond_harness::files::Folder;
use toolbond_harness::process::{Process, example};

#[track_caller]
fn server_passes(revision: &str) {
    let mut server = Command::new(example("toolbond-peers", "conformance_server"));
    server.args(["--http", "127.0.0.1:0"]);
    let ((_server, port), folder) = (Process::listening(server), Folder::new());
    let url = format!("http://127.0.0.1:{port}/mcp");
    let results = conformance::run_server(&url, revision, folder.path()).unwrap();
    assert!(results.failed.is_empty(), "{:#?}\n{}", results.failed, results.log);
    assert_eq!(results.passed, Expected::read().server[revision]);
}

#[track_caller]
fn client_passes(revision: &str) {
    let (client, folder) = (example("toolbond-peers", "conformance_client"), Folder::new());
    let expected = Expected::read();
    let mut logs = Vec::new();
    for scenario in expected.client[revision].keys() {
        let mut suite = suite();
        suite.args(["client", "--scenario", scenario, "--spec-version", revision, "--command"]);
        logs.push(run(suite.arg(&client).arg("-o").arg(folder.path())).unwrap());
    }
    let results = conformance::read(folder.path()).unwrap();
    assert!(results.failed.is_empty(), "{:#?}\n{}", results.failed, logs.join("\n"));
    assert_eq!(results.passed, expected.client[revision]);
}

/// The scenarios of the suite for `side`.
fn scenarios(side: &str, revision: &str) -> BTreeSet<String> {
    let list = run(suite().args(["list", side, "--spec-version", revision])).unwrap();
    let names = list.lines().filter_map(|line| line.trim().strip_prefix("- "));
    names.filter_map(|line| Some(line.split_once(' ')?.0.to_owned())).collect()
}

#[test]
fn nothing_is_left_out_without_a_reason() {
    let expected = Expected::read();
    for (side, passed) in [("--server", &expected.server), ("--client", &expected.client)] {
        for (revision, passed) in passed {
            let mut all = scenarios(side, revision);
            assert!(all.len() > 10, "{all:?}");
            all.retain(|name| {
                !expected.out_of_scope.iter().any(|out| name.starts_with(&out.prefix))
            });
            assert_eq!(all, passed.keys().cloned().collect(), "{side} {revision}");
        }
    }
}

#[test]
fn the_server_passes_at_2025_11_25() {
    server_passes("2025-11-25");
}

#[test]
fn the_server_passes_at_2026_07_28() {
    server_passes("2026-07-28");
}

#[test]
fn the_client_passes_at_2025_11_25() {
    client_passes("2025-11-25");
}

#[test]
fn the_client_passes_at_2026_07_28() {
    client_passes("2026-07-28");
}
