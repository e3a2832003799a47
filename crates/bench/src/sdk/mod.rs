//! The same server bare (`rmcp`), behind `toolbond::enforce`, and written with `#[toolbond::tools]`.
//!
//! The clients write bytes and read bytes: what is compared is the server's share. Bare servers check nothing;
//! the others validate every argument and every result, and shape results for the era of the client.

mod pipe;

use std::process::id;
use std::time::Duration;

use pipe::Pipe;
use rmcp::ServerHandler;
use tokio::net::TcpListener;
use tokio::runtime::{self, Runtime};

use crate::calls::Era;
use crate::load::{Call, FORECAST, HttpLoad, Load, Measured};
use crate::serve;
use crate::stats::{float, median, processor_time};
use crate::table::Table;
use crate::weather::{Bare, Ours};

/// How long a round of one way takes.
const TIME: Duration = Duration::from_millis(40);

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Rounds of each way.
    #[arg(long, default_value_t = 21)]
    rounds: usize,
    /// Only rows whose description contains this.
    #[arg(long, default_value = "")]
    only: String,
}

/// One way, and what was measured of it: each round, and the microseconds of processor time for a call in it.
struct Way {
    name: &'static str,
    load: Box<dyn Load>,
    rounds: Vec<(Measured, f64)>,
}

/// Prints calls a second, latencies and shares.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    println!(
        "calls a second (median of {} rounds in turns) and processor time, as shares of bare rmcp 3.8.0",
        options.rounds
    );
    let table = Table::start(
        "<38 transport, clients, revision, result | <9 server | >9 calls/s | >7 share | >9 p50 µs | >9 p99 µs | >12 cpu/call µs | >7 share",
    );
    let runtime = runtime::Builder::new_multi_thread().worker_threads(2).enable_all().build()?;
    for era in [Era::Modern, Era::Legacy] {
        let envelope = if era == Era::Legacy { "/result" } else { "" };
        let forecast = Call { era, data: envelope, ..FORECAST };
        let count = Call { tool: "count", arguments: "{}", ..forecast };
        for (call, result) in [(forecast, "array of 20"), (count, "i64")] {
            for (transport, clients) in [("in process", 1), ("http", 1), ("http", 16)] {
                let row = format!("{transport}, {clients}, {}, {result}", era.revision());
                if row.contains(&options.only) {
                    // Nobody puts its results into an envelope.
                    let bare = Call { data: "", ..call };
                    let loads = if transport == "http" {
                        [
                            on_http(&runtime, Bare::default(), bare)?,
                            on_http(&runtime, toolbond::enforce(Bare::default()), call)?,
                            on_http(&runtime, toolbond::enforce(Ours), call)?,
                        ]
                    } else {
                        [
                            Pipe::open(Bare::default(), bare)?,
                            Pipe::open(toolbond::enforce(Bare::default()), call)?,
                            Pipe::open(toolbond::enforce(Ours), call)?,
                        ]
                    };
                    print(&table, &row, &measure(loads, clients, options.rounds)?);
                }
            }
        }
    }
    Ok(())
}

/// Serves `server` as long as the runtime lives.
fn on_http<H: ServerHandler + Clone>(
    runtime: &Runtime,
    server: H,
    call: Call,
) -> anyhow::Result<Box<dyn Load>> {
    let listener = runtime.block_on(TcpListener::bind("127.0.0.1:0"))?;
    let address = listener.local_addr()?;
    runtime.spawn(serve::answer(listener, server, true));
    Ok(Box::new(HttpLoad::new(address, call, ())))
}

/// Measures everything in turns, `rounds` times each.
fn measure(loads: [Box<dyn Load>; 3], clients: usize, rounds: usize) -> anyhow::Result<Vec<Way>> {
    let ways = ["bare", "enforce", "#[tools]"].into_iter().zip(loads);
    let mut ways: Vec<_> =
        ways.map(|(name, load)| Way { name, load, rounds: Vec::new() }).collect();
    for way in &mut ways {
        way.load.connect(clients)?;
        way.load.run(TIME)?;
    }
    for round in 0..rounds {
        // Nobody always goes first.
        for at in 0..ways.len() {
            let at = (round + at) % ways.len();
            let spent = processor_time(id())?;
            let measured = ways[at].load.run(TIME)?;
            let cost = (processor_time(id())? - spent) / float(measured.calls);
            ways[at].rounds.push((measured, cost));
        }
    }
    Ok(ways)
}

fn print(table: &Table, row: &str, ways: &[Way]) {
    for (at, way) in ways.iter().enumerate() {
        let middle = |value: fn(&(Measured, f64)) -> f64| median(way.rounds.iter().map(value));
        // Each is the median over rounds made one after another.
        let pairs = || way.rounds.iter().zip(&ways[0].rounds);
        let by_clock = median(pairs().map(|(own, bare)| own.0.per_second / bare.0.per_second));
        let by_cost = median(pairs().map(|(own, bare)| bare.1 / own.1));
        table.row(&[
            &(if at == 0 { row } else { "" }),
            &way.name,
            &format_args!("{:.0}", middle(|(measured, _)| measured.per_second)),
            &format_args!("{by_clock:.2}"),
            &format_args!("{:.0}", middle(|(measured, _)| measured.p50)),
            &format_args!("{:.0}", middle(|(measured, _)| measured.p99)),
            &format_args!("{:.1}", middle(|(_, cost)| *cost)),
            &format_args!("{by_cost:.2}"),
        ]);
    }
}
