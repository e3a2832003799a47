//! The servers of a configuration file, which may change while they are guarded.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use tokio::time::sleep;

use crate::config::{Config, ServerConfig, Terms};
use crate::http::{
    Backend, Bounds, Bridge, Client, Front, Hosts, Launch, Proxy, Routes, TrustError, UpstreamError,
};
use crate::inspector::lock;
use crate::status::Board;
use crate::stdio::Watchdog;
use crate::{Event, Listener, Ward};

/// How often the file is looked at.
const LOOK: Duration = Duration::from_millis(500);

/// Why the servers of a file cannot be guarded.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum FleetError {
    /// The certificates cannot be taken in.
    #[error(transparent)]
    Trust(#[from] TrustError),
    /// A URL is none.
    #[error(transparent)]
    Upstream(#[from] UpstreamError),
}

/// The servers of a configuration file, behind one address.
pub struct Fleet {
    front: Arc<Front>,
    board: Arc<Board>,
    listener: Arc<dyn Listener>,
    watchdog: fn(u32) -> Option<Watchdog>,
    state: Mutex<State>,
}

struct State {
    config: Config,
    client: Client,
    members: BTreeMap<String, Member>,
}

/// One server, as it was set up.
#[derive(Clone)]
struct Member {
    config: ServerConfig,
    defaults: Terms,
    backend: Backend,
}

impl std::fmt::Debug for Fleet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Fleet").finish_non_exhaustive()
    }
}

impl Fleet {
    /// The servers of `config`; `watchdog` starts one over a process group.
    ///
    /// Fails where the certificates that it names cannot be read.
    pub fn new(
        config: Config,
        listener: Arc<dyn Listener>,
        watchdog: fn(u32) -> Option<Watchdog>,
    ) -> Result<Self, FleetError> {
        let client = Client::new(config.ca_file.as_ref().map(|file| &**file.get_ref()))?;
        let members = members(&config, &BTreeMap::new(), &client, &listener, watchdog)?;
        let front = Arc::new(Front::new(routes(&config, &members)));
        let board = Arc::new(Board::new(wards(&members), hosts(&config)));
        let state = Mutex::new(State { config, client, members });
        Ok(Self { front, board, listener, watchdog, state })
    }

    /// What clients reach.
    #[must_use]
    pub fn front(&self) -> &Arc<Front> {
        &self.front
    }

    /// What operators look at.
    #[must_use]
    pub fn board(&self) -> &Arc<Board> {
        &self.board
    }

    /// From now on these are the servers. Sessions of those that stay go on; those of the others are
    /// ended.
    ///
    /// Fails, and changes nothing, where the certificates that `config` names cannot be read.
    pub async fn set(&self, config: Config) -> Result<(), FleetError> {
        let gone = {
            let mut state = lock(&self.state);
            let client = if config.ca_file == state.config.ca_file {
                state.client.clone()
            } else {
                Client::new(config.ca_file.as_ref().map(|file| &**file.get_ref()))?
            };
            if (config.listen, config.status) != (state.config.listen, state.config.status) {
                let text = "configuration: `listen` and `status` change with the next start";
                self.listener.hear(Event::warning(text));
            }
            let members = members(&config, &state.members, &client, &self.listener, self.watchdog)?;
            state.client = client;
            self.front.set(routes(&config, &members));
            self.board.set(wards(&members));
            state.config = config;
            let mut before = std::mem::replace(&mut state.members, members);
            before.retain(|name, member| {
                let now = state.members.get(name).map(|member| &member.backend);
                !matches!((&member.backend, now), (Backend::Bridge(a), Some(Backend::Bridge(b))) if Arc::ptr_eq(a, b))
            });
            before
        };
        for member in gone.into_values() {
            member.backend.close().await;
        }
        Ok(())
    }

    /// Follows the file at `path`: what changes in it is in force from the next call on. What is
    /// wrong with it is said, and what was before stays. SIGHUP has it read again at once.
    pub async fn follow(&self, path: PathBuf) {
        let mut seen = stamp(&path);
        let mut hang_up = HangUp::listen();
        loop {
            let told = tokio::select! {
                () = sleep(LOOK) => false,
                () = hang_up.next() => true,
            };
            let mut now = stamp(&path);
            if now == seen && !told {
                continue;
            }
            // Whoever writes it may not be done.
            while now != seen {
                seen = now;
                sleep(LOOK / 10).await;
                now = stamp(&path);
            }
            let event = match Config::read(&path) {
                Ok(config) => match self.set(config).await {
                    Ok(()) => Event::info(format!("configuration: {} is in force", path.display())),
                    Err(error) => kept(&error),
                },
                Err(error) => kept(&error),
            };
            self.listener.hear(event);
        }
    }
}

fn kept(error: &dyn std::error::Error) -> Event {
    let cause = error.source().map(|cause| format!(": {cause}")).unwrap_or_default();
    Event::error(format!("configuration: {error}{cause}; what was before stays in force"))
}

/// What tells whether a file changed.
fn stamp(path: &Path) -> Option<(SystemTime, u64)> {
    let metadata = std::fs::metadata(path).ok()?;
    Some((metadata.modified().ok()?, metadata.len()))
}

/// Servers that are as before are taken over, with what is known of them.
fn members(
    config: &Config,
    before: &BTreeMap<String, Member>,
    client: &Client,
    listener: &Arc<dyn Listener>,
    watchdog: fn(u32) -> Option<Watchdog>,
) -> Result<BTreeMap<String, Member>, FleetError> {
    let mut members = BTreeMap::new();
    // What can fail comes first: then nothing was changed.
    for (name, server) in &config.servers {
        let server = server.get_ref();
        let old = before.get(name);
        let ward = old.map_or_else(
            || Arc::new(Ward::new(name, config.settings(name), named(name, listener))),
            |old| Arc::clone(old.backend.ward()),
        );
        let backend = match (&server.url, old.map(|old| (&old.backend, &old.config))) {
            (Some(url), Some((Backend::Proxy(proxy), old)))
                if old.url.as_ref() == Some(url) && proxy.asks_with(client) =>
            {
                Backend::Proxy(Arc::clone(proxy))
            }
            (Some(url), _) => Backend::Proxy(Arc::new(Proxy::new(url, client.clone(), ward)?)),
            (None, Some((Backend::Bridge(bridge), _))) => Backend::Bridge(Arc::clone(bridge)),
            (None, _) => {
                let (launch, bounds) = launch(server, watchdog);
                Backend::Bridge(Arc::new(Bridge::new(launch, bounds, ward)))
            }
        };
        let (config, defaults) = (server.clone(), config.contract.clone());
        members.insert(name.clone(), Member { config, defaults, backend });
    }
    for (name, member) in &members {
        let Some(old) = before.get(name) else { continue };
        let terms = |member: &Member| {
            (member.defaults.clone(), member.config.contract.clone(), member.config.tools.clone())
        };
        if terms(member) != terms(old) {
            member.backend.ward().set(config.settings(name));
        }
        let (new, old) = (launch(&member.config, watchdog), launch(&old.config, watchdog));
        if let Backend::Bridge(bridge) = &member.backend
            && new != old
        {
            bridge.set(new.0, new.1);
        }
    }
    Ok(members)
}

/// Tells `listener` of which server it hears.
fn named(name: &str, listener: &Arc<dyn Listener>) -> Arc<dyn Listener> {
    let (server, listener) = (Arc::<str>::from(name), Arc::clone(listener));
    Arc::new(move |event| {
        listener.hear(Event::Of { server: Arc::clone(&server), event: Box::new(event) });
    })
}

fn launch(server: &ServerConfig, watchdog: fn(u32) -> Option<Watchdog>) -> (Launch, Bounds) {
    let launch = Launch { watchdog: Some(watchdog), ..server.launch().unwrap_or_default() };
    let usual = Bounds::default();
    let bounds = Bounds {
        sessions: server.max_sessions.unwrap_or(usual.sessions),
        idle: server.idle_seconds.map_or(usual.idle, Duration::from_secs),
    };
    (launch, bounds)
}

fn routes(config: &Config, members: &BTreeMap<String, Member>) -> Routes {
    let backends = members.iter().map(|(name, member)| (name.clone(), member.backend.clone()));
    Routes::named(backends.collect(), hosts(config))
}

fn wards(members: &BTreeMap<String, Member>) -> Vec<Arc<Ward>> {
    members.values().map(|member| Arc::clone(member.backend.ward())).collect()
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
            // Without it the file is still looked at.
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
