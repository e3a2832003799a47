//! Benchmarks: `cargo xtask bench <what>` runs them in a release build.
#![expect(clippy::print_stdout, reason = "the report is the output")]

mod contract;
mod hostile;
mod schema;
mod timing;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

/// Benchmarks of Toolpact against its peers, in one run on the same data.
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
    /// The hostile corpus: the worst five by time and by memory.
    Hostile {
        /// Only this case, in this process.
        #[arg(long)]
        case: Option<String>,
        /// Every case, not only the worst.
        #[arg(long)]
        all: bool,
    },
}

fn main() -> anyhow::Result<()> {
    match Bench::parse().what {
        What::Schema { folder } => schema::run(folder),
        What::Contract => contract::run(),
        What::Hostile { case: Some(name), .. } => hostile::run_one(&name),
        What::Hostile { case: None, all } => hostile::run(all),
    }
}
