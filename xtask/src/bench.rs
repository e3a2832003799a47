//! Measuring against peers.

use std::path::{Path, absolute};

use crate::command::{cargo, run as run_command};

/// Runs the bench of `subject`, on the cases of `directory` where one is given.
pub(crate) fn run(subject: &str, directory: Option<&Path>) -> anyhow::Result<()> {
    let mut bench = cargo(["run", "--quiet", "--release", "--package", "toolpact-bench", "--"]);
    bench.arg(subject);
    if let Some(directory) = directory {
        bench.arg(absolute(directory)?);
    }
    run_command(bench)
}
