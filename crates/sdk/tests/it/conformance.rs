//! The official conformance suite against the examples `conformance_server` and `conformance_client`.
//!
//! `peers/conformance/expected.json` has what is to pass: for each scenario the number of its checks.
//! Scenarios that are out of scope stand there with their reason; together they are all that the suite has.
#![expect(clippy::unwrap_used, reason = "runs programs for tests only")]

use std::collections::BTreeSet;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use toolbond_harness::conformance::{self, Expected, run, suite};
use toolbond_harness::process::example;

/// The server on a port of its own, until this is dropped.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn start() -> Self {
        let mut command = Command::new(example("toolbond-peers", "conformance_server"));
        command.args(["--http", "127.0.0.1:0"]).stdin(Stdio::null()).stderr(Stdio::piped());
        let mut process = command.spawn().unwrap();
        let mut log = BufReader::new(process.stderr.take().unwrap());
        let mut line = String::new();
        log.read_line(&mut line).unwrap();
        let url = line.split_whitespace().last().unwrap_or_default().to_owned();
        assert!(url.starts_with("http://127.0.0.1:"), "{line}");
        // The rest of the log is read, so that the server never waits for a reader.
        std::thread::spawn(move || std::io::copy(&mut log, &mut std::io::sink()));
        Self { process, url }
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        _ = self.process.kill();
        _ = self.process.wait();
    }
}

/// A folder for the results of one run.
fn folder(name: &str) -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("conformance").join(name)
}

#[track_caller]
fn server_passes(revision: &str) {
    let server = Server::start();
    let folder = folder(&format!("server-{revision}"));
    let results = conformance::run_server(&server.url, revision, &folder).unwrap();
    assert!(results.failed.is_empty(), "{:#?}\n{}", results.failed, results.log);
    assert_eq!(results.passed, Expected::read().server[revision]);
}

#[track_caller]
fn client_passes(revision: &str) {
    let client = example("toolbond-peers", "conformance_client");
    let folder = folder(&format!("client-{revision}"));
    conformance::clear(&folder).unwrap();
    let expected = Expected::read();
    let mut logs = Vec::new();
    for scenario in expected.client[revision].keys() {
        let mut suite = suite();
        suite.args(["client", "--scenario", scenario, "--spec-version", revision, "--command"]);
        logs.push(run(suite.arg(&client).arg("-o").arg(&folder)).unwrap());
    }
    let results = conformance::read(&folder).unwrap();
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
