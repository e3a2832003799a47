//! Benchmarks: `cargo xtask bench <what>` runs them in a release build.
#![expect(clippy::print_stdout, reason = "the report is the output")]

mod calls;
mod cases;
mod contract;
mod copier;
mod cost;
mod fleet;
mod guard;
mod hostile;
mod http;
mod lines;
mod load;
mod memory;
mod peers;
mod plain;
mod schema;
mod sdk;
mod serve;
mod soak;
mod stats;
mod table;
mod weather;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use clap::{Parser, Subcommand};
use toolbond_harness::process::set_program;

/// Benchmarks of Toolbond against its peers, in one run on the same data.
#[derive(Parser)]
struct Bench {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// Compile, accept, reject and explain, beside the plain `jsonschema` crate.
    Schema {
        /// A folder of cases, each a folder with `schema.json` and `instances.jsonl`.
        folder: Option<PathBuf>,
    },
    /// Judging, projecting and lifting every tool of the corpus, and the cost of one call.
    Contract,
    /// The same server bare and behind the contract: calls a second, in process and over HTTP.
    Sdk(sdk::Options),
    /// The guard beside peers, between clients and one server on this machine.
    Guard(guard::Options),
    /// Processor time of the guard and of peers for a call.
    Cost(cost::Options),
    /// `toolbond ext-proc` in Envoy beside plain Envoy, nginx and the guard, in front of one server.
    Fleet(fleet::Options),
    /// Peak memory of the guard under load that is meant to fill it.
    Memory(memory::Options),
    /// Clients of every kind over every transport for a while, then what is left of them.
    Soak(soak::Options),
    /// The hostile corpus: the worst five by time and by memory.
    Hostile {
        /// Only this case, in this process.
        #[arg(long)]
        case: Option<String>,
        /// Every case, not only the worst.
        #[arg(long)]
        all: bool,
    },
    /// A server that is called.
    #[command(hide = true)]
    Serve(serve::Options),
    /// A process that copies bytes between a client and a server.
    #[command(hide = true)]
    Copy {
        /// To this port, from a free one, which is printed.
        #[arg(long)]
        to: Option<u16>,
        /// To this command, where it is not to a port.
        #[arg(last = true)]
        command: Vec<String>,
    },
}

fn main() -> anyhow::Result<()> {
    set_program(toolbond()?);
    match Bench::parse().what {
        What::Schema { folder } => schema::run(folder),
        What::Contract => contract::run(),
        What::Sdk(options) => sdk::run(&options),
        What::Guard(options) => guard::run(&options),
        What::Cost(options) => cost::run(&options),
        What::Fleet(options) => fleet::run(&options),
        What::Memory(options) => memory::run(&options),
        What::Soak(options) => soak::run(&options),
        What::Hostile { case: Some(name), .. } => hostile::run_one(&name),
        What::Hostile { case: None, all } => hostile::run(all),
        What::Serve(options) => options.run(),
        What::Copy { to: Some(to), .. } => copier::on_http(to),
        What::Copy { command, .. } => copier::on_stdio(&command),
    }
}

/// `toolbond` as packages hold it, in the folder of the profile `dist` beside that of this program; in a debug build,
/// the one beside it.
fn toolbond() -> anyhow::Result<PathBuf> {
    let bench = std::env::current_exe()?;
    let target = bench.parent().and_then(Path::parent).context("no target folder")?;
    let profile = if cfg!(debug_assertions) { "debug" } else { "dist" };
    Ok(target.join(profile).join(format!("toolbond{}", std::env::consts::EXE_SUFFIX)))
}
