//! The guard between clients and a server, beside peers, in one run on this machine.

mod cases;
mod lists;
mod report;

use std::time::Duration;

use toolbond_harness::proc::status;

use crate::load::Measured;

/// Clients at a time; on standard input and output, calls open at a time on one connection.
const CLIENTS: [usize; 3] = [1, 8, 32];

/// What came of one case with one number of clients.
struct Row {
    case: usize,
    clients: usize,
    best: Measured,
}

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only what has this in its name, beside the server itself, nginx and the copier; `lists` for the first `tools/list` alone.
    #[arg(long)]
    only: Option<String>,
    /// Each case is measured so often, in turns with the others; the best counts, because everything that
    /// disturbs makes it slower.
    #[arg(long, default_value_t = 3)]
    rounds: usize,
    /// Milliseconds that each case is measured in a round.
    #[arg(long, default_value_t = 600)]
    milliseconds: u64,
}

/// Runs everything and prints the table.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    if options.only.as_deref() == Some("lists") {
        return lists::run(options.rounds);
    }
    let (mut cases, mut missing, servers) = cases::all(options.only.as_deref())?;
    let mut rows: Vec<Row> = Vec::new();
    let mut memory = vec![Vec::new(); cases.len()];
    let time = Duration::from_millis(options.milliseconds);
    for round in 1..=options.rounds {
        for clients in CLIENTS {
            for (index, case) in cases.iter_mut().enumerate().filter(|(_, case)| !case.has_failed) {
                match case.load.run_once(clients, time) {
                    Err(error) => {
                        case.has_failed = true;
                        missing.push((case.label(), format!("with {clients} clients: {error:#}")));
                    }
                    Ok(measured) => keep_best(&mut rows, index, clients, measured),
                }
            }
        }
        for (case, memory) in cases.iter().zip(&mut memory) {
            memory.extend(case.process.and_then(|process| status(process, "VmRSS")));
        }
        eprintln!("round {round} of {} done", options.rounds);
    }
    report::print(options, &cases, &rows, &memory, &missing);
    drop((cases, servers));
    if options.only.is_none() {
        println!();
        lists::run(options.rounds)?;
    }
    Ok(())
}

fn keep_best(rows: &mut Vec<Row>, case: usize, clients: usize, measured: Measured) {
    match rows.iter_mut().find(|row| row.case == case && row.clients == clients) {
        Some(row) if row.best.p50 <= measured.p50 => {}
        Some(row) => row.best = measured,
        None => rows.push(Row { case, clients, best: measured }),
    }
}
