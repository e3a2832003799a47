//! Good, bad, hostile, slow and leaving clients over every transport at once, and what is left of them
//! in the guards afterwards.

mod calls;
mod census;
mod guards;
mod http;
mod report;
mod stdio;
mod tally;

use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use census::Census;
use guards::Guards;
use http::Shared;
use tally::Tally;

use crate::plain::costly;

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

/// The same guard at three moments.
struct Compared {
    name: &'static str,
    before: Census,
    largest: Census,
    after: Census,
}

/// Runs it, prints the report, and fails where something grew or an answer was wrong.
pub(crate) fn run(options: &Options) -> anyhow::Result<()> {
    let tally = Arc::new(Mutex::new(Arc::new(Tally::default())));
    let mut guards = Guards::start(&tally)?;
    let seconds = Duration::from_secs_f64;
    let pause = seconds(options.pause);
    eprintln!("warm-up: {} s", options.warm_up);
    period(&mut guards, seconds(options.warm_up), &tally);
    thread::sleep(pause);
    let before = guards.census();
    let warm = renew(&tally);
    eprintln!("soak: {} minutes", options.minutes);
    let largest = period(&mut guards, seconds(options.minutes * 60.0), &tally);
    thread::sleep(pause);
    let after = guards.census();
    let counted = renew(&tally);
    let compared: Vec<_> = Guards::NAMES
        .into_iter()
        .zip(before)
        .zip(largest)
        .zip(after)
        .map(|(((name, before), largest), after)| Compared { name, before, largest, after })
        .collect();
    report::print(options, &counted, &compared);
    report::verdict(&[&warm, &counted], &compared)
}

/// The counts so far; from now on others are in use.
fn renew(tally: &Mutex<Arc<Tally>>) -> Arc<Tally> {
    let mut tally = tally.lock().unwrap_or_else(PoisonError::into_inner);
    std::mem::replace(&mut *tally, Arc::new(Tally::default()))
}

/// Lets all clients run for so long; the most that each guard held meanwhile.
fn period(guards: &mut Guards, time: Duration, tally: &Mutex<Arc<Tally>>) -> Vec<Census> {
    let tally = Arc::clone(&tally.lock().unwrap_or_else(PoisonError::into_inner));
    let (costly, is_over) = (costly(), AtomicBool::new(false));
    let shared = Shared { tally: &tally, costly: &costly, is_over: &is_over };
    let targets = guards.targets();
    let (ids, mut largest) = (guards.ids(), guards.census());
    thread::scope(|scope| {
        for target in &targets {
            for (kind, clients, pause) in http::CLIENTS {
                for _ in 0..clients {
                    scope.spawn(move || target.client(kind, pause, shared));
                }
            }
        }
        let stdio = &mut guards.stdio;
        scope.spawn(move || stdio.run(shared));
        scope.spawn(move || stdio::come_and_go(shared));
        let (started, mut told) = (Instant::now(), 0);
        while started.elapsed() < time {
            thread::sleep(Duration::from_millis(500).min(time));
            for (id, largest) in ids.iter().zip(&mut largest) {
                *largest = largest.max(Census::take(*id));
            }
            let minutes = started.elapsed().as_secs() / 60;
            if minutes > told {
                told = minutes;
                let memory: Vec<_> = ids.iter().map(|id| Census::take(*id).memory >> 10).collect();
                eprintln!("{minutes} min: memory of the guards in MiB: {memory:?}");
            }
        }
        is_over.store(true, Relaxed);
    });
    largest
}
