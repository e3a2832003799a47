//! What is measured: the server itself, the guard in front of it, and peers in front of it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use toolbond_harness::proc::status;
use toolbond_harness::process as harness;

use super::lines::Lines;
use super::load::{Expects, HttpLoad, LinesLoad, Measured, REPAIRABLE, Speaks, VALID};
use super::peers::{Installed, Process, free_port};

/// The way that messages take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Way {
    /// A client on HTTP, a server on HTTP.
    Http,
    /// A client on HTTP, a server on standard input and output.
    Bridge,
    /// A client and a server on standard input and output.
    Stdio,
}

impl Way {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Http => "HTTP",
            Self::Bridge => "HTTP to stdio",
            Self::Stdio => "stdio",
        }
    }
}

/// What stands between client and server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Direct,
    /// A process that copies bytes: nothing in between can cost less.
    Copier,
    Guard,
    /// The guard, and calls that it repairs or translates for a server of another era.
    Changing,
    Peer,
}

/// One thing that is measured.
pub(crate) struct Case {
    pub(crate) way: Way,
    pub(crate) kind: Kind,
    pub(crate) name: &'static str,
    load: Load,
    process: Option<u32>,
}

enum Load {
    Http { load: HttpLoad, _process: Option<Process> },
    Lines(LinesLoad),
}

impl Case {
    pub(crate) fn run(&mut self, clients: usize, time: Duration) -> anyhow::Result<Measured> {
        match &mut self.load {
            Load::Http { load, .. } => load.run(clients, time),
            Load::Lines(load) => load.run(clients, time),
        }
    }

    pub(crate) fn label(&self) -> String {
        format!("{}: {}", self.way.name(), self.name)
    }

    /// The memory in use, in KiB, of what stands in between.
    pub(crate) fn resident(&self) -> Option<u64> {
        status(self.process?, "VmRSS")
    }
}

/// The server of all cases on HTTP.
pub(crate) struct Upstream {
    _process: harness::Process,
    pub(crate) port: u16,
}

impl Upstream {
    /// The server that an SDK makes.
    pub(crate) fn start(program: &Path, options: &[&str]) -> Self {
        Self::launch(program, "guard-server", options)
    }

    /// The server that answers from prepared text.
    pub(crate) fn plain(program: &Path, options: &[&str]) -> Self {
        Self::launch(program, "plain-server", options)
    }

    fn launch(program: &Path, server: &str, options: &[&str]) -> Self {
        let mut command = Command::new(program);
        command.args([server, "--http"]).args(options);
        let (process, port) = harness::Process::listening(command);
        Self { _process: process, port }
    }
}

/// What cannot be measured, and why.
pub(crate) type Missing = Vec<(String, String)>;

/// The cases, and the servers that those on HTTP share.
pub(crate) struct Cases {
    cases: Vec<Case>,
    _upstreams: [Upstream; 3],
}

impl std::ops::Deref for Cases {
    type Target = Vec<Case>;

    fn deref(&self) -> &Vec<Case> {
        &self.cases
    }
}

impl std::ops::DerefMut for Cases {
    fn deref_mut(&mut self) -> &mut Vec<Case> {
        &mut self.cases
    }
}

pub(crate) const OFF: &[&str] =
    &["--tools", "off", "--arguments", "off", "--results", "off", "--no-project"];
pub(crate) const ON: &[&str] = &["--arguments", "enforce", "--results", "enforce"];

const REPAIR: &[&str] = &["--arguments", "repair", "--results", "enforce"];

/// What the guard is told, and what its client sends, speaks and gets.
struct Guarded {
    kind: Kind,
    name: &'static str,
    options: &'static [&'static str],
    arguments: &'static str,
    speaks: Speaks,
    expects: Expects,
    /// What its server offers.
    offers: &'static str,
}

impl Guarded {
    const fn natural(
        kind: Kind,
        name: &'static str,
        options: &'static [&'static str],
        arguments: &'static str,
    ) -> Self {
        let (speaks, expects) = (Speaks::Natural, Expects::Array);
        Self { kind, name, options, arguments, speaks, expects, offers: "arrays" }
    }

    /// A client of 2025-11-25.
    const fn legacy(kind: Kind, name: &'static str, offers: &'static str) -> Self {
        let (speaks, expects) = (Speaks::Legacy, Expects::Envelope);
        Self { kind, name, options: ON, arguments: VALID, speaks, expects, offers }
    }
}

/// A valid call under `enforce`, under `repair`, and a call that is repaired.
pub(crate) const REPAIRS: [&str; 3] =
    ["guard, validated", "guard, valid call under repair", "guard, repaired call"];

/// A call of a client of 2025-11-25 to a server of both eras, and to one of 2026-07-28 only.
pub(crate) const ERAS: [&str; 2] =
    ["guard, validated and projected", "guard, projected and bridged"];

const GUARDS: [Guarded; 6] = [
    Guarded::natural(Kind::Guard, "guard, everything off", OFF, VALID),
    Guarded::natural(Kind::Guard, REPAIRS[0], ON, VALID),
    Guarded::natural(Kind::Guard, REPAIRS[1], REPAIR, VALID),
    Guarded::natural(Kind::Changing, REPAIRS[2], REPAIR, REPAIRABLE),
    Guarded::legacy(Kind::Guard, ERAS[0], "arrays"),
    Guarded::legacy(Kind::Changing, ERAS[1], "modern"),
];

/// Starts everything. `only` leaves out what has it not in its name.
pub(crate) fn all(only: Option<&str>) -> anyhow::Result<(Cases, Missing)> {
    let bench = std::env::current_exe()?;
    let toolbond = super::toolbond_path()?;
    let start = |offers| Upstream::start(&bench, &["--offers", offers]);
    let upstreams = [start("arrays"), start("objects"), start("modern")];
    let [port, objects, modern] = upstreams.each_ref().map(|upstream| upstream.port);
    let (cases, missing) = (Vec::new(), Vec::new());
    let mut setup = Setup { bench, toolbond, port, objects, modern, only, cases, missing };
    setup.ours();
    setup.peers();
    let Setup { cases, missing, .. } = setup;
    Ok((Cases { cases, _upstreams: upstreams }, missing))
}

struct Setup<'a> {
    bench: PathBuf,
    toolbond: PathBuf,
    port: u16,
    /// The port of the server that gives objects.
    objects: u16,
    /// The port of the server that speaks no revision before 2026-07-28.
    modern: u16,
    only: Option<&'a str>,
    cases: Vec<Case>,
    missing: Missing,
}

impl Setup<'_> {
    fn add(
        &mut self,
        way: Way,
        kind: Kind,
        name: &'static str,
        start: impl FnOnce(&Self) -> anyhow::Result<(Load, Option<u32>)>,
    ) {
        if matches!(kind, Kind::Guard | Kind::Changing | Kind::Peer)
            && self.only.is_some_and(|only| !name.contains(only))
        {
            return;
        }
        match start(self) {
            Ok((load, process)) => self.cases.push(Case { way, kind, name, load, process }),
            Err(error) => {
                self.missing.push((format!("{}: {name}", way.name()), format!("{error:#}")));
            }
        }
    }

    fn upstream(&self, offers: &str) -> u16 {
        if offers == "modern" { self.modern } else { self.port }
    }

    fn server(&self) -> Command {
        let mut command = Command::new(&self.bench);
        command.args(["guard-server", "--stdio"]);
        command
    }

    fn ours(&mut self) {
        self.add(Way::Http, Kind::Direct, "direct", |setup| {
            let load = http(setup.port, "/mcp", "forecast", Speaks::Natural, Expects::Array);
            Ok((Load::Http { load, _process: None }, None))
        });
        self.add(Way::Http, Kind::Copier, "a copier of bytes", |setup| {
            let port = free_port()?;
            let mut command = Command::new(&setup.bench);
            command.args(["guard-copier", "--from", &port.to_string()]);
            command.args(["--to", &setup.port.to_string()]);
            let process = Process::start(command, port)?;
            let id = process.id();
            let load = http(port, "/mcp", "forecast", Speaks::Natural, Expects::Array);
            Ok((Load::Http { load, _process: Some(process) }, Some(id)))
        });
        for Guarded { kind, name, options, arguments, speaks, expects, offers } in GUARDS {
            self.add(Way::Http, kind, name, |setup| {
                let process = super::guard(setup.upstream(offers), options)?;
                let id = process.id();
                let load = http(process.port, "/mcp", "forecast", speaks, expects);
                let load = HttpLoad { arguments, ..load };
                Ok((Load::Http { load, _process: Some(process) }, Some(id)))
            });
        }
        self.add(Way::Stdio, Kind::Direct, "direct", |setup| {
            lines(setup.server(), "forecast", VALID, Speaks::Natural, Expects::Array)
        });
        self.add(Way::Stdio, Kind::Copier, "a copier of bytes", |setup| {
            let mut command = Command::new(&setup.bench);
            command.args(["guard-copier", "--"]).arg(&setup.bench);
            command.args(["guard-server", "--stdio"]);
            lines(command, "forecast", VALID, Speaks::Natural, Expects::Array)
        });
        for Guarded { kind, name, options, arguments, speaks, expects, offers } in GUARDS {
            self.add(Way::Stdio, kind, name, |setup| {
                let mut command = Command::new(&setup.toolbond);
                command.arg("guard").args(options).arg("--").arg(&setup.bench);
                command.args(["guard-server", "--stdio", "--offers", offers]);
                lines(command, "forecast", arguments, speaks, expects)
            });
        }
    }

    fn peers(&mut self) {
        let installed = Installed::new();
        // Not every peer carries arrays: all are given objects of the same size.
        let upstream = format!("http://127.0.0.1:{}/mcp", self.objects);
        let bench = self.bench.to_string_lossy().into_owned();
        let server = [bench.as_str(), "guard-server", "--stdio", "--offers", "objects"];
        let peer = |process: Process, path: &str, tool: &str| {
            let load = http(process.port, path, tool, Speaks::Legacy, Expects::Object);
            let id = process.id();
            Ok((Load::Http { load, _process: Some(process) }, Some(id)))
        };
        // These read no message, so arrays are nothing to them.
        let port = self.port;
        let reverse = |process: Process| {
            let load = http(process.port, "/mcp", "forecast", Speaks::Natural, Expects::Array);
            let id = process.id();
            Ok((Load::Http { load, _process: Some(process) }, Some(id)))
        };
        self.add(Way::Http, Kind::Peer, "nginx, plain", |_| reverse(installed.nginx(port)?));
        self.add(Way::Http, Kind::Peer, "Envoy, plain", |_| reverse(installed.envoy(port)?));
        self.add(Way::Http, Kind::Peer, "crate mcp-proxy", |_| {
            let backend = format!("transport = \"http\"\nurl = \"{upstream}\"");
            peer(installed.mcp_proxy_crate(&backend)?, "/", "b/report")
        });
        self.add(Way::Http, Kind::Peer, "FastMCP proxy", |_| {
            let port = free_port()?;
            let command = installed.fastmcp(&[&upstream], Some(port))?;
            peer(Process::start(command, port)?, "/mcp", "report")
        });
        self.add(Way::Bridge, Kind::Peer, "crate mcp-proxy", |_| {
            let backend = format!(
                "transport = \"stdio\"\ncommand = \"{bench}\"\nargs = [\"guard-server\", \"--stdio\", \"--offers\", \"objects\"]"
            );
            peer(installed.mcp_proxy_crate(&backend)?, "/", "b/report")
        });
        self.add(Way::Bridge, Kind::Peer, "npm supergateway", |_| {
            peer(installed.supergateway(&server.join(" "))?, "/mcp", "report")
        });
        self.add(Way::Bridge, Kind::Peer, "PyPI mcp-proxy", |_| {
            peer(installed.mcp_proxy_python(&server)?, "/mcp", "report")
        });
        self.add(Way::Stdio, Kind::Peer, "FastMCP proxy", |_| {
            let command = installed.fastmcp(&server, None)?;
            lines(command, "report", VALID, Speaks::Legacy, Expects::Object)
        });
    }
}

fn http(port: u16, path: &str, tool: &str, speaks: Speaks, expects: Expects) -> HttpLoad {
    let (path, tool) = (path.to_owned(), tool.to_owned());
    HttpLoad { port, path, tool, arguments: VALID, speaks, expects }
}

fn lines(
    command: Command,
    tool: &str,
    arguments: &'static str,
    speaks: Speaks,
    expects: Expects,
) -> anyhow::Result<(Load, Option<u32>)> {
    let lines = Lines::start(command)?;
    let process = lines.process();
    let load = LinesLoad::connect(lines, tool, arguments, speaks, expects)?;
    Ok((Load::Lines(load), Some(process)))
}
