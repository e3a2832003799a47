//! A guarded server: its settings, its counts, and who listens to its events.

use std::ops::Deref;
use std::sync::{Arc, Mutex};

use toolbond_fetch::{Attempt, LockError, Policy, ToolBundles};
use toolbond_guard_core::environment::Documents;
use toolbond_guard_core::event::{Event, Listener};
use toolbond_guard_core::lock::lock;
use toolbond_guard_core::server::Server;
use toolbond_guard_core::settings::Settings;
use toolbond_guard_core::tool_cache::Shelf;
use toolbond_telemetry::Telemetry;

use crate::environment::Surroundings;
use crate::memory::MemoryLimit;
use crate::status::Status;
use crate::url::without_query;

/// A guarded server: its settings, which may change at any time, its status, and who listens to its
/// events.
pub struct GuardedServer {
    name: String,
    server: Arc<Server>,
    listener: Arc<dyn Listener>,
    environment: Arc<Surroundings>,
    /// What may be fetched for schemas that refer to other documents, and what does it.
    fetch: Mutex<(Option<Policy>, Option<Arc<ToolBundles>>)>,
}

impl std::fmt::Debug for GuardedServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GuardedServer").field("name", &self.name).finish_non_exhaustive()
    }
}

impl GuardedServer {
    /// A server that its operator calls `name`. If that is a URL, its query is left out, which may be secret.
    #[must_use]
    pub fn new(name: &str, settings: Settings, listener: Arc<dyn Listener>) -> Self {
        let name = without_query(name).to_owned();
        let environment = Surroundings {
            name: name.clone(),
            listener: Arc::clone(&listener),
            status: Arc::default(),
            telemetry: None,
        };
        let shelf = Arc::clone(MemoryLimit::default().compiled());
        let environment = Arc::new(environment);
        let server = Server::new(settings, None, shelf, Arc::clone(&environment) as _);
        Self { name, server: Arc::new(server), listener, environment, fetch: Mutex::default() }
    }

    /// The same in another environment, whose compiled tools are `counted` there. Nobody uses it yet.
    fn with(self, environment: Arc<Surroundings>, counted: Option<&Arc<Shelf>>) -> Self {
        let server = {
            let rules = self.server.rules();
            let counted = Arc::clone(counted.unwrap_or(&rules.shelf));
            let fetched = lock(&self.fetch).1.clone().map(documents);
            let same = Arc::clone(&environment);
            Arc::new(Server::new(rules.settings.clone(), fetched, counted, same as _))
        };
        Self { server, environment, ..self }
    }

    /// Counts the memory of its compiled tools there.
    #[must_use]
    pub fn with_memory(self, memory: &MemoryLimit) -> Self {
        let environment = Arc::clone(&self.environment);
        self.with(environment, Some(memory.compiled()))
    }

    /// Exports the spans of its calls and counts its checks.
    #[must_use]
    pub fn with_telemetry(self, telemetry: Option<Telemetry>) -> Self {
        let environment = Surroundings { telemetry, ..Surroundings::clone(&self.environment) };
        self.with(Arc::new(environment), None)
    }

    /// Fetches the documents that schemas refer to, as far as `policy` allows.
    #[must_use]
    pub fn with_fetch(mut self, policy: Option<Policy>) -> Self {
        let bundles = bundles(policy.clone(), &self.listener, None);
        self.fetch = Mutex::new((policy, bundles));
        let environment = Arc::clone(&self.environment);
        self.with(environment, None)
    }

    /// What all its conversations share.
    pub(crate) fn shared(&self) -> &Arc<Server> {
        &self.server
    }

    /// What its operator calls it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What the guard has seen of it so far.
    pub(crate) fn status(&self) -> &Status {
        &self.environment.status
    }

    /// What may be fetched for it.
    pub(crate) fn fetch_policy(&self) -> Option<Policy> {
        lock(&self.fetch).0.clone()
    }

    /// Puts new settings in force.
    pub(crate) fn set_settings(&self, settings: Settings, policy: Option<Policy>) {
        let mut fetch = lock(&self.fetch);
        let bundles = bundles(policy.clone(), &self.listener, fetch.1.as_ref());
        *fetch = (policy, bundles.clone());
        self.server.set_settings(settings, bundles.map(documents));
    }
}

impl Deref for GuardedServer {
    type Target = Server;

    fn deref(&self) -> &Server {
        &self.server
    }
}

fn documents(bundles: Arc<ToolBundles>) -> Arc<dyn Documents> {
    Arc::new(crate::environment::Fetched(bundles))
}

/// What fetches under `policy`: `before`, if its policy is the same.
fn bundles(
    policy: Option<Policy>,
    listener: &Arc<dyn Listener>,
    before: Option<&Arc<ToolBundles>>,
) -> Option<Arc<ToolBundles>> {
    let policy = policy?;
    if let Some(same) = before.filter(|before| *before.policy() == policy) {
        return Some(Arc::clone(same));
    }
    let sources = policy.sources().collect::<Vec<_>>().join(", ");
    let (log, errors) = (Arc::clone(listener), Arc::clone(listener));
    let report = move |attempt: &Attempt| {
        let text = attempt.to_string();
        let is_error = attempt.error.is_some();
        log.on_event(if is_error { Event::warning(text) } else { Event::info(text) });
    };
    let report_lock = move |error: &LockError| errors.on_event(Event::error(format!("{error}")));
    match ToolBundles::new(policy, report, report_lock) {
        Ok(bundles) => {
            let text =
                format!("fetching is on for schemas that refer to other documents: {sources}");
            listener.on_event(Event::info(text));
            Some(Arc::new(bundles))
        }
        Err(error) => {
            listener.on_event(Event::error(format!("fetching is off: {error}")));
            None
        }
    }
}
