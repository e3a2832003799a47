//! Spelling of code and documents, checked by `typos`.

use crate::command::{command, run as run_command};
use crate::{python, workspace};

/// Installs the pinned version of `typos`, unless it is there.
pub(crate) fn install() -> anyhow::Result<()> {
    python::install("typos", "xtask/typos")
}

/// Checks every file of the repository; `typos.toml` lists the exceptions.
pub(crate) fn check() -> anyhow::Result<()> {
    let program = workspace::testkit().join("python/typos/bin/typos");
    run_command(command(&program.to_string_lossy(), ["--format", "brief"]))
}
