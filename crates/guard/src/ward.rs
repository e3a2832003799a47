//! A server under guard: what all conversations with it share.

use std::sync::{Arc, Mutex, PoisonError, RwLock};

use toolpact_contract::{JudgeOptions, Policy};

use crate::judged::Judgements;
use crate::status::Status;
use crate::workers::Workers;
use crate::{Event, Listener, Settings};

/// A server under guard: its settings, which may change while it is guarded, what was counted, and
/// who listens.
pub struct Ward {
    name: String,
    rules: RwLock<Arc<Rules>>,
    listener: Arc<dyn Listener>,
    status: Status,
    pub(crate) workers: Workers,
}

/// Settings that were in force at one time.
pub(crate) struct Rules {
    pub(crate) settings: Arc<Settings>,
    pub(crate) judging: JudgeOptions,
    /// What was judged by them, in all conversations.
    pub(crate) judged: Mutex<Judgements>,
    /// Grows with each change; contracts that were compiled under an older one are not used.
    pub(crate) generation: u64,
}

impl Rules {
    fn new(settings: Settings, generation: u64) -> Self {
        let judging = JudgeOptions::default()
            .policy(settings.tools.unwrap_or(Policy::Filter))
            .ignore_headers(settings.ignore_headers)
            .schema(settings.schema.clone());
        Self { settings: Arc::new(settings), judging, judged: Mutex::default(), generation }
    }
}

impl std::fmt::Debug for Ward {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ward").field("name", &self.name).finish_non_exhaustive()
    }
}

impl Ward {
    /// A server that its operator calls `name`.
    #[must_use]
    pub fn new(name: impl Into<String>, settings: Settings, listener: Arc<dyn Listener>) -> Self {
        Self {
            name: name.into(),
            rules: RwLock::new(Arc::new(Rules::new(settings, 0))),
            listener,
            status: Status::default(),
            workers: Workers::default(),
        }
    }

    /// What its operator calls it.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// What happened so far.
    #[must_use]
    pub fn status(&self) -> &Status {
        &self.status
    }

    /// What is done for it at this moment.
    #[must_use]
    pub fn settings(&self) -> Arc<Settings> {
        Arc::clone(&self.rules().settings)
    }

    /// From now on this is done: calls that are under way end as they began, and tools are judged
    /// again before the next one. Lines that are being read keep the old `max_message`.
    pub fn set(&self, settings: Settings) {
        let mut rules = self.rules.write().unwrap_or_else(PoisonError::into_inner);
        *rules = Arc::new(Rules::new(settings, rules.generation + 1));
    }

    pub(crate) fn rules(&self) -> Arc<Rules> {
        Arc::clone(&self.rules.read().unwrap_or_else(PoisonError::into_inner))
    }

    pub(crate) fn say(&self, event: Event) {
        self.status.said(&event);
        self.listener.hear(event);
    }
}
