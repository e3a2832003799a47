//! Good calls through the guard, alone and while others keep calling tools whose results are out of
//! budget.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering::Relaxed};
use std::time::Duration;

use anyhow::{Context as _, ensure};

use super::cases::{ON, Upstream};
use super::lines::Lines;
use super::load::{Expects, HttpLoad, LinesLoad, Measured, Speaks, Trouble, VALID};
use super::peers::{Process, free_port};
use super::{toolbond, villain};

/// What goes on beside the good calls.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Beside {
    Nothing,
    /// So many threads that compute, and have nothing to do with the guard: what two cores do to each
    /// other.
    Busy(usize),
    /// So many clients, each with one call open whose result is out of budget.
    Hostile(usize),
}

const BESIDE: [Beside; 5] =
    [Beside::Nothing, Beside::Busy(1), Beside::Hostile(1), Beside::Busy(8), Beside::Hostile(8)];

const ROUNDS: usize = 3;
const TIME: Duration = Duration::from_millis(1200);

/// A guard with a villain behind it.
enum Guarded {
    Http { load: HttpLoad, _upstream: Upstream, _process: Process },
    Lines(LinesLoad),
}

impl Guarded {
    fn http() -> anyhow::Result<Self> {
        let upstream = Upstream::start(&std::env::current_exe()?, &["--offers", "hostile"])?;
        let port = free_port()?;
        let mut command = toolbond()?;
        command.args(["--listen", &format!("127.0.0.1:{port}")]).args(ON);
        command.args(["--upstream", &format!("http://127.0.0.1:{}/mcp", upstream.port)]);
        let process = Process::start(command, port)?;
        Ok(Self::Http { load: HttpLoad::forecast(port), _upstream: upstream, _process: process })
    }

    fn lines() -> anyhow::Result<Self> {
        let mut command = toolbond()?;
        command.args(ON).arg("--").arg(std::env::current_exe()?);
        command.args(["guard-server", "--stdio", "--offers", "hostile"]);
        let lines = Lines::start(command)?;
        Ok(Self::Lines(LinesLoad::connect(
            lines,
            "forecast",
            VALID,
            Speaks::Natural,
            Expects::Array,
        )?))
    }

    /// Measures good calls beside `clients` hostile ones; how many of those were answered.
    fn run(&mut self, tools: &[String], clients: usize) -> anyhow::Result<(Measured, usize)> {
        match self {
            Self::Lines(load) => {
                let mut trouble = Trouble::new(tools, clients);
                let measured = load.run_beside(1, TIME, &mut trouble)?;
                Ok((measured, trouble.answered))
            }
            Self::Http { load, .. } => {
                let (over, answered) = (AtomicBool::new(false), AtomicUsize::new(0));
                std::thread::scope(|scope| {
                    let others: Vec<_> = (0..clients)
                        .map(|client| {
                            let (over, answered, load) = (&over, &answered, &*load);
                            scope.spawn(move || {
                                let tools = tools.iter().cycle().skip(client);
                                for tool in tools.take_while(|_| !over.load(Relaxed)) {
                                    let load = HttpLoad { tool: tool.clone(), ..load.clone() };
                                    Trouble::check(&load.ask_once()?)?;
                                    answered.fetch_add(1, Relaxed);
                                }
                                anyhow::Ok(())
                            })
                        })
                        .collect();
                    let measured = load.run(1, TIME);
                    over.store(true, Relaxed);
                    for other in others {
                        other.join().ok().context("a client panicked")??;
                    }
                    Ok((measured?, answered.load(Relaxed)))
                })
            }
        }
    }
}

/// Lets `threads` compute until `work` is done.
fn busy<T>(threads: usize, work: impl FnOnce() -> T) -> T {
    let over = AtomicBool::new(false);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                while !over.load(Relaxed) {
                    std::hint::black_box(());
                }
            });
        }
        let done = work();
        over.store(true, Relaxed);
        done
    })
}

/// Runs it and prints the table.
pub(crate) fn run() -> anyhow::Result<()> {
    let tools = villain::names();
    ensure!(!tools.is_empty(), "no case of the hostile corpus is out of budget");
    println!("\none client that calls a good tool through the guard, validated, beside clients");
    println!(
        "whose results are out of budget ({} cases), or threads that only compute",
        tools.len()
    );
    println!("best of {ROUNDS} rounds of {} ms each, in turns\n", TIME.as_millis());
    println!(
        "{:<8} {:<26} {:>8} {:>8} {:>12} {:>12} {:>9}",
        "way", "beside", "p50 µs", "p99 µs", "p50 to alone", "p99 to alone", "hostile"
    );
    for (way, mut guarded) in [("HTTP", Guarded::http()?), ("stdio", Guarded::lines()?)] {
        let mut best: Vec<Option<(Measured, usize)>> = vec![None; BESIDE.len()];
        for _ in 0..ROUNDS {
            for (best, beside) in best.iter_mut().zip(BESIDE) {
                let measured = match beside {
                    Beside::Nothing => guarded.run(&tools, 0)?,
                    Beside::Busy(threads) => busy(threads, || guarded.run(&tools, 0))?,
                    Beside::Hostile(clients) => guarded.run(&tools, clients)?,
                };
                if best.as_ref().is_none_or(|(best, _)| best.p50 > measured.0.p50) {
                    *best = Some(measured);
                }
            }
        }
        let best: Vec<_> = best.into_iter().flatten().collect();
        let Some((alone, _)) = best.first() else { continue };
        for ((measured, answered), beside) in best.iter().zip(BESIDE) {
            let name = match beside {
                Beside::Nothing => "nothing".to_owned(),
                Beside::Busy(threads) => format!("{threads} busy threads"),
                Beside::Hostile(clients) => format!("{clients} hostile clients"),
            };
            let micros = |time: Duration| time.as_secs_f64() * 1e6;
            let (p50, p99) = (micros(measured.p50), micros(measured.p99));
            let (to_p50, to_p99) = (p50 / micros(alone.p50), p99 / micros(alone.p99));
            println!(
                "{way:<8} {name:<26} {p50:>8.0} {p99:>8.0} {to_p50:>12.2} {to_p99:>12.2} {answered:>9}"
            );
        }
    }
    Ok(())
}
