//! Measuring against peers.

use std::path::{Path, absolute};

use crate::command::{cargo, command, run as run_command};
use crate::{peers, workspace};

/// Runs the bench of `subject`, on the cases of `directory` where one is given.
pub(crate) fn run(subject: &str, directory: Option<&Path>) -> anyhow::Result<()> {
    if subject == "guard" {
        return guard();
    }
    let mut bench = cargo(["run", "--quiet", "--release", "--package", "toolpact-bench", "--"]);
    bench.arg(subject);
    if let Some(directory) = directory {
        bench.arg(absolute(directory)?);
    }
    run_command(bench)
}

/// Measures the command itself, beside peers that are installed first.
fn guard() -> anyhow::Result<()> {
    peers::install()?;
    let packages = ["--package", "toolpact-cli", "--package", "toolpact-bench"];
    let mut build = cargo(["build", "--quiet", "--release"]);
    build.args(packages);
    run_command(build)?;
    let bench = workspace::root().join("target/release/toolpact-bench");
    run_command(command(&bench.to_string_lossy(), ["guard"]))
}
