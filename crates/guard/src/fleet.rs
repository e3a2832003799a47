//! The servers of a configuration file, which may change while they are guarded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use futures_util::future::BoxFuture;
use tokio::time::sleep;
use toolbond_telemetry::Telemetry;

use crate::back::child::{Launch, Watchdog};
use crate::back::http::{Client, TrustError, UpstreamError};
use crate::config::{Config, ServerConfig, Terms};
use crate::front::http::Hosts;
use crate::front::process::{ProcessLimits, Processes};
use crate::front::proxy::Proxy;
use crate::memory::MemoryLimit;
use crate::results_file::{ResultsFile, ServerDigest};
use crate::router::{Backend, Router, Routes};
use crate::server::GuardedServer;
use crate::status_page::StatusPage;
use toolbond_guard_core::event::{Event, Listener};
use toolbond_guard_core::lock::lock;

/// How often the file is checked for changes.
const CHECK: Duration = Duration::from_millis(500);

/// Why the servers of a configuration file cannot be guarded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FleetError {
    /// The certificates cannot be used.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// A URL is not that of a server.
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
}

/// The servers of a configuration file, behind one address.
pub struct Fleet {
    router: Arc<Router>,
    status_page: Arc<StatusPage>,
    pub(crate) listener: Arc<dyn Listener>,
    watchdog: fn(u32) -> Option<Watchdog>,
    pub(crate) memory: Arc<MemoryLimit>,
    telemetry: Option<Telemetry>,
    results: Option<ResultsFile>,
    pub(crate) state: Mutex<Configured>,
}

pub(crate) struct Configured {
    config: Config,
    client: Client,
    pub(crate) members: BTreeMap<String, Member>,
}

/// One server, as it was configured.
#[derive(Clone)]
pub(crate) struct Member {
    pub(crate) config: ServerConfig,
    defaults: Terms,
    pub(crate) backend: Backend,
}

impl std::fmt::Debug for Fleet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fleet").finish_non_exhaustive()
    }
}

impl Fleet {
    /// Sets up the servers of `config`. `watchdog` starts a watchdog for a process group; calls are exported to
    /// `telemetry`.
    ///
    /// Fails if a URL is invalid or the certificates cannot be read.
    pub fn new(
        config: Config,
        listener: Arc<dyn Listener>,
        watchdog: fn(u32) -> Option<Watchdog>,
        memory: Arc<MemoryLimit>,
        telemetry: Option<Telemetry>,
    ) -> Result<Self, FleetError> {
        let client = Client::new(config.ca_file.as_ref().map(|file| &**file.get_ref()))?;
        let state = Configured { config, client, members: BTreeMap::new() };
        let router = Arc::new(Router::new(Routes::named(BTreeMap::new(), hosts(&state.config))));
        let shared = Arc::clone(&memory);
        let status_page = StatusPage::new(Vec::new(), hosts(&state.config), shared);
        let status_page = Arc::new(status_page);
        let config = state.config.clone();
        let fleet = Self {
            router,
            status_page,
            listener,
            watchdog,
            memory,
            telemetry,
            results: None,
            state: Mutex::new(state),
        };
        fleet.apply(config)?;
        Ok(fleet)
    }

    /// Remembers in `results` what is learned of output schemas.
    #[must_use]
    pub fn with_results_file(mut self, results: Option<ResultsFile>) -> Self {
        self.results = results;
        self.watch(&lock(&self.state).members);
        self
    }

    /// Where it remembers that.
    #[must_use]
    pub fn results_file(&self) -> Option<&ResultsFile> {
        self.results.as_ref()
    }

    /// Tells servers what is remembered of them.
    fn watch(&self, members: &BTreeMap<String, Member>) {
        let Some(results) = &self.results else { return };
        for Member { config, backend, .. } in members.values() {
            let of_command = || config.launch().as_ref().map(ServerDigest::of_command);
            let digest = config.url.as_deref().map(ServerDigest::of_url).or_else(of_command);
            if let Some(digest) = digest {
                results.watch(backend.server(), digest);
            }
        }
    }

    /// The router that answers clients.
    #[must_use]
    pub fn router(&self) -> &Arc<Router> {
        &self.router
    }

    /// The status page.
    #[must_use]
    pub fn status_page(&self) -> &Arc<StatusPage> {
        &self.status_page
    }

    /// Applies another configuration. Sessions of servers that remain go on; the others end.
    ///
    /// Fails, and changes nothing, if a URL is invalid or the certificates cannot be read.
    async fn set_config(&self, config: Config) -> Result<(), FleetError> {
        for member in self.apply(config)?.into_values() {
            member.backend.close().await;
        }
        Ok(())
    }

    /// Applies `config` and returns the servers that it no longer has.
    fn apply(&self, config: Config) -> Result<BTreeMap<String, Member>, FleetError> {
        let mut state = lock(&self.state);
        let client = if config.ca_file == state.config.ca_file {
            state.client.clone()
        } else {
            Client::new(config.ca_file.as_ref().map(|file| &**file.get_ref()))?
        };
        let fixed = |it: &Config| (it.listen, it.status, it.results_file.clone());
        if fixed(&config) != fixed(&state.config) {
            let text = "configuration: changes of `listen`, `status` and `results-file` apply after a restart";
            self.listener.on_event(Event::warning(text));
        }
        let members = self.members(&config, &state.members, &client)?;
        self.watch(&members);
        state.client = client;
        let backends = members.iter().map(|(name, member)| (name.clone(), member.backend.clone()));
        self.router.set_routes(Routes::named(backends.collect(), hosts(&config)));
        let servers = members.values().map(|member| Arc::clone(member.backend.server())).collect();
        self.status_page.set(servers, hosts(&config));
        state.config = config;
        let mut before = std::mem::replace(&mut state.members, members);
        before.retain(|name, member| {
            let now = state.members.get(name);
            !now.is_some_and(|now| now.backend.is_same(&member.backend))
        });
        Ok(before)
    }

    /// Sets up the servers of `config`. Unchanged ones are kept, with their state.
    fn members(
        &self,
        config: &Config,
        before: &BTreeMap<String, Member>,
        client: &Client,
    ) -> Result<BTreeMap<String, Member>, FleetError> {
        let mut members = BTreeMap::new();
        // Everything that can fail comes first, so that a failure changes nothing.
        for (name, server) in &config.servers {
            let server = server.get_ref();
            let old = before.get(name);
            let guarded = old.map_or_else(
                || {
                    let (server, listener) = (name.as_str().into(), Arc::clone(&self.listener));
                    let listener = Arc::new(Named { server, listener });
                    let server = GuardedServer::new(name, config.settings(name), listener)
                        .with_memory(&self.memory);
                    let server = server.with_fetch(config.fetch_policy());
                    Arc::new(server.with_telemetry(self.telemetry.clone()))
                },
                |old| Arc::clone(old.backend.server()),
            );
            let memory = Arc::clone(&self.memory);
            let backend = match (&server.url, old.map(|old| (&old.backend, &old.config))) {
                (Some(url), Some((Backend::Proxy(proxy), old)))
                    if old.url.as_ref() == Some(url) && proxy.uses(client) =>
                {
                    Backend::Proxy(Arc::clone(proxy))
                }
                (Some(url), _) => {
                    let proxy = Proxy::new(url, client.clone(), guarded, memory)?;
                    Backend::Proxy(Arc::new(proxy))
                }
                (None, Some((Backend::Processes(processes), _))) => {
                    Backend::Processes(Arc::clone(processes))
                }
                (None, _) => {
                    let (launch, limits) = launch(server, self.watchdog);
                    let processes = Processes::new(launch, limits, guarded, memory);
                    Backend::Processes(Arc::new(processes))
                }
            };
            let (config, defaults) = (server.clone(), config.contract.clone());
            members.insert(name.clone(), Member { config, defaults, backend });
        }
        for (name, member) in &members {
            let Some(old) = before.get(name) else { continue };
            if !member.backend.is_same(&old.backend) {
                member.backend.server().eras().forget();
            }
            let terms = |member: &Member| {
                let config = &member.config;
                (member.defaults.clone(), config.contract.clone(), config.tools.clone())
            };
            let settings = config.settings(name);
            let (policy, server) = (config.fetch_policy(), member.backend.server());
            if terms(member) != terms(old) || policy != server.fetch_policy() {
                server.set_settings(settings, policy);
            }
            let (new, old) =
                (launch(&member.config, self.watchdog), launch(&old.config, self.watchdog));
            if let Backend::Processes(processes) = &member.backend
                && new != old
            {
                processes.set(new.0, new.1);
            }
        }
        Ok(members)
    }

    /// Watches the file at `path` and applies changes from the next call on. Reports an invalid file and keeps the
    /// old configuration. SIGHUP reloads it at once.
    pub fn watch_file(&self, path: PathBuf) -> BoxFuture<'_, ()> {
        Box::pin(self.apply_changes(path))
    }

    async fn apply_changes(&self, path: PathBuf) {
        let mut seen = stamp(&path);
        let mut hang_up = HangUp::listen();
        loop {
            let is_told = tokio::select! {
                () = sleep(CHECK) => false,
                () = hang_up.next() => true,
            };
            let mut now = stamp(&path);
            if now == seen && !is_told {
                continue;
            }
            // The file may still be being written.
            while now != seen {
                seen = now;
                sleep(CHECK / 10).await;
                now = stamp(&path);
            }
            let front = lock(&self.state).config.front();
            let event = match Config::read_for(&path, front) {
                Ok(config) => match self.set_config(config).await {
                    Ok(()) => Event::info(format!("configuration: applied {}", path.display())),
                    Err(error) => reload_error(&error),
                },
                Err(error) => reload_error(&error),
            };
            self.listener.on_event(event);
        }
    }
}

fn reload_error(error: &dyn std::error::Error) -> Event {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    Event::error(format!("configuration: {error}{cause}; the old configuration stays in force"))
}

/// Modification time and length of a file.
fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// A listener that adds the name of the server to each event.
struct Named {
    server: Arc<str>,
    listener: Arc<dyn Listener>,
}

impl Listener for Named {
    fn on_event(&self, event: Event) {
        let server = Arc::clone(&self.server);
        self.listener.on_event(Event::From { server, event: Box::new(event) });
    }

    fn wants_details(&self) -> bool {
        self.listener.wants_details()
    }
}

fn launch(server: &ServerConfig, watchdog: fn(u32) -> Option<Watchdog>) -> (Launch, ProcessLimits) {
    let launch = Launch { watchdog: Some(watchdog), ..server.launch().unwrap_or_default() };
    let usual = ProcessLimits::default();
    let limits = ProcessLimits {
        sessions: server.max_sessions.unwrap_or(usual.sessions),
        idle: server.idle_seconds.map_or(usual.idle, Duration::from_secs),
    };
    (launch, limits)
}

fn hosts(config: &Config) -> Hosts {
    Hosts::new(config.allow_hosts.iter().cloned())
}

/// SIGHUP, where there is one.
struct HangUp {
    #[cfg(unix)]
    signal: Option<tokio::signal::unix::Signal>,
}

impl HangUp {
    fn listen() -> Self {
        #[cfg(unix)]
        {
            use tokio::signal::unix::{SignalKind, signal};
            // Without it, changes of the file are still noticed.
            Self { signal: signal(SignalKind::hangup()).ok() }
        }
        #[cfg(not(unix))]
        Self {}
    }

    async fn next(&mut self) {
        #[cfg(unix)]
        if let Some(signal) = &mut self.signal
            && signal.recv().await.is_some()
        {
            return;
        }
        std::future::pending::<()>().await;
    }
}
