//! What all conversations with one server share.

use std::hash::{DefaultHasher, Hash, Hasher as _};
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use quick_cache::unsync::Cache;
use toolbond_contract::{Finding, JudgeOptions, Policy, Revision};

use crate::environment::{CallSpan, Documents, Environment};
use crate::event::{CallSource, Event};
use crate::known_eras::KnownEras;
use crate::learned::LearnedTools;
use crate::lock::lock;
use crate::message::Unreadable;
use crate::settings::{Deployment, Settings};
use crate::tool_cache::{Shelf, ToolCache};

/// What all conversations with one server share: its settings, which may change at any time, and what is known of it.
pub struct Server {
    rules: ArcSwap<Rules>,
    environment: Arc<dyn Environment>,
    eras: KnownEras,
    learned: LearnedTools,
    /// The protocol revisions that it says it supports, newest first.
    supported: ArcSwap<Vec<String>>,
    /// The hashes of events that are reported once.
    reported: Mutex<Cache<u64, ()>>,
}

/// The settings in force, and what was computed under them.
pub struct Rules {
    pub settings: Settings,
    pub judging: JudgeOptions,
    /// Tools that were judged under these settings, in any conversation.
    pub tools: Arc<Mutex<ToolCache>>,
    /// Where the memory of compiled tools is counted.
    pub shelf: Arc<Shelf>,
    /// Where documents come from that schemas refer to, if they may be fetched.
    pub documents: Option<Arc<dyn Documents>>,
    /// Grows with each change of the settings.
    pub generation: u64,
}

impl Rules {
    fn new(
        settings: Settings,
        documents: Option<Arc<dyn Documents>>,
        generation: u64,
        shelf: Arc<Shelf>,
    ) -> Self {
        let judging = JudgeOptions::default()
            .policy(settings.tools.unwrap_or(Policy::Filter))
            .ignore_headers(settings.deployment == Deployment::Pipe)
            .schema(settings.schema.clone());
        Self { settings, judging, tools: shelf.cache(), shelf, documents, generation }
    }

    /// How tools are judged whose patterns may have so many states.
    pub fn judging_within(&self, pattern_states: usize) -> JudgeOptions {
        let mut limits = self.settings.schema.get_limits().clone();
        limits.pattern_states = limits.pattern_states.min(pattern_states);
        self.judging.clone().schema(self.settings.schema.clone().limits(limits))
    }
}

/// The most events that are remembered, so that none is reported twice.
const MAX_REPORTED: usize = 10_000;

impl Server {
    /// A server under `settings`. The memory of its compiled tools is counted on `shelf`.
    pub fn new(
        settings: Settings,
        documents: Option<Arc<dyn Documents>>,
        shelf: Arc<Shelf>,
        environment: Arc<dyn Environment>,
    ) -> Self {
        Self {
            rules: ArcSwap::from_pointee(Rules::new(settings, documents, 0, shelf)),
            environment,
            eras: KnownEras::default(),
            learned: LearnedTools::default(),
            supported: ArcSwap::from_pointee(vec![Revision::V2026_07_28.to_string()]),
            reported: Mutex::new(Cache::new(MAX_REPORTED)),
        }
    }

    /// Where time, random numbers and listeners are.
    pub fn environment(&self) -> &dyn Environment {
        &*self.environment
    }

    /// 128 random bits; `None` where the system has none.
    pub fn random(&self) -> Option<u128> {
        self.environment.random()
    }

    /// The eras that it is known to speak.
    pub fn eras(&self) -> &KnownEras {
        &self.eras
    }

    /// What was learned of the output schemas that it breaks.
    pub fn learned(&self) -> &LearnedTools {
        &self.learned
    }

    /// The protocol revisions that a client may choose from, newest first: those that the server has named, or
    /// 2026-07-28.
    pub fn supported(&self) -> Arc<Vec<String>> {
        self.supported.load_full()
    }

    pub fn set_supported(&self, revisions: &[Revision]) {
        self.supported.store(Arc::new(revisions.iter().map(ToString::to_string).collect()));
    }

    /// Puts new settings in force. Calls under way finish under the old ones; tools are judged again
    /// before the next call. Connections that are open keep the old `max_message`.
    pub fn set_settings(&self, new: Settings, documents: Option<Arc<dyn Documents>>) {
        let before = self.rules();
        let rules = Rules::new(new, documents, before.generation + 1, Arc::clone(&before.shelf));
        self.rules.store(Arc::new(rules));
    }

    pub fn rules(&self) -> arc_swap::Guard<Arc<Rules>> {
        self.rules.load()
    }

    pub fn report(&self, event: Event) {
        self.environment.report(event);
    }

    /// Reports that a client sent what is no message, without quoting it where that matters.
    pub fn report_unreadable(&self, text: &Unreadable) {
        let what = "client: could not read a message";
        self.report(Event::error(format!("{what}: {}", text.reason)).or_unquoted(what));
    }

    /// Reports the findings about a call, without its values unless the settings ask for them. What listens to them
    /// runs in the context of `span`.
    pub fn report_call(
        &self,
        mut findings: Vec<Finding>,
        source: &CallSource,
        settings: &Settings,
        span: Option<&CallSpan>,
    ) {
        if findings.is_empty() {
            return;
        }
        if !settings.show_values.in_log {
            for finding in &mut findings {
                finding.found = None;
            }
        }
        let mut report = || {
            self.report(Event::Call { findings: findings.clone(), source: source.clone() });
        };
        match span {
            Some(span) => span.report(&findings, &mut report),
            None => report(),
        }
    }

    /// Reports a finding about a tool list, unless the same one was reported before.
    pub fn report_once(&self, finding: Finding) {
        self.report_event_once(Event::Finding(finding));
    }

    /// Reports an event, unless one with the same text was reported before.
    pub fn report_event_once(&self, event: Event) {
        if self.is_first(&event.to_string()) {
            self.report(event);
        }
    }

    /// Whether what `key` stands for is not reported yet; now it is.
    pub fn is_first(&self, key: &(impl Hash + ?Sized)) -> bool {
        let mut hasher = DefaultHasher::new();
        key.hash(&mut hasher);
        lock(&self.reported).get_ref_or_guard(&hasher.finish()).is_err_and(|place| {
            place.insert(());
            true
        })
    }
}
