//! Benchmarks: `cargo xtask bench <what>` runs them in a release build.
#![expect(clippy::print_stdout, reason = "the report is the output")]

mod contract;
mod fleet;
mod guard;
mod hostile;
mod memory;
mod plain;
mod schema;
mod sdk;
mod soak;
mod timing;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

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
    Sdk {
        /// Rounds of each way.
        #[arg(long, default_value_t = 21)]
        rounds: usize,
        /// Only rows whose description contains this.
        #[arg(long, default_value = "")]
        only: String,
    },
    /// The guard beside peers, between clients and one server on this machine.
    Guard {
        /// Only what has this in its name, beside the server itself; `lists` for the first `tools/list` alone.
        #[arg(long)]
        only: Option<String>,
    },
    /// `toolbond ext-proc` in Envoy beside plain Envoy, nginx and the guard, in front of one server.
    Fleet(fleet::Options),
    /// Peak memory of the guard under load that is meant to fill it.
    Memory(memory::Options),
    /// Clients of every kind over every transport for a while, then what is left of them.
    Soak(soak::Options),
    /// The server that the guard is measured with.
    #[command(hide = true)]
    GuardServer {
        /// On a free port, which is printed.
        #[arg(long)]
        http: bool,
        /// On standard input and output.
        #[arg(long, conflicts_with = "http", required_unless_present = "http")]
        stdio: bool,
        /// Which tools it has.
        #[arg(long, value_enum, default_value = "arrays")]
        offers: guard::Offers,
    },
    /// A server that answers from prepared text, and misbehaves on request.
    #[command(hide = true)]
    PlainServer {
        /// On a free port, which is printed.
        #[arg(long)]
        http: bool,
        /// On standard input and output.
        #[arg(long, conflicts_with = "http", required_unless_present = "http")]
        stdio: bool,
        /// With tools that cost more than any budget.
        #[arg(long)]
        costly: bool,
        /// With the tool list of this server of the corpus, on standard input and output.
        #[arg(long)]
        list: Option<String>,
        /// Streams that clients open get endless notifications of so many bytes.
        #[arg(long, default_value_t = 0)]
        notices: usize,
        /// With so many tools of the corpus at every path, on HTTP.
        #[arg(long, default_value_t = 0)]
        published: usize,
    },
    /// A process that copies bytes between a client and that server.
    #[command(hide = true)]
    GuardCopier {
        /// From this port.
        #[arg(long, requires = "to")]
        from: Option<u16>,
        /// To this one.
        #[arg(long)]
        to: Option<u16>,
        /// To this command, where it is not to a port.
        #[arg(last = true)]
        command: Vec<String>,
    },
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
        What::Sdk { rounds, only } => sdk::run(rounds, &only),
        What::Guard { only } => guard::run(only.as_deref()),
        What::Fleet(options) => fleet::run(&options),
        What::Memory(options) => memory::run(&options),
        What::Soak(options) => soak::run(&options),
        What::GuardServer { http: true, offers, .. } => guard::on_http(offers),
        What::GuardServer { offers, .. } => guard::on_stdio(offers),
        What::PlainServer { http: true, costly, notices, published, .. } => {
            plain::on_http(costly, notices, published)
        }
        What::PlainServer { costly, list, .. } => plain::on_stdio(costly, list.as_deref()),
        What::GuardCopier { from: Some(from), to: Some(to), .. } => guard::copy_http(from, to),
        What::GuardCopier { command, .. } => guard::copy_stdio(&command),
        What::Hostile { case: Some(name), .. } => hostile::run_one(&name),
        What::Hostile { case: None, all } => hostile::run(all),
    }
}
