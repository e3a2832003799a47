//! Chores of the repository: `cargo xtask <chore>`.

mod bench;
mod command;
mod dist;
mod findings;
mod hosts;
mod known;
mod links;
mod modules;
mod node;
mod peers;
mod python;
mod setup;
mod spelling;
mod suite;
mod targets;
mod test;
mod weigh;
mod workspace;

use std::process::ExitCode;

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
    Test(test::Test),
    /// Check spelling, links between documents, and imports; a part of `test`
    Docs,
    /// Download what the tests need into `target/testkit`
    Setup,
    /// Run the converters of all targets over cases and published tools, and write docs/targets.md and
    /// docs/converters.md
    Targets,
    Findings(findings::Findings),
    Bench(bench::Bench),
    Hosts(hosts::Hosts),
    Weigh(weigh::Weigh),
    Dist(dist::Dist),
}

fn main() -> ExitCode {
    let done = match Xtask::parse().chore {
        Chore::Test(test) => test.run(),
        Chore::Docs => docs(),
        Chore::Setup => setup::run().and(setup::tell_missing()),
        Chore::Targets => targets::run(),
        Chore::Findings(findings) => findings.run(),
        Chore::Bench(bench) => bench.run(),
        Chore::Hosts(hosts) => hosts.run(),
        Chore::Weigh(weigh) => weigh.run(),
        Chore::Dist(dist) => dist.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn docs() -> anyhow::Result<()> {
    python::install("tools")?;
    spelling::check()?;
    links::check()?;
    modules::check()
}
