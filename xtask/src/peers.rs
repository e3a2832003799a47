//! Peers that the guard is measured beside.

use std::fs;

use anyhow::Context as _;

use crate::command::{cargo, run};
use crate::{node, python, workspace};

/// Installs the peers into `target/testkit`. One that cannot be had is told of in a note that the
/// bench repeats, and is no reason to measure nothing.
pub(crate) fn install() -> anyhow::Result<()> {
    note("node", node::install("bench", "crates/bench/peers"))?;
    note("python", python::install("bench", "crates/bench/peers"))?;
    note("python", python::install("peers", "crates/cli/tests/peers"))?;
    note("mcp-proxy-crate", mcp_proxy())
}

fn mcp_proxy() -> anyhow::Result<()> {
    let place = workspace::testkit().join("cargo");
    let root = place.join("mcp-proxy-0.6.0");
    if root.join("bin").exists() {
        return Ok(());
    }
    let mut install = cargo(["install", "mcp-proxy", "--version", "0.6.0", "--locked"]);
    install.args(["--no-default-features", "--quiet", "--root"]).arg(root);
    install.arg("--target-dir").arg(place.join("build"));
    run(install)
}

/// Keeps the reason of a failure where the bench looks for it.
fn note(name: &str, done: anyhow::Result<()>) -> anyhow::Result<()> {
    let folder = workspace::testkit().join("failed");
    let path = folder.join(format!("{name}.txt"));
    match done {
        Ok(()) => {
            let _ = fs::remove_file(path);
        }
        Err(error) => {
            eprintln!("{name}: {error:#}");
            fs::create_dir_all(&folder)?;
            fs::write(&path, format!("{error:#}")).with_context(|| path.display().to_string())?;
        }
    }
    Ok(())
}
