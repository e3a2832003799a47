//! What a call goes through, and the processes that make it up.

use std::fs;

use anyhow::Context as _;
use toolbond_harness::proc::processor_time;

use crate::guard::cases::ON;
use crate::guard::envoy::Envoy;
use crate::guard::load::HttpLoad;
use crate::guard::peers::{Installed, Process, free_port};
use crate::guard::toolbond_verb;

use super::metrics;

/// What a call goes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Through {
    Nothing,
    Nginx,
    Envoy,
    Guard,
    OneReplica,
    TwoReplicas,
}

impl Through {
    pub(super) const ALL: [Self; 6] =
        [Self::Nothing, Self::Nginx, Self::Envoy, Self::Guard, Self::OneReplica, Self::TwoReplicas];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Nothing => "direct",
            Self::Nginx => "nginx",
            Self::Envoy => "Envoy",
            Self::Guard => "toolbond guard",
            Self::OneReplica => "Envoy + 1 ext-proc",
            Self::TwoReplicas => "Envoy + 2 ext-proc",
        }
    }
}

/// The processes that calls go through, and where clients connect.
pub(super) struct Subject {
    pub(super) through: Through,
    pub(super) load: HttpLoad,
    /// Envoy or nginx.
    proxy: Option<Process>,
    pub(super) checkers: Vec<Checker>,
}

/// A process of ours that checks calls.
pub(super) struct Checker {
    pub(super) process: Process,
    /// The port of its metrics.
    status: u16,
}

/// Processor time in microseconds, of Envoy or nginx and of ours.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Processor {
    pub(super) proxy: f64,
    pub(super) checkers: f64,
}

impl Subject {
    /// Starts what stands in front of the server on the port `to`.
    pub(super) fn start(through: Through, to: u16, envoy_workers: u16) -> anyhow::Result<Self> {
        let installed = Installed::new();
        let (proxy, checkers) = match through {
            Through::Nothing => (None, Vec::new()),
            Through::Nginx => (Some(installed.nginx(to)?), Vec::new()),
            Through::Guard => (None, vec![Checker::guard(to)?]),
            Through::Envoy | Through::OneReplica | Through::TwoReplicas => {
                let count = match through {
                    Through::Envoy => 0,
                    Through::OneReplica => 1,
                    _ => 2,
                };
                let server = ("bench".to_owned(), format!("http://127.0.0.1:{to}/mcp"));
                let start = |_| Checker::replica(std::slice::from_ref(&server));
                let checkers: Vec<_> = (0..count).map(start).collect::<anyhow::Result<_>>()?;
                let replicas: Vec<_> = checkers.iter().map(|one| one.process.port).collect();
                let routes = [("bench".to_owned(), "/".to_owned())];
                let workers = envoy_workers;
                let envoy = Envoy { to, workers, replicas: &replicas, routes: &routes };
                (Some(installed.start_envoy(envoy)?), checkers)
            }
        };
        let listening = proxy.as_ref().or(checkers.first().map(|checker| &checker.process));
        let load = HttpLoad::forecast(listening.map_or(to, |process| process.port));
        Ok(Self { through, load, proxy, checkers })
    }

    /// The processor time so far.
    pub(super) fn processor(&self) -> anyhow::Result<Processor> {
        let of = |process: &Process| processor_time(process.id()).context("a process ended");
        let checkers = self.checkers.iter().map(|checker| of(&checker.process));
        Ok(Processor {
            proxy: self.proxy.as_ref().map(of).transpose()?.unwrap_or_default(),
            checkers: checkers.sum::<anyhow::Result<f64>>()?,
        })
    }

    /// The calls whose arguments and results were both valid; `None` where nobody checks.
    pub(super) fn validated(&self) -> anyhow::Result<Option<u64>> {
        if self.checkers.is_empty() {
            return Ok(None);
        }
        let counts = self.checkers.iter().map(|checker| metrics::validated(checker.status));
        Ok(Some(counts.sum::<anyhow::Result<u64>>()?))
    }
}

impl Checker {
    /// `toolbond guard` in front of the server on the port `to`.
    fn guard(to: u16) -> anyhow::Result<Self> {
        let mut command = toolbond_verb("guard")?;
        command.args(["--upstream", &format!("http://127.0.0.1:{to}/mcp")]).args(ON);
        Self::start(command)
    }

    /// `toolbond ext-proc` for these servers, each a name and a URL.
    pub(super) fn replica(servers: &[(String, String)]) -> anyhow::Result<Self> {
        let contract = "[contract]\narguments = \"enforce\"\nresults = \"enforce\"\n".to_owned();
        let servers =
            servers.iter().map(|(name, url)| format!("[servers.{name}]\nurl = \"{url}\"\n"));
        let text: String = std::iter::once(contract).chain(servers).collect();
        let name = format!("{}.toml", free_port()?);
        let file = Installed::new().folder("fleet")?.join(name);
        fs::write(&file, text)?;
        let mut command = toolbond_verb("ext-proc")?;
        command.arg("--config").arg(&file);
        Self::start(command)
    }

    fn start(mut command: std::process::Command) -> anyhow::Result<Self> {
        let (port, status) = (free_port()?, free_port()?);
        command.args(["--listen", &format!("127.0.0.1:{port}")]);
        command.args(["--status", &format!("127.0.0.1:{status}")]);
        Ok(Self { process: Process::start(command, port)?, status })
    }
}
