//! Peak memory of the guard while clients or servers try to fill it, and how long an ordinary call of
//! another client takes meanwhile.

mod held;
mod http;
mod load;
mod stdio;
mod wait;
mod watch;

use std::time::Duration;

use anyhow::ensure;
use load::Kind;
use memchr::memmem::find;
use watch::Peak;

use crate::stats::Times;
use crate::table::{Table, verdict};

/// What the guard says it holds at most, and what a process needs beside that.
const LIMIT: u64 = 512 + 64;

/// How long a client waits for an answer.
const PATIENCE: Duration = Duration::from_secs(30);

/// How long clients that never read, and servers that never read, are kept.
const HOLD: Duration = Duration::from_secs(8);

/// Between two ordinary calls.
const PAUSE: Duration = Duration::from_millis(20);

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

/// How the messages of the load were answered, and how long ordinary calls took.
#[derive(Debug, Default)]
struct Answers {
    accepted: usize,
    refused: usize,
    /// Not within the time, or the connection was closed.
    missing: usize,
    ordinary: Times,
    /// Ordinary calls without the right answer; how long they took counts, too.
    failed: usize,
}

impl Answers {
    /// Counts a message that was accepted, refused or not answered.
    fn add(&mut self, answered: &anyhow::Result<bool>) {
        *match answered {
            Ok(true) => &mut self.accepted,
            Ok(false) => &mut self.refused,
            Err(_) => &mut self.missing,
        } += 1;
    }

    fn add_ordinary(&mut self, time: Duration, is_right: bool) {
        self.ordinary.0.push(time);
        self.failed += usize::from(!is_right);
    }
}

/// Whether an answer begins like an error of a tool or of the protocol.
pub(crate) fn is_refusal(beginning: &[u8]) -> bool {
    [&b"\"isError\":true"[..], b"\"error\":{"].iter().any(|text| find(beginning, text).is_some())
}

/// Whether an answer is what the tool gives.
fn is_forecast(answer: &[u8]) -> bool {
    find(answer, b"\"structuredContent\"").is_some() && !is_refusal(answer)
}

/// One row of the table.
struct Row {
    peak: Peak,
    took: Duration,
    answers: Answers,
}

/// Clients on HTTP and a server on HTTP; clients on HTTP, each with a session and so a process of its own; one client and
/// one process.
const WAYS: [&str; 3] = ["http", "process", "stdio"];

/// Measures everything and prints the table.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    if options.held {
        return held::run(&options.only);
    }
    if options.wait {
        return wait::run(&options.only);
    }
    println!("cargo xtask bench memory: peak resident memory of one guard, --arguments enforce");
    println!("--results enforce, and an ordinary call of another client every 20 ms meanwhile\n");
    let table = Table::start(
        "<10 way | <34 load | >7 clients | >9 peak MiB | >7 took s | >8 accepted | >7 refused | >7 missing | >6 calls | >8 p50 ms | >8 max ms | >6 failed",
    );
    let (mut above, mut rows) = (Vec::new(), 0);
    let all = WAYS.into_iter().flat_map(|way| Kind::ALL.map(|kind| (way, kind)));
    for (way, kind) in all.filter(|(way, kind)| (*way, *kind) != ("http", Kind::Deaf)) {
        let label = format!("{way} {}", kind.name());
        for &clients in options.clients.iter().filter(|_| label.contains(&options.only)) {
            if way == "stdio" && clients > 1 && kind.is_stuck() {
                continue;
            }
            rows += 1;
            let measured = match way {
                "stdio" => stdio::run(kind, clients, options.ceiling),
                _ => http::run(way == "http", kind, clients, options.ceiling),
            };
            let Row { peak, took, answers } = match measured {
                Ok(row) => row,
                Err(error) => {
                    println!("{label}, {clients} clients: not measured: {error:#}");
                    continue;
                }
            };
            let mark = if peak.is_too_much { ">" } else { "" };
            table.row(&[
                &way,
                &kind.name(),
                &clients,
                &format_args!("{mark}{}", peak.mebibytes),
                &format_args!("{:.1}", took.as_secs_f64()),
                &answers.accepted,
                &answers.refused,
                &answers.missing,
                &answers.ordinary.0.len(),
                &answers.ordinary.millis(50),
                &answers.ordinary.millis(100),
                &answers.failed,
            ]);
            if peak.mebibytes > LIMIT {
                above.push(format!("{label}, {clients} clients"));
            }
        }
    }
    println!();
    ensure!(rows > 0, "no row has `{}` in its description", options.only);
    if above.is_empty() {
        verdict(true, &format!("no row takes more than {LIMIT} MiB"));
    }
    for row in above {
        verdict(false, &format!("{row}: more than {LIMIT} MiB"));
    }
    Ok(())
}
