//! `toolpact guard`: the contract in front of a server.

use std::ffi::OsString;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::str::FromStr;
use std::sync::Arc;

use anyhow::Context as _;
use tokio::net::TcpListener;
use toolpact_contract::{Mode, Policy};
use toolpact_guard::http::{self, Backend, Client, Front, Hosts, Proxy, Routes};
use toolpact_guard::stdio::{Server, Watchdog};
use toolpact_guard::{Inspector, MAX_MESSAGE, Settings, Ward};
use toolpact_schema::{Limits, Schema};

use super::check::limit;
use crate::exit::Outcome;
use crate::log::{Format, Log};

const EXAMPLES: &str = "\
Examples:
  toolpact guard -- npx -y @modelcontextprotocol/server-everything
  toolpact guard --tools repair --results enforce -- python my_server.py
  toolpact guard --log json -- ./server 2> findings.jsonl
  toolpact guard --listen 127.0.0.1:8080 --upstream http://127.0.0.1:3000/mcp

Exit code: that of the server, 128 and the number of the signal that ended it; 2: wrong usage, or the server cannot be started.";

/// Put the contract in front of a server.
///
/// Starts COMMAND, an MCP server on standard input and output, and stands between it and the client.
/// Tools, arguments and results are held to the server's own schemas, and shaped for the protocol
/// revision that the client speaks; what does not have to change is forwarded byte for byte. What the
/// guard finds is said on standard error, where the server's own goes, too.
///
/// With `--listen` and `--upstream` it is a reverse proxy for a server on Streamable HTTP: JSON and
/// streams of events, sessions, and headers as they come. `Host` and `Origin` have to name this machine.
///
/// A message may have 16 MiB (`--max-message`); whoever waits for a longer one gets an error. Lines of
/// the server that are no messages are left out.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Guard {
    /// The server and its arguments
    #[arg(last = true, required_unless_present_any = ["watch", "upstream"], value_name = "COMMAND")]
    command: Vec<OsString>,

    /// Guard the server at this URL instead, on Streamable HTTP
    #[arg(long, value_name = "URL", requires = "listen", conflicts_with = "command")]
    upstream: Option<String>,

    /// Where to listen for its clients; they use the path of the URL
    #[arg(long, value_name = "ADDR", requires = "upstream")]
    listen: Option<SocketAddr>,

    /// A further name that clients may call the guard by, beside those of this machine for itself
    #[arg(long, value_name = "NAME", requires = "upstream")]
    allow_host: Vec<String>,

    /// Trust the certificates in this PEM file, too, beside those of the system (or of
    /// `SSL_CERT_FILE`)
    #[arg(long, value_name = "FILE", requires = "upstream")]
    ca_file: Option<PathBuf>,

    #[command(flatten)]
    options: GuardOptions,

    /// End this process group when standard input ends; how a guard starts its watchdog
    #[cfg(unix)]
    #[arg(long, hide = true, value_name = "GROUP", exclusive = true)]
    watch: Option<i32>,
}

/// What a guard does.
#[derive(Debug, clap::Args)]
struct GuardOptions {
    /// What becomes of a tool that cannot be used: `filter` drops it, `repair` mends what can be
    /// mended without changing its meaning, `reject` refuses the list, `off` leaves lists alone
    #[arg(long, default_value = "filter", value_name = "POLICY", value_parser = tools)]
    tools: ToolsMode,

    /// What becomes of wrong arguments: `off` does not look, `warn` reports, `enforce` answers with a
    /// tool error that a model can act on
    #[arg(long, default_value = "enforce", value_name = "MODE")]
    arguments: Mode,

    /// What becomes of wrong results: `off` does not look, `warn` reports, `enforce` withholds them
    #[arg(long, default_value = "warn", value_name = "MODE")]
    results: Mode,

    /// Leave tools and results in the shape that the server sends, whatever the client can read
    #[arg(long)]
    no_project: bool,

    /// Set a limit of schemas and validations, as in `--limit depth=32`; may be repeated. The names
    /// are those of `toolpact check`
    #[arg(long = "limit", value_name = "NAME=N", value_parser = limit)]
    limits: Vec<(String, u64)>,

    /// The steps one validation may take; the same as `--limit fuel=N`
    #[arg(long, value_name = "N")]
    fuel: Option<u64>,

    /// The most bytes of one message
    #[arg(long, value_name = "BYTES", default_value_t = MAX_MESSAGE)]
    max_message: usize,

    /// How findings are written
    #[arg(long, value_enum, default_value_t)]
    log: Format,
}

/// A policy, or none.
#[derive(Clone, Copy, Debug)]
struct ToolsMode(Option<Policy>);

fn tools(name: &str) -> Result<ToolsMode, String> {
    match name {
        "off" => Ok(ToolsMode(None)),
        name => Policy::from_str(name)
            .map(|policy| ToolsMode(Some(policy)))
            .map_err(|error| format!("expected one of off, {}, found `{name}`", error.expected)),
    }
}

impl GuardOptions {
    fn settings(&self) -> Settings {
        let mut limits = Limits::default();
        let fuel = self.fuel.map(|fuel| ("fuel".to_owned(), fuel));
        for (name, n) in self.limits.iter().chain(&fuel) {
            // The names were checked when the command line was read.
            let _ = limits.set(name, *n);
        }
        let mut settings = Settings::default();
        settings.tools = self.tools.0;
        settings.arguments = self.arguments;
        settings.results = self.results;
        settings.project = !self.no_project;
        settings.schema = Schema::options().limits(limits);
        settings.max_message = self.max_message;
        settings
    }
}

impl Guard {
    pub(crate) fn run(self) -> anyhow::Result<Outcome> {
        #[cfg(unix)]
        if let Some(group) = self.watch {
            toolpact_guard::stdio::watch(group)?;
            return Ok(Outcome::Clean);
        }
        let log = Log::open(self.options.log);
        if let (Some(upstream), Some(listen)) = (&self.upstream, self.listen) {
            return self.listen(upstream, listen, &log);
        }
        let inspector = Inspector::new(self.options.settings(), Arc::new(log.clone()));
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        let served = runtime.block_on(async {
            let (program, arguments) = self.command.split_first().expect("clap wants one");
            let server = Server::start(program, arguments)?;
            let _watchdog = server.id().and_then(watchdog);
            let client = toolpact_guard::stdio::standard();
            server.serve(client, Arc::new(inspector)).await
        });
        // Standard input is read on a thread that only its end would end.
        runtime.shutdown_background();
        log.close();
        Ok(Outcome::Ended(served?))
    }
}

impl Guard {
    /// Guards a server on HTTP until told to end.
    fn listen(&self, upstream: &str, listen: SocketAddr, log: &Log) -> anyhow::Result<Outcome> {
        let mut settings = self.options.settings();
        settings.ignore_headers = false;
        let hosts = Hosts::new(self.allow_host.iter().cloned());
        let ward = Arc::new(Ward::new(upstream, settings, Arc::new(log.clone())));
        let proxy = Proxy::new(upstream, Client::new(self.ca_file.as_deref())?, ward)?;
        let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build()?;
        runtime.block_on(async {
            let listener = TcpListener::bind(listen)
                .await
                .with_context(|| format!("cannot listen on {listen}"))?;
            let address = listener.local_addr()?;
            let path = proxy.path();
            eprintln!("toolpact: listening on http://{address}{path} for {upstream}");
            let front = Front::new(Routes::one(Backend::Proxy(Arc::new(proxy)), hosts));
            http::serve(listener, Arc::new(front)).await?;
            anyhow::Ok(())
        })?;
        log.close();
        Ok(Outcome::Clean)
    }
}

/// A watchdog over the process group `group`; without one, a guard that is killed may leave its
/// server behind.
fn watchdog(group: u32) -> Option<Watchdog> {
    let mut command = std::process::Command::new(std::env::current_exe().ok()?);
    command.args(["guard", "--watch", &group.to_string()]);
    if cfg!(unix) { Watchdog::start(command).ok() } else { None }
}
