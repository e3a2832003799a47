//! Everything that has to pass.

use crate::command::{answers, cargo, run as run_command};
use crate::setup;

/// Sets up, then checks formatting, lints, documentation examples, fuzz targets and tests, in this order.
pub(crate) fn run() -> anyhow::Result<()> {
    setup::run()?;
    run_command(cargo(["fmt", "--all", "--check"]))?;
    run_command(cargo(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    run_command(cargo(["test", "--workspace", "--doc"]))?;
    run_command(cargo([
        "check",
        "--manifest-path",
        "fuzz/Cargo.toml",
        "--target-dir",
        "target/fuzz",
    ]))?;
    if answers("cargo", &["nextest", "--version"]) {
        run_command(cargo(["nextest", "run", "--workspace"]))
    } else {
        run_command(cargo(["test", "--workspace", "--lib", "--bins", "--tests", "--examples"]))
    }
}
