//! `toolbond ext-proc` in Envoy, beside plain Envoy, nginx, the guard and no proxy, in front of one server.

mod report;
mod rounds;
mod sizing;
mod subject;

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// Processors that everything shares: clients, proxies and server.
const PROCESSORS: u32 = 2;

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only `calls` or only `sizing`.
    #[arg(long)]
    only: Option<Part>,
    /// Rounds, in each of which everything is measured once.
    #[arg(long, default_value_t = 7)]
    rounds: usize,
    /// Worker threads of Envoy.
    #[arg(long, default_value_t = 1)]
    envoy_workers: u16,
}

#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Part {
    /// Calls through everything.
    Calls,
    /// Memory of a replica by the tools that it knows, and the cost of tool lists.
    Sizing,
}

/// Measures and prints the tables.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    share_processors()?;
    report::head(options);
    if options.only != Some(Part::Sizing) {
        rounds::run(options)?;
    }
    if options.only != Some(Part::Calls) {
        sizing::run(options)?;
    }
    Ok(())
}

/// Keeps this process, and those that it starts, on the first processors that it may use.
fn share_processors() -> anyhow::Result<()> {
    let allowed = sched_getaffinity(None)?;
    let mut shared = CpuSet::new();
    for processor in (0..CpuSet::MAX_CPU).filter(|processor| allowed.is_set(*processor)) {
        if shared.count() < PROCESSORS {
            shared.set(processor);
        }
    }
    Ok(sched_setaffinity(None, &shared)?)
}
