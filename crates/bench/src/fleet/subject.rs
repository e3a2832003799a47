//! What a call goes through, and the processes that make it up.

use std::process::Stdio;

use anyhow::Context as _;
use toolbond_harness::address::local;
use toolbond_harness::envoy::Setup;
use toolbond_harness::guard::ENFORCE;
use toolbond_harness::mcp::url;
use toolbond_harness::process::{Process, toolbond};

use crate::http::Connection;
use crate::load::{FORECAST, HttpLoad};
use crate::peers;
use crate::stats::processor_time;

/// What a call goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Through {
    Nothing,
    Nginx,
    /// Envoy with so many replicas of `toolbond ext-proc`.
    Envoy(usize),
    Guard,
}

impl Through {
    pub(super) const ALL: [Self; 6] =
        [Self::Nothing, Self::Nginx, Self::Envoy(0), Self::Guard, Self::Envoy(1), Self::Envoy(2)];

    pub(super) fn name(self) -> String {
        match self {
            Self::Nothing => "direct".to_owned(),
            Self::Nginx => "nginx".to_owned(),
            Self::Envoy(0) => "Envoy".to_owned(),
            Self::Envoy(count) => format!("Envoy + {count} ext-proc"),
            Self::Guard => "toolbond guard".to_owned(),
        }
    }
}

/// The contract of replicas.
pub(super) const CONTRACT: &str = "arguments = \"enforce\"\nresults = \"enforce\"\n";

/// Has a checker serve its metrics.
pub(super) const STATUS: [&str; 2] = ["--status", "127.0.0.1:0"];

/// The processes that calls go through, and where clients connect.
pub(super) struct Subject {
    pub(super) through: Through,
    pub(super) load: HttpLoad,
    /// Envoy or nginx.
    proxy: Option<u32>,
    checkers: Vec<Checker>,
}

/// A process of ours that checks calls.
struct Checker {
    process: u32,
    /// The port of its metrics.
    status: u16,
}

impl Checker {
    fn new(process: &Process) -> Self {
        Self { process: process.id(), status: process.port("status on") }
    }
}

/// Processor time in microseconds, of Envoy or nginx and of ours.
#[derive(Clone, Copy, Debug)]
pub(super) struct Processor {
    pub(super) proxy: f64,
    pub(super) checkers: f64,
}

impl Subject {
    /// Starts what stands in front of the server on the port `to`.
    pub(super) fn start(through: Through, to: u16, workers: u16) -> anyhow::Result<Self> {
        let (proxy, checkers, load) = match through {
            Through::Nothing => (None, Vec::new(), HttpLoad::new(local(to), FORECAST, ())),
            Through::Nginx => {
                let nginx = peers::nginx(to)?;
                let id = nginx.process.id();
                (Some(id), Vec::new(), HttpLoad::new(nginx.address, FORECAST, nginx))
            }
            Through::Guard => {
                let mut command =
                    toolbond(&["guard", "--listen", "127.0.0.1:0", "--upstream", &url(to)]);
                command.args(ENFORCE).args(STATUS).stdin(Stdio::null());
                let guard = Process::start(command);
                let (address, checker) = (local(guard.port("listening on")), Checker::new(&guard));
                (None, vec![checker], HttpLoad::new(address, FORECAST, guard))
            }
            Through::Envoy(replicas) => {
                let (contract, options) = (CONTRACT, &STATUS);
                let setup = Setup { contract, replicas, options, workers, ..Setup::default() };
                let envoy = peers::envoy(to, &setup)?;
                let replicas = envoy.replicas.iter().map(|replica| Checker::new(&replica.process));
                let (replicas, id) = (replicas.collect(), envoy.id());
                (Some(id), replicas, HttpLoad::new(local(envoy.port), FORECAST, envoy))
            }
        };
        Ok(Self { through, load, proxy, checkers })
    }

    /// The processor time so far.
    pub(super) fn processor(&self) -> anyhow::Result<Processor> {
        let checkers = self.checkers.iter().map(|checker| processor_time(checker.process));
        Ok(Processor {
            proxy: self.proxy.map_or(Ok(0.0), processor_time)?,
            checkers: checkers.sum::<anyhow::Result<f64>>()?,
        })
    }

    /// The calls whose arguments and results were both valid; `None` where nobody checks.
    pub(super) fn validated(&self) -> anyhow::Result<Option<usize>> {
        if self.checkers.is_empty() {
            return Ok(None);
        }
        let counts = self.checkers.iter().map(|checker| validated(checker.status));
        Ok(Some(counts.sum::<anyhow::Result<usize>>()?))
    }
}

/// The calls that were found valid, by the process with its metrics on `port`.
fn validated(port: u16) -> anyhow::Result<usize> {
    let mut connection = Connection::open(local(port), "/metrics", "2026-07-28")?;
    connection.request("GET")?;
    let text = String::from_utf8(connection.message().context("metrics")?)?;
    let valid = |side: &str| -> anyhow::Result<usize> {
        let lines = text.lines().filter(|line| {
            line.starts_with("toolbond_validations_total{")
                && line.contains(side)
                && line.contains("outcome=\"valid\"")
        });
        lines.map(|line| Ok(line.rsplit(' ').next().context("no count")?.parse::<usize>()?)).sum()
    };
    Ok(valid("side=\"arguments\"")?.min(valid("side=\"result\"")?))
}
