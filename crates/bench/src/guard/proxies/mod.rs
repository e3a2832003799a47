//! The guard beside reverse proxies that read no message, and beside a process that copies bytes.

mod report;
mod wrk;

use std::process::Command;
use std::time::Duration;

use super::CLIENTS;
use super::cases::{Missing, OFF, ON, Upstream};
use super::lines::Lines;
use super::load::{Expects, HttpLoad, LinesLoad, Measured, Speaks};
use super::peers::{Installed, Process, free_port};
use wrk::Wrk;

/// Rounds; in each, everything is measured once with every number of clients.
const ROUNDS: usize = 7;

/// How long each is measured in a round, where `wrk` does not decide that.
const TIME: Duration = Duration::from_millis(1500);

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
}

/// Measures everything and prints both tables.
pub(super) fn run() -> anyhow::Result<()> {
    let wrk = Wrk::new();
    let (http, missing) = on_http(wrk.as_ref().ok())?;
    report::http(&http, &missing, wrk.as_ref().err());
    report::stdio(&on_stdio()?);
    Ok(())
}

fn on_http(wrk: Option<&Wrk>) -> anyhow::Result<(Vec<Series>, Missing)> {
    let bench = std::env::current_exe()?;
    let upstream = Upstream::plain(&bench, &[])?;
    let (mut subjects, mut missing) = (Vec::new(), Vec::new());
    for through in ON_HTTP {
        match listen(through, upstream.port) {
            Ok((port, process)) => subjects.push((through, load(port), process)),
            Err(error) => missing.push((through.name().to_owned(), format!("{error:#}"))),
        }
    }
    let mut all = Vec::new();
    for round in 0..ROUNDS {
        for clients in CLIENTS {
            // Each round begins with another one, so that none always follows the same.
            subjects.rotate_left(1);
            for (through, load, _) in &subjects {
                // Also checks an answer.
                let own = load.run(clients, TIME / 10)?;
                let measured = match wrk {
                    Some(wrk) => wrk.run(load, clients)?,
                    None => own,
                };
                keep(&mut all, *through, clients, measured);
            }
        }
        eprintln!("HTTP: round {} of {ROUNDS} done", round + 1);
    }
    Ok((all, missing))
}

fn load(port: u16) -> HttpLoad {
    HttpLoad {
        port,
        path: "/mcp".to_owned(),
        tool: "forecast".to_owned(),
        speaks: Speaks::Natural,
        expects: Expects::Array,
    }
}

/// Starts what stands in front of the server on the port `to`, and says where it listens.
fn listen(through: Through, to: u16) -> anyhow::Result<(u16, Option<Process>)> {
    let process = match through {
        Through::Nothing | Through::Copier => return Ok((to, None)),
        Through::Nginx => Installed::new().nginx(to)?,
        Through::Envoy => Installed::new().envoy(to)?,
        Through::GuardOff | Through::GuardValidating => {
            let port = free_port()?;
            let mut command = super::toolpact()?;
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
                let mut command = super::toolpact()?;
                command.args(through.options()).arg("--").arg(&bench);
                command
            }
        };
        command.args(["plain-server", "--stdio"]);
        let lines = Lines::start(command)?;
        let load = LinesLoad::connect(lines, "forecast", Speaks::Natural, Expects::Array)?;
        subjects.push((through, load));
    }
    let mut all = Vec::new();
    for round in 0..ROUNDS {
        for clients in CLIENTS {
            subjects.rotate_left(1);
            for (through, load) in &mut subjects {
                let measured = load.run(clients, TIME)?;
                keep(&mut all, *through, clients, measured);
            }
        }
        eprintln!("stdio: round {} of {ROUNDS} done", round + 1);
    }
    Ok(all)
}

fn keep(all: &mut Vec<Series>, through: Through, clients: usize, measured: Measured) {
    let here = all.iter_mut().find(|one| one.through == through && one.clients == clients);
    match here {
        Some(series) => series.rounds.push(measured),
        None => all.push(Series { through, clients, rounds: vec![measured] }),
    }
}
