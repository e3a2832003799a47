//! Runs everything that has to pass.

use crate::command::{answers, cargo, run as run_command};
use crate::{links, modules, setup, spelling};

/// Sets up, then checks formatting, spelling, links, imports of the guard, lints, documentation and tests, in this order.
pub(crate) fn run() -> anyhow::Result<()> {
    setup::run()?;
    run_command(cargo(["fmt", "--all", "--check"]))?;
    spelling::check()?;
    links::check()?;
    modules::check()?;
    run_command(cargo(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    let mut documentation = cargo(["doc", "--workspace", "--no-deps"]);
    documentation.env("RUSTDOCFLAGS", "-D warnings");
    run_command(documentation)?;
    run_command(cargo(["test", "--workspace", "--doc"]))?;
    if answers("cargo", &["nextest", "--version"]) {
        run_command(cargo(["nextest", "run", "--workspace"]))
    } else {
        run_command(cargo(["test", "--workspace", "--lib", "--bins", "--tests", "--examples"]))
    }
}
