//! The guard between clients and a server, beside peers, in one run on this machine.

pub(crate) mod cases;
mod copier;
pub(crate) mod envoy;
pub(crate) mod http;
pub(crate) mod lines;
mod lists;
pub(crate) mod load;
pub(crate) mod peers;
mod report;
mod reverse;
mod server;
pub(crate) mod wrk;

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::Context as _;

use load::Measured;
use peers::{Process, free_port};

pub(crate) use copier::{on_http as copy_http, on_stdio as copy_stdio};
pub(crate) use server::{Offers, on_http, on_stdio};

/// Clients at a time; on standard input and output, calls open at a time on one connection.
const CLIENTS: [usize; 3] = [1, 8, 32];

/// Each case is measured so often, in turns with the others; the best counts, because everything that
/// disturbs makes it slower.
const ROUNDS: usize = 3;

/// How long each case is measured in a round.
const TIME: Duration = Duration::from_millis(600);

/// What came of one case with one number of clients.
struct Row {
    case: usize,
    clients: usize,
    best: Measured,
}

/// Runs everything and prints the table.
pub(crate) fn run(only: Option<&str>) -> anyhow::Result<()> {
    if only == Some("lists") {
        return lists::run();
    }
    let (mut cases, mut missing) = cases::all(only)?;
    let mut rows: Vec<Row> = Vec::new();
    let mut failed = vec![false; cases.len()];
    let mut memory = vec![Vec::new(); cases.len()];
    for round in 0..ROUNDS {
        for clients in CLIENTS {
            for (index, case) in cases.iter_mut().enumerate() {
                if failed[index] {
                    continue;
                }
                match case.run(clients, TIME) {
                    Err(error) => {
                        failed[index] = true;
                        missing.push((case.label(), format!("with {clients} clients: {error:#}")));
                    }
                    Ok(measured) => keep_best(&mut rows, index, clients, measured),
                }
            }
        }
        for (case, memory) in cases.iter().zip(&mut memory) {
            memory.extend(case.resident());
        }
        eprintln!("round {} of {ROUNDS} done", round + 1);
    }
    report::print(&cases, &rows, &memory, &missing);
    drop(cases);
    if only.is_none() {
        println!();
        lists::run()?;
    }
    Ok(())
}

/// `toolbond guard`, as packages hold it.
pub(crate) fn toolbond() -> anyhow::Result<Command> {
    toolbond_verb("guard")
}

/// `toolbond guard` with these options, in front of the server on the port `to`.
pub(crate) fn guard(to: u16, options: &[&str]) -> anyhow::Result<Process> {
    let port = free_port()?;
    let mut command = toolbond()?;
    command.args(["--listen", &format!("127.0.0.1:{port}")]).args(options);
    command.args(["--upstream", &format!("http://127.0.0.1:{to}/mcp")]);
    Process::start(command, port)
}

/// `toolbond` with this verb, as packages hold it.
pub(crate) fn toolbond_verb(verb: &str) -> anyhow::Result<Command> {
    let mut command = Command::new(toolbond_path()?);
    command.arg(verb);
    Ok(command)
}

/// The command, built with the profile `dist`. This program is in the folder of another profile beside it.
pub(crate) fn toolbond_path() -> anyhow::Result<PathBuf> {
    let bench = std::env::current_exe()?;
    let target = bench.parent().and_then(Path::parent).context("no target folder")?;
    Ok(target.join("dist").join(format!("toolbond{}", std::env::consts::EXE_SUFFIX)))
}

fn keep_best(rows: &mut Vec<Row>, case: usize, clients: usize, measured: Measured) {
    match rows.iter_mut().find(|row| row.case == case && row.clients == clients) {
        Some(row) if row.best.p50 <= measured.p50 => {}
        Some(row) => row.best = measured,
        None => rows.push(Row { case, clients, best: measured }),
    }
}
