//! The official conformance suite through the guard, in front of a server on HTTP and of a process, and through Envoy.
//!
//! `data/conformance.json` has what is to pass: for each server (`dual`, `modern` or `legacy`), front end and
//! revision the number of checks, and each check that fails with its reason.

use std::any::Any;
use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

use serde::Deserialize;
use toolbond_harness::address::local;
use toolbond_harness::conformance::{Expected, run_server};
#[cfg(target_os = "linux")]
use toolbond_harness::envoy::{Envoy, ONE_SERVER, Setup};
use toolbond_harness::files::Folder;
use toolbond_harness::process::{Process, example, toolbond};

/// One run of the suite.
#[derive(Debug, Deserialize)]
struct Case {
    /// The eras that the server speaks.
    server: String,
    /// Whether the guard is in front of a server on `http` or of a `process`, or `envoy` is, with `toolbond ext-proc`
    /// or as `plain envoy`.
    front: String,
    revision: String,
    passed: usize,
    /// The checks that fail, as `SCENARIO/CHECK`, and why they cannot pass.
    failing: BTreeMap<String, String>,
}

/// The guard in front of the server of `case`: what runs, and its port.
fn start(case: &Case) -> (Box<dyn Any>, u16) {
    let server = example("toolbond-peers", "conformance_server");
    let era = ("CONFORMANCE_ERA", &case.server);
    let guard = ["guard", "--listen", "127.0.0.1:0"];
    if case.front == "process" {
        let mut command = toolbond(&guard);
        command.arg("--").arg(server).envs([era]);
        let (process, port) = Process::listening(command);
        return (Box::new(process), port);
    }
    let mut command = Command::new(server);
    command.args(["--http", "127.0.0.1:0"]).envs([era]);
    let (process, server) = Process::listening(command);
    #[cfg(target_os = "linux")]
    if case.front.ends_with("envoy") {
        let example = (case.front == "envoy").then_some("envoy.yaml");
        let replicas = 2 * usize::from(example.is_some());
        let servers = [local(server), local(9)];
        let replaced = &[ONE_SERVER];
        let envoy =
            Envoy::start(&Setup { example, servers, replicas, replaced, ..Setup::default() });
        let port = envoy.port;
        return (Box::new((process, envoy)), port);
    }
    let upstream = format!("http://{}/mcp", local(server));
    let mut command = toolbond(&guard);
    command.args(["--upstream", &upstream]);
    let (guard, port) = Process::listening(command);
    (Box::new((guard, process)), port)
}

fn cases() -> Vec<Case> {
    serde_json::from_str(include_str!("data/conformance.json")).unwrap()
}

#[track_caller]
fn passes(server: &str, front: &str, revision: &str) {
    let is_meant =
        |it: &Case| (&*it.server, &*it.front, &*it.revision) == (server, front, revision);
    let case = cases().into_iter().find(is_meant).unwrap();
    let (_processes, port) = start(&case);
    let folder = Folder::new();
    let url = format!("http://127.0.0.1:{port}/mcp");
    let results = run_server(&url, revision, folder.path()).unwrap();
    let failing: BTreeSet<_> = results.failed.iter().map(|(check, _)| check).collect();
    let told: BTreeSet<_> = case.failing.keys().collect();
    assert_eq!(failing, told, "{:#?}\n{}", results.failed, results.log);
    let passed: usize = results.passed.values().sum();
    assert_eq!(passed, case.passed, "{:#?}", results.passed);
    if case.failing.is_empty() {
        assert_eq!(results.passed, Expected::read().server[revision]);
    }
}

/// One test, one run.
macro_rules! runs {
    ($($(#[$attribute:meta])* $test:ident: $server:literal, $front:literal, $revision:literal;)*) => {$(
        #[test]
        $(#[$attribute])*
        fn $test() {
            passes($server, $front, $revision);
        }
    )*};
}

runs! {
    #[ignore = "long matrix: cargo xtask test --all"]
    a_server_on_http_passes_at_2025_11_25: "dual", "http", "2025-11-25";
    a_server_on_http_passes_at_2026_07_28: "dual", "http", "2026-07-28";
    a_process_passes_at_2025_11_25: "dual", "process", "2025-11-25";
    #[ignore = "long matrix: cargo xtask test --all"]
    a_process_passes_at_2026_07_28: "dual", "process", "2026-07-28";
    #[ignore = "long matrix: cargo xtask test --all"]
    a_modern_server_on_http_passes_at_2025_11_25: "modern", "http", "2025-11-25";
    a_modern_process_passes_at_2025_11_25: "modern", "process", "2025-11-25";
    a_legacy_server_on_http_passes_at_2026_07_28: "legacy", "http", "2026-07-28";
    #[ignore = "long matrix: cargo xtask test --all"]
    a_legacy_process_passes_at_2026_07_28: "legacy", "process", "2026-07-28";
    #[cfg(target_os = "linux")]
    #[ignore = "long matrix: cargo xtask test --all"]
    plain_envoy_passes_at_2025_11_25: "dual", "plain envoy", "2025-11-25";
    #[cfg(target_os = "linux")]
    #[ignore = "long matrix: cargo xtask test --all"]
    plain_envoy_passes_at_2026_07_28: "dual", "plain envoy", "2026-07-28";
    #[cfg(target_os = "linux")]
    #[ignore = "long matrix: cargo xtask test --all"]
    envoy_passes_at_2025_11_25: "dual", "envoy", "2025-11-25";
    #[cfg(target_os = "linux")]
    envoy_passes_at_2026_07_28: "dual", "envoy", "2026-07-28";
}

#[test]
fn the_page_has_each_count_and_reason() {
    for case in cases() {
        let Case { server, front, revision, passed, failing } = case;
        let page = if front.ends_with("envoy") {
            include_str!("../../../../docs/fleet.md")
        } else {
            include_str!("../../../../docs/eras.md")
        };
        let row = format!("| {server} | {front} | {revision} | {passed} | {} |", failing.len());
        assert!(page.contains(&row), "docs/eras.md lacks {row}");
        for (check, why) in failing {
            let row = format!("| `{check}` | {why} |");
            assert!(page.contains(&row), "docs/eras.md lacks {row}");
        }
    }
}
