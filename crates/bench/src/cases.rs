//! What stands between clients and a server, started and ready to be measured.

use std::process::Command;

use toolbond_harness::address::local;
use toolbond_harness::envoy::Setup;
use toolbond_harness::guard::{in_front_of, listening};
use toolbond_harness::process::{Process, toolbond};

use crate::load::{Call, HttpLoad, LinesLoad, Load};
use crate::peers::{self, Peer};

/// The way that messages take.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
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
    pub(crate) load: Box<dyn Load>,
    /// What stands in between.
    pub(crate) process: Option<u32>,
    /// It is measured no more.
    pub(crate) has_failed: bool,
}

impl Case {
    pub(crate) fn label(&self) -> String {
        label(self.way, self.name)
    }
}

fn label(way: Way, name: &str) -> String {
    format!("{}: {name}", way.name())
}

/// The names of what others are held against.
pub(crate) const COPIER: &str = "a copier of bytes";
pub(crate) const NGINX: &str = "nginx, plain";
pub(crate) const ENVOY: &str = "Envoy, plain";

/// Has the guard look at no message.
pub(crate) const OFF: &[&str] = &[
    "--tools",
    "off",
    "--arguments",
    "off",
    "--results",
    "off",
    "--no-project",
    "--keep-dialects",
    "--keep-eras",
];

/// A load, and the process that it goes through.
pub(crate) type Started = (Box<dyn Load>, Option<u32>);

/// What cannot be measured, and why.
pub(crate) type Missing = Vec<(String, String)>;

/// The cases so far.
#[derive(Default)]
pub(crate) struct Cases<'a> {
    pub(crate) only: Option<&'a str>,
    pub(crate) started: Vec<Case>,
    pub(crate) missing: Missing,
}

impl Cases<'_> {
    /// Starts a case, unless it is left out. What others are held against never is.
    pub(crate) fn add(
        &mut self,
        way: Way,
        kind: Kind,
        name: &'static str,
        start: impl FnOnce() -> anyhow::Result<Started>,
    ) {
        let is_always = matches!(kind, Kind::Direct | Kind::Copier) || name == NGINX;
        if !is_always && self.only.is_some_and(|only| !label(way, name).contains(only)) {
            return;
        }
        match start() {
            Ok((load, process)) => {
                self.started.push(Case { way, kind, name, load, process, has_failed: false });
            }
            Err(error) => self.missing.push((label(way, name), format!("{error:#}"))),
        }
    }

    /// nginx and Envoy in front of the server on the port `to`. They read no message.
    pub(crate) fn add_proxies(&mut self, to: u16, call: Call) {
        self.add(Way::Http, Kind::Peer, NGINX, || Ok(through_peer(peers::nginx(to)?, call)));
        self.add(Way::Http, Kind::Peer, ENVOY, || {
            let envoy = peers::envoy(to, &Setup { replicas: 0, ..Setup::default() })?;
            let (address, id) = (local(envoy.port), envoy.id());
            Ok((Box::new(HttpLoad::new(address, call, envoy)), Some(id)))
        });
    }
}

/// A process that copies bytes, with these arguments.
pub(crate) fn copier(arguments: &[&str]) -> anyhow::Result<Command> {
    let mut copier = Command::new(std::env::current_exe()?);
    copier.arg("copy").args(arguments);
    Ok(copier)
}

/// Calls through a process that listens on a port.
pub(crate) fn through((process, port): (Process, u16), call: Call) -> Started {
    let id = process.id();
    (Box::new(HttpLoad::new(local(port), call, process)), Some(id))
}

pub(crate) fn through_peer(peer: Peer, call: Call) -> Started {
    let id = peer.process.id();
    (Box::new(HttpLoad::new(peer.address, call, peer)), Some(id))
}

/// Calls through a process on standard input and output.
pub(crate) fn lines(command: Command, call: Call) -> anyhow::Result<Started> {
    let load = LinesLoad::start(command, call)?;
    let id = load.lines.process.id();
    Ok((Box::new(load), Some(id)))
}

/// Calls through the guard in front of a server: the one on the port `to`, or the one that the words of `command` start.
pub(crate) fn guard(
    way: Way,
    options: &[&str],
    (to, command): (u16, &[String]),
    call: Call,
) -> anyhow::Result<Started> {
    let command: Vec<_> = command.iter().map(String::as_str).collect();
    let arguments = [options, &["--"], &command].concat();
    match way {
        Way::Http => Ok(through(in_front_of(to, options), call)),
        Way::Bridge => Ok(through(listening(&arguments), call)),
        Way::Stdio => lines(toolbond(&[&["guard"], &arguments[..]].concat()), call),
    }
}
