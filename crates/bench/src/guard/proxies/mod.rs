//! The guard beside reverse proxies that read no message, and beside a process that copies bytes.

mod report;

use std::process::Command;
use std::time::Duration;

use super::CLIENTS;
use super::cases::{Missing, OFF, ON, Upstream};
use super::lines::Lines;
use super::load::{Expects, HttpLoad, LinesLoad, Measured, Speaks, VALID};
use super::peers::{Installed, Process, free_port};
use super::processor;
use super::wrk::Wrk;

/// Rounds; in each, everything is measured once with every number of clients.
const ROUNDS: usize = 7;

/// How long each is measured in a round, where `wrk` does not decide that.
const TIME: Duration = Duration::from_secs(1);

/// What a call goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Through {
    Nothing,
    Copier,
    Nginx,
    Envoy,
    GuardOff,
    GuardValidating,
}

impl Through {
    const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "direct",
            Self::Copier => "byte copier",
            Self::Nginx => "nginx",
            Self::Envoy => "Envoy",
            Self::GuardOff => "guard, everything off",
            Self::GuardValidating => "guard, validated",
        }
    }

    const fn options(self) -> &'static [&'static str] {
        match self {
            Self::GuardValidating => ON,
            _ => OFF,
        }
    }
}

/// On HTTP.
const ON_HTTP: [Through; 5] =
    [Through::Nothing, Through::Nginx, Through::Envoy, Through::GuardOff, Through::GuardValidating];

/// On standard input and output.
const ON_STDIO: [Through; 4] =
    [Through::Nothing, Through::Copier, Through::GuardOff, Through::GuardValidating];

/// Every round of one subject with one number of clients.
struct Series {
    through: Through,
    clients: usize,
    rounds: Vec<Measured>,
    /// Processor time that what stands in between took for a call, in microseconds, in each round.
    processor: Vec<f64>,
}

/// The server behind the proxies.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Behind {
    /// Made with an SDK, as servers are: much of a call is its own.
    Sdk,
    /// Answers from prepared text, so that the proxy is most of a call.
    Plain,
}

impl Behind {
    const fn name(self) -> &'static str {
        match self {
            Self::Sdk => "a server made with rmcp",
            Self::Plain => "a server with prepared answers",
        }
    }
}

/// Measures everything and prints both tables.
pub(super) fn run() -> anyhow::Result<()> {
    let wrk = Wrk::new();
    report::head(wrk.as_ref().err());
    for behind in [Behind::Sdk, Behind::Plain] {
        let (http, missing) = on_http(behind, wrk.as_ref().ok())?;
        report::http(behind, &http, &missing);
    }
    report::stdio(&on_stdio()?);
    Ok(())
}

fn on_http(behind: Behind, wrk: Option<&Wrk>) -> anyhow::Result<(Vec<Series>, Missing)> {
    let bench = std::env::current_exe()?;
    let upstream = match behind {
        Behind::Sdk => Upstream::start(&bench, &[])?,
        Behind::Plain => Upstream::plain(&bench, &[])?,
    };
    let (mut subjects, mut missing) = (Vec::new(), Vec::new());
    for through in ON_HTTP {
        match listen(through, upstream.port) {
            Ok((port, process)) => subjects.push((through, HttpLoad::forecast(port), process)),
            Err(error) => missing.push((through.name().to_owned(), format!("{error:#}"))),
        }
    }
    let mut all = Vec::new();
    for round in 0..ROUNDS {
        for clients in CLIENTS {
            // Each round begins with another one, so that none always follows the same.
            subjects.rotate_left(1);
            let mut failed = Vec::new();
            for (through, load, process) in &subjects {
                let process = process.as_ref().map(Process::id);
                // Checks answers, which `wrk` does not.
                let checked = load.run(clients, TIME / 20);
                let measured = checked.and_then(|_| {
                    metered(process, || match wrk {
                        Some(wrk) => wrk.run(load, clients),
                        None => load.run(clients, TIME),
                    })
                });
                match measured {
                    Ok(measured) => keep(&mut all, *through, clients, measured),
                    Err(error) => failed.push((*through, format!("{error:#}"))),
                }
            }
            for (through, reason) in failed {
                subjects.retain(|(other, ..)| *other != through);
                all.retain(|series: &Series| series.through != through);
                missing.push((through.name().to_owned(), reason));
            }
        }
        eprintln!("HTTP: round {} of {ROUNDS} done", round + 1);
    }
    Ok((all, missing))
}

/// Starts what stands in front of the server on the port `to`, and says where it listens.
fn listen(through: Through, to: u16) -> anyhow::Result<(u16, Option<Process>)> {
    let process = match through {
        Through::Nothing | Through::Copier => return Ok((to, None)),
        Through::Nginx => Installed::new().nginx(to)?,
        Through::Envoy => Installed::new().envoy(to)?,
        Through::GuardOff | Through::GuardValidating => {
            let port = free_port()?;
            let mut command = super::toolbond()?;
            command.args(["--listen", &format!("127.0.0.1:{port}")]).args(through.options());
            command.args(["--upstream", &format!("http://127.0.0.1:{to}/mcp")]);
            Process::start(command, port)?
        }
    };
    Ok((process.port, Some(process)))
}

fn on_stdio() -> anyhow::Result<Vec<Series>> {
    let mut subjects = Vec::new();
    for through in ON_STDIO {
        let bench = std::env::current_exe()?;
        let mut command = match through {
            Through::Nothing => Command::new(&bench),
            Through::Copier => {
                let mut command = Command::new(&bench);
                command.args(["guard-copier", "--"]).arg(&bench);
                command
            }
            _ => {
                let mut command = super::toolbond()?;
                command.args(through.options()).arg("--").arg(&bench);
                command
            }
        };
        command.args(["plain-server", "--stdio"]);
        let lines = Lines::start(command)?;
        let load = LinesLoad::connect(lines, "forecast", VALID, Speaks::Natural, Expects::Array)?;
        subjects.push((through, load));
    }
    let mut all = Vec::new();
    for round in 0..ROUNDS {
        for clients in CLIENTS {
            subjects.rotate_left(1);
            for (through, load) in &mut subjects {
                let process = (*through != Through::Nothing).then(|| load.lines.process());
                let measured = metered(process, || load.run(clients, TIME))?;
                keep(&mut all, *through, clients, measured);
            }
        }
        eprintln!("stdio: round {} of {ROUNDS} done", round + 1);
    }
    Ok(all)
}

fn keep(
    all: &mut Vec<Series>,
    through: Through,
    clients: usize,
    (measured, processor): (Measured, Option<f64>),
) {
    let is_same = |one: &Series| one.through == through && one.clients == clients;
    let at = all.iter().position(is_same).unwrap_or_else(|| {
        all.push(Series { through, clients, rounds: Vec::new(), processor: Vec::new() });
        all.len() - 1
    });
    all[at].rounds.push(measured);
    all[at].processor.extend(processor);
}

/// Measures, and says how many microseconds of processor time `process` took for each call.
fn metered(
    process: Option<u32>,
    measure: impl FnOnce() -> anyhow::Result<Measured>,
) -> anyhow::Result<(Measured, Option<f64>)> {
    let before = process.and_then(processor::micros);
    let measured = measure()?;
    let after = process.and_then(processor::micros);
    #[expect(clippy::cast_precision_loss, reason = "counts of one round")]
    let processor =
        before.zip(after).map(|(before, after)| (after - before) / measured.calls.max(1) as f64);
    Ok((measured, processor))
}
