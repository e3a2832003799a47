//! Chores of the repository: `cargo xtask <chore>`.

mod bench;
mod command;
mod node;
mod peers;
mod python;
mod setup;
mod suite;
mod test;
mod workspace;

use clap::{Parser, Subcommand};

/// Chores of the repository.
#[derive(Parser)]
#[command(name = "cargo xtask", arg_required_else_help = true)]
struct Xtask {
    #[command(subcommand)]
    chore: Chore,
}

#[derive(Subcommand)]
enum Chore {
    /// Run everything: set-up, formatting, lints, documentation examples, fuzz targets, tests
    Test,
    /// Fetch what the tests need, into `target/testkit`
    Setup,
    Bench(bench::Bench),
}

fn main() -> anyhow::Result<()> {
    match Xtask::parse().chore {
        Chore::Test => test::run(),
        Chore::Setup => setup::run(),
        Chore::Bench(bench) => bench.run(),
    }
}
