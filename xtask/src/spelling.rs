//! Spelling of code and documents, checked by `typos`.

use crate::command::{command, run as run_command};
use crate::workspace;

/// Checks every file of the repository, if `typos` is installed; `typos.toml` lists the exceptions.
pub(crate) fn check() -> anyhow::Result<()> {
    let program = workspace::testkit().join("python/tools/bin/typos");
    if !program.exists() {
        eprintln!("missing: typos; spelling is not checked");
        return Ok(());
    }
    run_command(command(&program.to_string_lossy(), ["--format", "brief"]))
}
