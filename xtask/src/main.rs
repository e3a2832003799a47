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

use std::path::PathBuf;

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
    /// Compare with peers, in a release build
    Bench {
        /// What to measure: `schema`, `hostile`, `guard` or `contract`
        subject: String,
        /// A directory of cases (each a directory with `schema.json` and `instances.jsonl`)
        directory: Option<PathBuf>,
    },
}

fn main() -> anyhow::Result<()> {
    match Xtask::parse().chore {
        Chore::Test => test::run(),
        Chore::Setup => setup::run(),
        Chore::Bench { subject, directory } => bench::run(&subject, directory.as_deref()),
    }
}
