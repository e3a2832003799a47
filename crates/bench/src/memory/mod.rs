//! Peak memory of the guard while clients or servers try to fill it, and how long an ordinary call of
//! another client takes meanwhile.

mod held;
mod http;
mod load;
mod ordinary;
mod peak;
mod stdio;
mod wait;

use std::time::Duration;

use anyhow::ensure;
use load::{Kind, Way};
use ordinary::Times;
use peak::Peak;

/// What the guard says it holds at most, and what a process needs beside that.
const LIMIT: u64 = 512 + 64;

/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long clients that never read, and servers that never read, are kept.
const HOLD: Duration = Duration::from_secs(8);

/// What to measure.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Only rows whose description contains this.
    #[arg(long, default_value = "")]
    only: String,
    /// Clients at a time; on stdio, requests open at a time.
    #[arg(long, value_delimiter = ',', default_values_t = [1, 8, 64])]
    clients: Vec<usize>,
    /// Instead: every way of holding bytes, pushed to eight times a limit of 64 MiB.
    #[arg(long)]
    held: bool,
    /// Instead: how long another client waits for those who send large messages, beside nginx.
    #[arg(long)]
    wait: bool,
    /// End a guard that takes more than so many MiB.
    #[arg(long, default_value_t = 4096)]
    ceiling: u64,
}

/// How the messages of the load were answered.
#[derive(Clone, Copy, Debug, Default)]
struct Answers {
    accepted: usize,
    refused: usize,
    /// Not within the time, or the connection was closed.
    missing: usize,
}

/// How one message was answered.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Ended {
    Accepted,
    Refused,
    Missing,
}

impl Answers {
    fn add(&mut self, ended: Ended) {
        match ended {
            Ended::Accepted => self.accepted += 1,
            Ended::Refused => self.refused += 1,
            Ended::Missing => self.missing += 1,
        }
    }
}

/// One row of the table.
struct Row {
    peak: Peak,
    took: Duration,
    answers: Answers,
    ordinary: Times,
}

/// Measures everything and prints the table.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    if options.held {
        return held::run(&options.only);
    }
    if options.wait {
        return wait::run();
    }
    println!("cargo xtask bench memory: peak resident memory of one guard, --arguments enforce");
    println!("--results enforce, and an ordinary call of another client every 20 ms meanwhile\n");
    println!(
        "{:<10} {:<34} {:>7} {:>9} {:>7} {:>8} {:>7} {:>7} {:>6} {:>8} {:>8} {:>6}",
        "way",
        "load",
        "clients",
        "peak MiB",
        "took s",
        "accepted",
        "refused",
        "missing",
        "calls",
        "p50 ms",
        "max ms",
        "failed"
    );
    let (mut above, mut rows) = (Vec::new(), 0);
    for way in [Way::Http, Way::Process, Way::Stdio] {
        for kind in way.kinds() {
            let label = format!("{} {}", way.name(), kind.name());
            if !label.contains(&options.only) {
                continue;
            }
            for &clients in &options.clients {
                if way == Way::Stdio && clients > 1 && kind.is_one_process() {
                    continue;
                }
                rows += 1;
                let measured = match way {
                    Way::Stdio => stdio::run(*kind, clients, options.ceiling),
                    _ => http::run(way, *kind, clients, options.ceiling),
                };
                match measured {
                    Ok(row) => {
                        print(way, *kind, clients, &row);
                        if row.peak.mebibytes() > LIMIT {
                            above.push(format!("{label}, {clients} clients"));
                        }
                    }
                    Err(error) => println!("{label}, {clients} clients: not measured: {error:#}"),
                }
            }
        }
    }
    println!();
    ensure!(rows > 0, "no row has `{}` in its description", options.only);
    if above.is_empty() {
        println!("met: no row takes more than {LIMIT} MiB");
    }
    for row in above {
        println!("where we lose: {row}: more than {LIMIT} MiB");
    }
    Ok(())
}

fn print(way: Way, kind: Kind, clients: usize, row: &Row) {
    let Row { peak, took, answers, ordinary } = row;
    let mark = if peak.was_ended { ">" } else { "" };
    println!(
        "{:<10} {:<34} {clients:>7} {:>9} {:>7.1} {:>8} {:>7} {:>7} {:>6} {:>8} {:>8} {:>6}",
        way.name(),
        kind.name(),
        format!("{mark}{}", peak.mebibytes()),
        took.as_secs_f64(),
        answers.accepted,
        answers.refused,
        answers.missing,
        ordinary.count(),
        milliseconds(ordinary.p50()),
        milliseconds(ordinary.max()),
        ordinary.failed,
    );
}

fn milliseconds(time: Option<Duration>) -> String {
    time.map_or_else(|| "-".to_owned(), |time| format!("{:.1}", time.as_secs_f64() * 1e3))
}
