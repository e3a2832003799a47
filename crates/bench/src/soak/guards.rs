//! The guards that the clients use: one for each transport.

use std::fs;
use std::sync::{Arc, Mutex};

use super::census::Census;
use super::http::Target;
use super::stdio::Client;
use super::tally::Tally;
use crate::guard::cases::{ON, Upstream};
use crate::guard::peers::{Installed, Process, free_port};
use crate::guard::{guard, toolbond};

/// Sessions that their clients left without a word end after so many seconds.
const IDLE_SECONDS: u32 = 5;

/// More than there are clients that open sessions at a time, and sessions that wait for their end.
const MAX_SESSIONS: u32 = 64;

/// All of them.
pub(super) struct Guards {
    http: Process,
    process: Process,
    pub(super) stdio: Client,
    _upstream: Upstream,
}

impl Guards {
    pub(super) const NAMES: [&'static str; 3] = ["HTTP to HTTP", "HTTP to a process", "stdio"];

    pub(super) fn start(tally: &Arc<Mutex<Arc<Tally>>>) -> anyhow::Result<Self> {
        let bench = std::env::current_exe()?;
        let upstream = Upstream::plain(&bench, &["--costly"]);
        let http = guard(upstream.port, ON)?;
        let port = free_port()?;
        let config = Installed::new().folder("soak")?.join(format!("{port}.toml"));
        let text = format!(
            "listen = \"127.0.0.1:{port}\"\n[contract]\narguments = \"enforce\"\n\
             results = \"enforce\"\n[servers.plain]\ncommand = '{}'\n\
             args = [\"plain-server\", \"--stdio\", \"--costly\"]\n\
             max-sessions = {MAX_SESSIONS}\nidle-seconds = {IDLE_SECONDS}\n",
            bench.display()
        );
        fs::write(&config, text)?;
        let mut command = toolbond()?;
        command.arg("--config").arg(&config);
        let process = Process::start(command, port)?;
        Ok(Self { http, process, stdio: Client::start(tally)?, _upstream: upstream })
    }

    /// What clients on HTTP connect to.
    pub(super) fn targets(&self) -> [Target; 4] {
        let target = |way, guard: &Process, path, is_legacy| Target {
            way,
            port: guard.port,
            path,
            is_legacy,
        };
        [
            target("HTTP to HTTP", &self.http, "/mcp", false),
            target("HTTP to HTTP, sessions", &self.http, "/mcp", true),
            target("HTTP to a process", &self.process, "/plain/mcp", false),
            target("HTTP to a process, sessions", &self.process, "/plain/mcp", true),
        ]
    }

    pub(super) fn ids(&self) -> [u32; 3] {
        [self.http.id(), self.process.id(), self.stdio.process()]
    }

    /// What each of them holds.
    pub(super) fn census(&self) -> Vec<Census> {
        self.ids().into_iter().map(Census::take).collect()
    }
}
