//! `toolbond guard`: the contract in front of a server.

use std::ffi::OsString;
use std::io::Write as _;
use std::net::SocketAddr;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use tokio::net::TcpListener;
use tokio::runtime::{Builder, Runtime};
use toolbond_fetch::{Fetcher, Policy};
use toolbond_guard::config::{self, Config, Terms};
use toolbond_guard::{
    Backend, Deployment, Fleet, GuardedServer, Launch, MAX_MEMORY, MemoryLimit, ProcessLimits,
    Processes, Proxy, ResultsFile, ResultsPlace, Router, Routes, ServerDigest, Settings,
    StatusPage,
    stdio::{self, Upstream},
};
use toolbond_guard::{Client, Hosts};
use toolbond_listen::{Signal, shutdown_signal_then_exit};

use crate::address::parse_address;
use crate::exit::Exit;
use crate::header::HeaderTemplate;
use crate::log::{Log, LogOptions};
use crate::observability::Observability;
use crate::server_name::server_name;
use crate::watchdog::start_watchdog;

const EXAMPLES: &str = "\
Examples:
  toolbond guard npx -y @modelcontextprotocol/server-everything
  toolbond guard --tools repair --results enforce -- python my_server.py
  toolbond guard --upstream https://tools.example/mcp --header 'Authorization: Bearer $TOKEN'
  toolbond guard --listen 127.0.0.1:8080 --upstream https://tools.example/mcp
  toolbond guard --listen 127.0.0.1:8080 -- python my_server.py
  toolbond guard --config toolbond.toml --status 127.0.0.1:9090

Exit code: the server's own, or 128 plus the number of the signal that ended it; 2 if the usage is wrong or the server cannot be started.";

/// Options that servers hardly have themselves.
const OWN_OPTIONS: [&str; 8] = [
    "--also-repair",
    "--arguments",
    "--client-validates",
    "--keep-dialects",
    "--keep-eras",
    "--no-project",
    "--require-list",
    "--results",
];

/// Where a guard listens unless the file says otherwise.
const LISTEN: SocketAddr =
    SocketAddr::new(std::net::IpAddr::V4(std::net::Ipv4Addr::LOCALHOST), 8080);

/// Check the calls of a server, as a proxy in front of it.
///
/// Starts COMMAND, an MCP server on standard input and output, and sits between it and the client.
/// The guard checks tools, arguments and results against the server's own schemas, and shapes them for
/// the protocol revision of the client. It forwards everything else byte for byte. It reports findings
/// on standard error, which it shares with the server.
///
/// With `--listen`, clients connect over Streamable HTTP: to the server at `--upstream URL`, or to
/// COMMAND at `/mcp`, with one process per session. `Host` and `Origin` must name this machine.
///
/// `toolbond.toml` configures several servers. The guard reads it if there is neither COMMAND nor URL.
///
/// A message may have up to 16 MiB (`--max-message`); a longer one is answered with an error. Lines of
/// the server that are not messages are dropped.
#[derive(Debug, clap::Args)]
#[command(after_help = EXAMPLES)]
pub(crate) struct Guard {
    /// The server and its arguments; everything after its first word belongs to it; `--` before it is optional
    #[arg(trailing_var_arg = true, value_name = "COMMAND")]
    command: Vec<OsString>,

    /// Guard the Streamable HTTP server at this URL instead of a command: for clients on HTTP with `--listen`, else for one
    /// client on standard input and output
    #[arg(long, value_name = "URL", conflicts_with = "command")]
    upstream: Option<String>,

    /// Send this header to the server at URL; may be repeated. `$NAME` and `${NAME}` are the values of environment variables,
    /// so that no secret stands in the command line: `--header 'Authorization: Bearer $TOKEN'`
    #[arg(
        long = "header",
        value_name = "NAME: VALUE",
        requires = "upstream",
        conflicts_with = "listen",
        value_parser = HeaderTemplate::parse
    )]
    headers: Vec<HeaderTemplate>,

    /// Listen for HTTP clients on this address; they use the path of the URL
    #[arg(long, value_name = "ADDR", value_parser = parse_address)]
    listen: Option<SocketAddr>,

    /// Also accept this host name in `Host` and `Origin`; `localhost` and its addresses are always accepted
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,

    /// Also trust the certificates in this PEM file, beside those of the system (or of
    /// `SSL_CERT_FILE`)
    #[arg(long, value_name = "FILE", requires = "upstream")]
    ca_file: Option<PathBuf>,

    #[command(flatten)]
    terms: Terms,

    /// Fetch the documents that schemas refer to from URLs that start with PREFIX, such as
    /// `https://schemas.example.com/`, and give clients the tools with them; may be repeated. An address
    /// that is not public has to be named, such as `10.1.2.3`, unless it is the host of a prefix. Without
    /// this option such tools are dropped
    #[arg(long, value_name = "PREFIX", help_heading = "Contract")]
    allow_fetch: Vec<String>,

    /// Record the digest of each of these documents in FILE, and refuse documents that have changed since
    #[arg(long, value_name = "FILE", requires = "allow_fetch", help_heading = "Contract")]
    fetch_lock: Option<PathBuf>,

    /// Remember in this file what was learned of output schemas that servers break, or `none` (default:
    /// `toolbond/results-1.json` in the cache folder of the user). It has digests of servers and tools, places in
    /// schemas and kinds of keywords, and nothing of a result
    #[arg(long, value_name = "FILE", help_heading = "Contract")]
    results_file: Option<ResultsPlace>,

    /// Delete the file of `--results-file` and exit
    #[arg(long, conflicts_with_all = ["command", "upstream", "listen", "check_config"], help_heading = "Contract")]
    forget: bool,

    /// Limit the memory of all messages in flight and the values parsed from them (default: 512 MiB)
    #[arg(long, value_name = "BYTES", value_parser = config::parse_bytes, help_heading = "Contract")]
    max_memory: Option<usize>,

    #[command(flatten)]
    log: LogOptions,

    /// Serve a status page (`/`, `/status.json`) and Prometheus metrics (`/metrics`) on this address
    #[arg(long, value_name = "ADDR", value_parser = parse_address, help_heading = "Observability")]
    status: Option<SocketAddr>,

    /// Guard the servers in this file, each at `/NAME/mcp` (default: `toolbond.toml` in this folder if
    /// there is neither COMMAND nor URL). Changes to the file apply from the next call on
    #[arg(long, value_name = "FILE", conflicts_with_all = ["command", "upstream"], help_heading = "Several servers")]
    config: Option<PathBuf>,

    /// Check the file and exit
    #[arg(long, conflicts_with_all = ["command", "upstream"], help_heading = "Several servers")]
    check_config: bool,

    /// Print the JSON Schema of the file and exit
    #[arg(long, exclusive = true, help_heading = "Several servers")]
    config_schema: bool,

    /// Kill this process group when standard input ends; the guard starts its watchdog this way
    #[cfg(unix)]
    #[arg(long, hide = true, value_name = "GROUP", exclusive = true)]
    watch: Option<i32>,
}

impl Guard {
    pub(crate) fn run(self) -> anyhow::Result<Exit> {
        #[cfg(unix)]
        if let Some(group) = self.watch {
            toolbond_guard::watch(group)?;
            return Ok(Exit::Clean);
        }
        if self.config_schema {
            writeln!(anstream::stdout().lock(), "{:#}", Config::json_schema())?;
            return Ok(Exit::Clean);
        }
        if self.forget {
            return self.forget();
        }
        self.check_command()?;
        toolbond_guard::compile_metaschemas();
        if self.command.is_empty() && self.upstream.is_none() {
            let path = self.config.as_deref().unwrap_or(Path::new(config::FILE));
            if self.config.is_none() && !path.exists() {
                anyhow::bail!(
                    "expected a COMMAND, `--upstream URL` or `--config FILE`, and there is no {} here",
                    config::FILE
                );
            }
            return self.guard_fleet(path);
        }
        let observability = Observability::open(&self.log)?;
        if let Some(option) = self.misplaced_option() {
            observability.log.info(None, format!("`{option}` stands after the command, so the server gets it; options of the guard stand before the command"));
        }
        let results = open_results(&self.results_place(None), &observability);
        let remember = |server: &GuardedServer, digest| {
            if let Some(results) = &results {
                results.watch(server, digest);
            }
        };
        let served = match (&self.upstream, self.listen) {
            (Some(url), Some(listen)) => {
                self.guard_upstream(url, listen, &observability, &remember)
            }
            (Some(url), None) => self.guard_upstream_on_stdio(url, &observability, &remember),
            (_, Some(listen)) => self.guard_command(listen, &observability, &remember),
            _ => self.guard_stdio(&observability, &remember),
        };
        if let Some(results) = &results {
            results.save();
        }
        observability.close();
        served
    }

    /// Refuses commands that are something else, and says what to write.
    fn check_command(&self) -> anyhow::Result<()> {
        let [word] = &self.command[..] else { return Ok(()) };
        let word = word.to_string_lossy();
        if Path::new(&*word).is_file() {
            let extension = Path::new(&*word).extension().and_then(|it| it.to_str());
            if matches!(extension, Some("toml" | "json")) {
                anyhow::bail!("{word} is no command; to guard the servers in it: --config {word}");
            }
        } else if word.starts_with("http://") || word.starts_with("https://") {
            anyhow::bail!("{word} is a URL: write `--upstream {word}`");
        } else if word.split_whitespace().count() > 1 {
            anyhow::bail!(
                "`{word}` is one word with spaces: write `toolbond guard {word}`, without quotes around all of it"
            );
        }
        Ok(())
    }

    /// An option among the words of the server that was probably meant for the guard.
    fn misplaced_option(&self) -> Option<&str> {
        let words = self.command.iter().skip(1).filter_map(|word| word.to_str());
        let mut options = words.map(|word| word.split_once('=').map_or(word, |(name, _)| name));
        options.find(|word| OWN_OPTIONS.contains(word))
    }

    /// Where it is remembered what was learned, if not `configured` otherwise.
    fn results_place(&self, configured: Option<ResultsPlace>) -> ResultsPlace {
        self.results_file.clone().or(configured).unwrap_or_else(ResultsPlace::in_cache)
    }

    /// Deletes what is remembered, and says so.
    fn forget(&self) -> anyhow::Result<Exit> {
        let path = self.config.as_deref().unwrap_or(Path::new(config::FILE));
        let is_configured = self.config.is_some() || path.exists();
        let place = match &self.results_file {
            None if is_configured => self.results_place(Config::read_results_file(path)?),
            _ => self.results_place(None),
        };
        let Some(path) = place.path() else {
            anyhow::bail!("there is no results file: `none` is set, or there is no cache folder");
        };
        let name = path.display();
        let forgotten = ResultsFile::forget(path).with_context(|| name.to_string())?;
        let text = match forgotten.map(|forgotten| forgotten.tools) {
            None => format!("nothing is remembered: {name} does not exist"),
            Some(None) => format!("deleted {name}, which could not be read"),
            Some(Some(1)) => format!("deleted {name}: 1 tool"),
            Some(Some(tools)) => format!("deleted {name}: {tools} tools"),
        };
        writeln!(anstream::stdout().lock(), "{text}")?;
        Ok(Exit::Clean)
    }

    fn settings(&self) -> Settings {
        let mut settings = Settings::default();
        self.terms.apply(&mut settings);
        if self.listen.is_some() {
            settings.deployment = Deployment::Http;
        }
        settings
    }

    /// What may be fetched for schemas that refer to other documents.
    fn fetch_policy(&self) -> anyhow::Result<Option<Policy>> {
        if self.allow_fetch.is_empty() {
            return Ok(None);
        }
        let allow = |policy: Policy, prefix: &String| policy.allow(prefix);
        let policy = self.allow_fetch.iter().try_fold(Policy::default(), allow);
        let mut policy = policy.context("--allow-fetch")?;
        if let Some(file) = &self.fetch_lock {
            policy = policy.lock(file);
        }
        Fetcher::new(policy.clone())?;
        Ok(Some(policy))
    }

    fn hosts(&self) -> Hosts {
        Hosts::new(self.allow_host.iter().cloned())
    }

    fn server(
        &self,
        name: &str,
        memory: &MemoryLimit,
        observability: &Observability,
    ) -> anyhow::Result<Arc<GuardedServer>> {
        let listener = observability.listener(Some(name));
        let server = GuardedServer::new(name, self.settings(), listener)
            .with_memory(memory)
            .with_fetch(self.fetch_policy()?)
            .with_telemetry(observability.telemetry.clone());
        Ok(Arc::new(server))
    }

    fn memory(&self) -> Arc<MemoryLimit> {
        Arc::new(MemoryLimit::new(self.max_memory.unwrap_or(MAX_MEMORY)))
    }

    /// Guards a server on standard input and output.
    fn guard_stdio(
        &self,
        observability: &Observability,
        remember: Remember<'_>,
    ) -> anyhow::Result<Exit> {
        let (launch, memory) = (self.launch()?, self.memory());
        let guarded = self.server(&server_name(&self.command), &memory, observability)?;
        remember(&guarded, ServerDigest::of_command(&launch));
        let runtime = runtime()?;
        let ended = runtime.block_on(async {
            let servers = vec![Arc::clone(&guarded)];
            let page = StatusPage::new(servers, self.hosts(), Arc::clone(&memory));
            serve_status(self.status, Arc::new(page), &observability.log)?;
            observability.log.greet(on_stdio(guarded.name()));
            let client = stdio::standard();
            anyhow::Ok(stdio::serve(launch, client, guarded, memory).await?)
        });
        // The thread that reads standard input only ends with the input.
        runtime.shutdown_background();
        Ok(Exit::Ended(ended?))
    }

    /// Guards a server on HTTP until a signal ends it.
    fn guard_upstream(
        &self,
        url: &str,
        listen: SocketAddr,
        observability: &Observability,
        remember: Remember<'_>,
    ) -> anyhow::Result<Exit> {
        let client = Client::new(self.ca_file.as_deref())?;
        let shown = without_query(url);
        let memory = self.memory();
        let server = self.server(shown, &memory, observability)?;
        remember(&server, ServerDigest::of_url(url));
        let proxy = Proxy::new(url, client, server, Arc::clone(&memory))?;
        let what = format!("{} for {shown}", proxy.path());
        self.serve_one(Backend::Proxy(Arc::new(proxy)), memory, listen, &what, &observability.log)
    }

    /// Guards a server on HTTP for a client on standard input and output.
    fn guard_upstream_on_stdio(
        &self,
        url: &str,
        observability: &Observability,
        remember: Remember<'_>,
    ) -> anyhow::Result<Exit> {
        let client = Client::new(self.ca_file.as_deref())?;
        let headers = self.headers.iter().map(HeaderTemplate::fill).collect::<Result<_, _>>()?;
        let memory = self.memory();
        let server = self.server(without_query(url), &memory, observability)?;
        remember(&server, ServerDigest::of_url(url));
        let upstream =
            Upstream::new(url, headers, client, Arc::clone(&server), Arc::clone(&memory))?;
        let runtime = runtime()?;
        let ended = runtime.block_on(async {
            observability.log.greet(on_stdio(server.name()));
            let page = StatusPage::new(vec![server], self.hosts(), memory);
            serve_status(self.status, Arc::new(page), &observability.log)?;
            anyhow::Ok(upstream.serve(stdio::standard()).await?)
        });
        // The thread that reads standard input only ends with the input.
        runtime.shutdown_background();
        ended.map(|()| Exit::Clean)
    }

    /// How to start the server.
    fn launch(&self) -> anyhow::Result<Launch> {
        let (program, arguments) = self.command.split_first().context("no command")?;
        Ok(Launch {
            program: program.clone(),
            arguments: arguments.to_vec(),
            watchdog: Some(start_watchdog),
            ..Launch::default()
        })
    }

    /// Guards a command for clients on HTTP until a signal ends it.
    fn guard_command(
        &self,
        listen: SocketAddr,
        observability: &Observability,
        remember: Remember<'_>,
    ) -> anyhow::Result<Exit> {
        let launch = self.launch()?;
        launch.check()?;
        let name = server_name(&self.command);
        let (limits, memory) = (ProcessLimits::default(), self.memory());
        let server = self.server(&name, &memory, observability)?;
        remember(&server, ServerDigest::of_command(&launch));
        let processes = Processes::new(launch, limits, server, Arc::clone(&memory));
        let backend = Backend::Processes(Arc::new(processes));
        self.serve_one(backend, memory, listen, &format!("/mcp for {name}"), &observability.log)
    }

    fn serve_one(
        &self,
        backend: Backend,
        memory: Arc<MemoryLimit>,
        listen: SocketAddr,
        what: &str,
        log: &Log,
    ) -> anyhow::Result<Exit> {
        runtime()?.block_on(async {
            let servers = vec![Arc::clone(backend.server())];
            let page = StatusPage::new(servers, self.hosts(), memory);
            serve_status(self.status, Arc::new(page), log)?;
            let (listener, address) = bind(listen)?;
            log.info(None, format!("listening on http://{address}{what}"));
            let router = Router::new(Routes::one(backend, self.hosts()));
            Arc::new(router)
                .serve(listener, Box::pin(shutdown_signal_then_exit(false, say_ending(log))))
                .await;
            Ok(Exit::Clean)
        })
    }

    /// Guards the servers of a file until a signal ends it.
    fn guard_fleet(&self, path: &Path) -> anyhow::Result<Exit> {
        let is_plain = self.allow_host.is_empty() && self.allow_fetch.is_empty();
        if self.terms != Terms::default() || !is_plain {
            anyhow::bail!(
                "{}: set the options of the contract, --allow-host and --allow-fetch in the file, not on the command line",
                path.display()
            );
        }
        let config = Config::read(path)?;
        if self.check_config {
            writeln!(anstream::stdout().lock(), "{}", config.summary(path))?;
            return Ok(Exit::Clean);
        }
        let observability = Observability::open(&self.log)?;
        let served = self.serve_fleet(config, path, &observability);
        observability.close();
        served
    }

    fn serve_fleet(
        &self,
        config: Config,
        path: &Path,
        observability: &Observability,
    ) -> anyhow::Result<Exit> {
        let log = &observability.log;
        let listen = self.listen.or(config.listen).unwrap_or(LISTEN);
        let status = self.status.or(config.status);
        let names = config.server_names().map(str::to_owned).collect::<Vec<_>>();
        let (listener, telemetry) = (observability.listener(None), observability.telemetry.clone());
        let results = open_results(&self.results_place(config.results_file.clone()), observability);
        let fleet = Fleet::new(config, listener, start_watchdog, self.memory(), telemetry)?;
        let fleet = Arc::new(fleet.with_results_file(results));
        let saved = Arc::clone(&fleet);
        let served = runtime()?.block_on(async {
            serve_status(status, Arc::clone(fleet.status_page()), log)?;
            let (listener, address) = bind(listen)?;
            for name in names {
                let text = format!("listening on http://{address}/{name}/mcp");
                log.info(Some(name), text);
            }
            let router = Arc::clone(fleet.router());
            let (path, tell) = (path.to_owned(), say_ending(log));
            let end = Box::pin(async move {
                tokio::select! {
                    () = fleet.watch_file(path) => {}
                    () = shutdown_signal_then_exit(true, tell) => {}
                }
            });
            router.serve(listener, end).await;
            Ok(Exit::Clean)
        });
        if let Some(results) = saved.results_file() {
            results.save();
        }
        served
    }
}

/// Remembers what is learned of a server.
type Remember<'a> = &'a dyn Fn(&GuardedServer, ServerDigest);

fn open_results(place: &ResultsPlace, observability: &Observability) -> Option<ResultsFile> {
    let path = place.path()?.to_owned();
    Some(ResultsFile::open(path, observability.listener(None)))
}

/// One thread forwards messages: handing a call to another thread takes longer than most checks.
/// Expensive checks run on worker threads.
pub(super) fn runtime() -> anyhow::Result<Runtime> {
    Ok(Builder::new_current_thread().enable_all().build()?)
}

pub(super) fn bind(address: SocketAddr) -> anyhow::Result<(TcpListener, SocketAddr)> {
    let listener =
        toolbond_listen::bind(address).with_context(|| format!("cannot listen on {address}"))?;
    let address = listener.local_addr()?;
    Ok((listener, address))
}

/// Serves the status page on `address`, if there is one.
pub(super) fn serve_status(
    address: Option<SocketAddr>,
    page: Arc<StatusPage>,
    log: &Log,
) -> anyhow::Result<()> {
    let Some(address) = address else { return Ok(()) };
    let (listener, address) = bind(address)?;
    log.info(None, format!("status on http://{address}/"));
    tokio::spawn(page.serve(listener));
    Ok(())
}

/// What a person reads who starts a guard that waits for a client on standard input.
fn on_stdio(name: &str) -> String {
    format!("guarding {name} for one client on standard input and output; Ctrl-C ends it")
}

/// Says on Ctrl-C what it waits for.
fn say_ending(log: &Log) -> impl FnOnce(Signal) + use<> {
    let log = log.clone();
    move |signal| {
        if signal == Signal::Interrupt {
            let text = "ending: open calls have 10 s to finish; a second Ctrl-C ends them at once";
            log.info(None, text.to_owned());
        }
    }
}

/// The URL without its query, which may hold a key.
fn without_query(url: &str) -> &str {
    url.split('?').next().unwrap_or_default()
}
