//! Runs everything that has to pass.

use std::panic::resume_unwind;
use std::thread;

use crate::command::{answers, cargo, run as run_command};
use crate::{links, modules, setup, spelling, weigh};

/// Checks formatting, links, imports of the guard, weight, lints and documentation while it downloads what the rest needs, then
/// checks spelling and runs the tests.
pub(crate) fn run() -> anyhow::Result<()> {
    // Before minutes of other work.
    setup::require()?;
    let set_up = thread::spawn(setup::run);
    let checked = check();
    let set_up = set_up.join().unwrap_or_else(|panic| resume_unwind(panic));
    checked.and(set_up)?;
    spelling::check()?;
    run_command(cargo(["test", "--workspace", "--doc"]))?;
    if answers("cargo", &["nextest", "--version"]) {
        run_command(cargo(["nextest", "run", "--workspace"]))?;
        run_command(cargo(["nextest", "run", "-p", "toolbond", "--features", "otel", "otel"]))
    } else {
        run_command(cargo(["test", "--workspace", "--lib", "--bins", "--tests", "--examples"]))?;
        run_command(cargo(["test", "-p", "toolbond", "--features", "otel", "--test", "it", "otel"]))
    }
}

/// What needs nothing but the repository.
fn check() -> anyhow::Result<()> {
    run_command(cargo(["fmt", "--all", "--check"]))?;
    links::check()?;
    modules::check()?;
    weigh::check()?;
    run_command(cargo(["clippy", "--workspace", "--all-targets", "--", "-D", "warnings"]))?;
    let otel = ["clippy", "-p", "toolbond", "--features", "otel", "--all-targets", "--"];
    run_command(cargo(otel.into_iter().chain(["-D", "warnings"])))?;
    let mut documentation = cargo(["doc", "--workspace", "--no-deps"]);
    documentation.env("RUSTDOCFLAGS", "-D warnings");
    run_command(documentation)
}
