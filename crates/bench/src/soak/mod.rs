//! Good, bad, hostile, slow and leaving clients over every transport at once, and what is left of them
//! in the guards afterwards.

mod calls;
mod census;
mod http;
mod report;
mod stdio;
mod tally;

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::thread;
use std::time::{Duration, Instant};

use census::{Census, census};
use http::{CLIENTS, Shared, Target};
use report::Compared;
use stdio::Client;
use tally::Tally;
use toolbond_harness::address::local;
use toolbond_harness::guard::{Configured, ENFORCE, in_front_of};

use crate::calls::Era;
use crate::plain::costly;
use crate::serve;

/// How long clients run.
#[derive(clap::Args)]
pub(crate) struct Options {
    /// Minutes that the clients run after warm-up.
    #[arg(long, default_value_t = 30.0)]
    minutes: f64,
    /// Seconds of warm-up, with the same clients.
    #[arg(long, default_value_t = 45.0)]
    warm_up: f64,
    /// Seconds without clients before memory, threads, files and processes are counted: longer than
    /// idle sessions and idle threads live.
    #[arg(long, default_value_t = 20.0)]
    pause: f64,
}

const GUARDS: [&str; 3] = ["HTTP to HTTP", "HTTP to a process", "stdio"];

/// A guard in front of processes. Sessions that their clients left without a word end after some seconds, and there may be
/// more of them than there are clients that open some at a time.
fn configuration() -> anyhow::Result<String> {
    let server = serve::words(&["plain", "stdio", "--costly"])?;
    let (program, rest) = (&server[0], &server[1..]);
    Ok(format!(
        "[contract]\narguments = \"enforce\"\nresults = \"enforce\"\n[servers.plain]\n\
         command = '{program}'\nargs = {rest:?}\nmax-sessions = 64\nidle-seconds = 5\n"
    ))
}

/// Runs it, prints the report, and fails where something grew or an answer was wrong.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let tally = Arc::<Tally>::default();
    let (_upstream, upstream) = serve::on_http("plain", &["--costly"])?;
    let (http, port) = in_front_of(upstream, &ENFORCE);
    let process = Configured::start(&configuration()?);
    let mut stdio = Client::start(&tally)?;
    let ids = [http.id(), process.process.id(), stdio.guard.id()];
    let (port, processes) = (local(port), local(process.port("/plain/mcp")));
    let target = |way, address, path, era| Target { way, address, path, era };
    let targets = [
        target("HTTP to HTTP", port, "/mcp", Era::Modern),
        target("HTTP to HTTP, sessions", port, "/mcp", Era::Legacy),
        target("HTTP to a process", processes, "/plain/mcp", Era::Modern),
        target("HTTP to a process, sessions", processes, "/plain/mcp", Era::Legacy),
    ];
    let mut period = |seconds: f64| {
        let largest = period(&targets, &mut stdio, ids, Duration::from_secs_f64(seconds), &tally);
        thread::sleep(Duration::from_secs_f64(options.pause));
        (largest, ids.map(census), tally.take())
    };
    eprintln!("warm-up: {} s", options.warm_up);
    let (_, before, warm) = period(options.warm_up);
    eprintln!("soak: {} minutes", options.minutes);
    let (largest, after, counts) = period(options.minutes * 60.0);
    let compared = [0, 1, 2].map(|at| Compared {
        name: GUARDS[at],
        before: before[at],
        largest: largest[at],
        after: after[at],
    });
    report::print(options.minutes, &counts, &compared);
    report::verdict(&[&warm, &counts], &compared)
}

/// Lets all clients run for so long; the most that each guard held meanwhile.
fn period(
    targets: &[Target],
    stdio: &mut Client,
    guards: [u32; 3],
    time: Duration,
    tally: &Tally,
) -> [Census; 3] {
    let (costly, is_over) = (costly(), AtomicBool::new(false));
    let shared = Shared { tally, costly: &costly, is_over: &is_over };
    let mut largest = guards.map(census);
    thread::scope(|scope| {
        for target in targets {
            for (kind, clients, pause) in CLIENTS {
                for _ in 0..clients {
                    scope.spawn(move || target.client(kind, pause, shared));
                }
            }
        }
        scope.spawn(move || stdio.run(shared));
        scope.spawn(move || stdio::come_and_go(shared));
        let (started, mut told) = (Instant::now(), 0);
        while started.elapsed() < time {
            thread::sleep(Duration::from_millis(500).min(time));
            let now = guards.map(census);
            for (largest, now) in largest.iter_mut().flatten().zip(now.iter().flatten()) {
                *largest = (*largest).max(*now);
            }
            let minutes = started.elapsed().as_secs() / 60;
            if minutes > told {
                told = minutes;
                let memory = now.map(|census| census[0]);
                eprintln!("{minutes} min: memory of the guards in MiB: {memory:?}");
            }
        }
        is_over.store(true, Relaxed);
    });
    largest
}
