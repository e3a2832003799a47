//! What is measured: the server itself, the guard in front of it, and peers in front of it.

use std::process::Command;

use toolbond_harness::address::local;
use toolbond_harness::envoy::Setup;
use toolbond_harness::guard::{ENFORCE, in_front_of};
use toolbond_harness::mcp::url;
use toolbond_harness::process::{Process, command, toolbond};

use crate::calls::{Era, REPAIRABLE};
use crate::load::{Call, FORECAST, HttpLoad, LinesLoad, Load};
use crate::peers::{self, Peer};
use crate::serve;

/// The way that messages take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    /// A client on HTTP, a server on HTTP.
    Http,
    /// A client on HTTP, a server on standard input and output.
    Bridge,
    /// A client and a server on standard input and output.
    Stdio,
}

impl Way {
    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Http => "HTTP",
            Self::Bridge => "HTTP to stdio",
            Self::Stdio => "stdio",
        }
    }
}

/// What stands between client and server.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Kind {
    Direct,
    /// A process that copies bytes: nothing in between can cost less.
    Copier,
    Guard,
    /// The guard, and calls that it repairs or translates for a server of another era.
    Changing,
    Peer,
}

/// One thing that is measured.
pub(super) struct Case {
    pub(super) way: Way,
    pub(super) kind: Kind,
    pub(super) name: &'static str,
    pub(super) load: Box<dyn Load>,
    /// What stands in between.
    pub(super) process: Option<u32>,
    /// It is measured no more.
    pub(super) has_failed: bool,
}

impl Case {
    pub(super) fn label(&self) -> String {
        format!("{}: {}", self.way.name(), self.name)
    }
}

/// A load, and the process that it goes through.
type Started = (Box<dyn Load>, Option<u32>);

fn through((process, port): (Process, u16), call: Call) -> Started {
    let id = process.id();
    (Box::new(HttpLoad::new(local(port), call, process)), Some(id))
}

fn through_peer(peer: Peer, call: Call) -> Started {
    let id = peer.process.id();
    (Box::new(HttpLoad::new(peer.address, call, peer)), Some(id))
}

fn lines(command: Command, call: Call) -> anyhow::Result<Started> {
    let load = LinesLoad::start(command, call)?;
    let id = load.lines.process.id();
    Ok((Box::new(load), Some(id)))
}

/// What cannot be measured, and why.
pub(super) type Missing = Vec<(String, String)>;

/// A client of 2025-11-25, which gets the array in an envelope.
const LEGACY: Call = Call { era: Era::Legacy, data: "/result", ..FORECAST };

/// Not every peer carries arrays: all are given objects of the same size.
const OBJECTS: Call = Call { era: Era::Legacy, tool: "report", data: "/hours", ..FORECAST };

const REPAIRED: Call = Call { arguments: REPAIRABLE, ..FORECAST };

/// The crate `mcp-proxy` has a path and names of its own.
const MCP_PROXY: Call = Call { path: "/", tool: "b/report", ..OBJECTS };

const OFF: &[&str] = &["--tools", "off", "--arguments", "off", "--results", "off", "--no-project"];
const REPAIR: &[&str] = &["--arguments", "repair", "--results", "enforce"];

/// A valid call under `enforce`, under `repair`, and a call that is repaired.
pub(super) const REPAIRS: [&str; 3] =
    ["guard, validated", "guard, valid call under repair", "guard, repaired call"];

/// A call of a client of 2025-11-25 to a server of both eras, and to one of 2026-07-28 only.
pub(super) const ERAS: [&str; 2] =
    ["guard, validated and projected", "guard, projected and bridged"];

/// What the guard is called, told and sent, and what its server is.
const GUARDS: [(Kind, &str, &[&str], Call, &str); 6] = [
    (Kind::Guard, "guard, everything off", OFF, FORECAST, "arrays"),
    (Kind::Guard, REPAIRS[0], &ENFORCE, FORECAST, "arrays"),
    (Kind::Guard, REPAIRS[1], REPAIR, FORECAST, "arrays"),
    (Kind::Changing, REPAIRS[2], REPAIR, REPAIRED, "arrays"),
    (Kind::Guard, ERAS[0], &ENFORCE, LEGACY, "arrays"),
    (Kind::Changing, ERAS[1], &ENFORCE, LEGACY, "modern"),
];

/// The cases so far.
struct Cases<'a> {
    only: Option<&'a str>,
    started: Vec<Case>,
    missing: Missing,
}

impl Cases<'_> {
    fn add(
        &mut self,
        way: Way,
        kind: Kind,
        name: &'static str,
        start: impl FnOnce() -> anyhow::Result<Started>,
    ) {
        let is_always = matches!(kind, Kind::Direct | Kind::Copier);
        if !is_always && self.only.is_some_and(|only| !name.contains(only)) {
            return;
        }
        match start() {
            Ok((load, process)) => {
                self.started.push(Case { way, kind, name, load, process, has_failed: false });
            }
            Err(error) => {
                self.missing.push((format!("{}: {name}", way.name()), format!("{error:#}")));
            }
        }
    }
}

/// Starts everything, and the servers that those on HTTP share. `only` leaves out what has it not in its name.
pub(super) fn all(only: Option<&str>) -> anyhow::Result<(Vec<Case>, Missing, impl Sized)> {
    let start = |kind| serve::on_http(kind, &[]);
    let servers = [start("arrays")?, start("objects")?, start("modern")?];
    let [arrays, objects, modern] = servers.each_ref().map(|(_, port)| *port);
    let mut cases = Cases { only, started: Vec::new(), missing: Vec::new() };
    let server = |kind| serve::words(&[kind, "stdio"]);
    let bench = std::env::current_exe()?;

    cases.add(Way::Http, Kind::Direct, "direct", || {
        Ok((Box::new(HttpLoad::new(local(arrays), FORECAST, ())), None))
    });
    cases.add(Way::Http, Kind::Copier, "a copier of bytes", || {
        let mut copier = Command::new(&bench);
        copier.args(["copy", "--to", &arrays.to_string()]);
        Ok(through(Process::listening(copier), FORECAST))
    });
    for (kind, name, options, call, offers) in GUARDS {
        let port = if offers == "modern" { modern } else { arrays };
        cases.add(Way::Http, kind, name, || Ok(through(in_front_of(port, options), call)));
    }
    cases.add(Way::Stdio, Kind::Direct, "direct", || lines(command(&server("arrays")?), FORECAST));
    cases.add(Way::Stdio, Kind::Copier, "a copier of bytes", || {
        let mut copier = Command::new(&bench);
        copier.args(["copy", "--"]).args(server("arrays")?);
        lines(copier, FORECAST)
    });
    for (kind, name, options, call, offers) in GUARDS {
        cases.add(Way::Stdio, kind, name, || {
            let mut guard = toolbond(&["guard"]);
            guard.args(options).arg("--").args(server(offers)?);
            lines(guard, call)
        });
    }

    // These two read no message, so arrays are nothing to them.
    cases.add(Way::Http, Kind::Peer, "nginx, plain", || {
        Ok(through_peer(peers::nginx(arrays)?, FORECAST))
    });
    cases.add(Way::Http, Kind::Peer, "Envoy, plain", || {
        let envoy = peers::envoy(arrays, &Setup { replicas: 0, ..Setup::default() })?;
        let (address, id) = (local(envoy.port), envoy.id());
        Ok((Box::new(HttpLoad::new(address, FORECAST, envoy)), Some(id)))
    });
    cases.add(Way::Http, Kind::Peer, "crate mcp-proxy", || {
        let backend = format!("transport = \"http\"\nurl = \"{}\"", url(objects));
        Ok(through_peer(peers::mcp_proxy_crate(&backend)?, MCP_PROXY))
    });
    cases.add(Way::Http, Kind::Peer, "FastMCP proxy", || {
        Ok(through_peer(peers::fastmcp_http(&url(objects))?, OBJECTS))
    });
    let server = serve::words(&["objects", "stdio"])?;
    cases.add(Way::Bridge, Kind::Peer, "crate mcp-proxy", || {
        let (program, rest) = (&server[0], &server[1..]);
        let backend = format!("transport = \"stdio\"\ncommand = \"{program}\"\nargs = {rest:?}");
        Ok(through_peer(peers::mcp_proxy_crate(&backend)?, MCP_PROXY))
    });
    cases.add(Way::Bridge, Kind::Peer, "npm supergateway", || {
        Ok(through_peer(peers::supergateway(&server)?, OBJECTS))
    });
    cases.add(Way::Bridge, Kind::Peer, "PyPI mcp-proxy", || {
        Ok(through_peer(peers::mcp_proxy_python(&server)?, OBJECTS))
    });
    cases.add(Way::Stdio, Kind::Peer, "FastMCP proxy", || {
        lines(peers::fastmcp(&server, 0)?, OBJECTS)
    });
    Ok((cases.started, cases.missing, servers))
}
