//! The processor time that a proxy takes for a call, of the guard beside peers, in one run on this machine.

mod cases;
mod report;

use std::time::Duration;

use anyhow::Context as _;

use crate::cases::Case;
use crate::stats::{float, processor_time};

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only what has this in its way or name, such as `stdio` or `validated`, beside nginx and the copier.
    #[arg(long)]
    only: Option<String>,
    /// Each case is measured so often, in turns with the others.
    #[arg(long, default_value_t = 9)]
    rounds: usize,
    /// Milliseconds that each case is measured in a round.
    #[arg(long, default_value_t = 400)]
    milliseconds: u64,
    /// Connections at a time; on standard input and output, calls open at a time on one connection.
    #[arg(long, value_delimiter = ',', default_values_t = [8, 32])]
    connections: Vec<usize>,
}

/// What came of one case with so many connections.
struct Row {
    case: usize,
    connections: usize,
    /// Microseconds of processor time for a call, in each round.
    rounds: Vec<f64>,
}

/// Runs everything and prints the tables.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let (mut all, _servers) = cases::all(options.only.as_deref())?;
    let (cases, time) = (&mut all.started, Duration::from_millis(options.milliseconds));
    let mut rows: Vec<_> = (options.connections.iter())
        .flat_map(|connections| (0..cases.len()).map(|case| (case, *connections)))
        .map(|(case, connections)| Row { case, connections, rounds: Vec::new() })
        .collect();
    for round in 1..=options.rounds {
        // Each round begins with another one, so that none always follows the same.
        rows.rotate_left(1);
        for row in &mut rows {
            let case = &mut cases[row.case];
            if case.has_failed {
                continue;
            }
            match measure(case, row.connections, time) {
                Ok(cost) => row.rounds.push(cost),
                Err(error) => {
                    case.has_failed = true;
                    let reason = format!("with {} connections: {error:#}", row.connections);
                    all.missing.push((case.label(), reason));
                }
            }
        }
        eprintln!("round {round} of {} done", options.rounds);
    }
    rows.sort_by_key(|row| (cases[row.case].way, row.case));
    rows.retain(|row| row.rounds.len() == options.rounds);
    report::print(options, cases, &rows, &all.missing);
    Ok(())
}

/// The microseconds of processor time that the process in between takes for a call.
fn measure(case: &mut Case, connections: usize, time: Duration) -> anyhow::Result<f64> {
    let process = case.process.context("no process")?;
    case.load.connect(connections)?;
    case.load.run(time / 10)?;
    let before = processor_time(process)?;
    let measured = case.load.run(time)?;
    let cost = (processor_time(process)? - before) / float(measured.calls);
    case.load.connect(0)?;
    Ok(cost)
}
