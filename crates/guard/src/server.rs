//! A guarded server: what all conversations with it share.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use quick_cache::unsync::Cache;
use toolbond_contract::{Finding, JudgeOptions, Policy, Revision};
use toolbond_fetch::{Attempt, LockError, ToolBundles};
use toolbond_telemetry::{CallSpan, Check as Checked, Telemetry};

use crate::event::{Event, Listener};
use crate::known_eras::KnownEras;
use crate::lock::lock;
use crate::memory::MemoryLimit;
use crate::settings::Settings;
use crate::status::{Check, Status};
use crate::tool_cache::{Shelf, ToolCache};
use crate::url::without_query;

/// A guarded server: its settings, which may change at any time, its status, and who listens to its
/// events.
pub struct GuardedServer {
    name: String,
    rules: ArcSwap<Rules>,
    listener: Arc<dyn Listener>,
    status: Status,
    /// Where spans go, if anything is exported.
    telemetry: Option<Telemetry>,
    eras: KnownEras,
    /// The protocol revisions that it says it supports, newest first.
    supported: ArcSwap<Vec<String>>,
    /// The hashes of events that are reported once.
    reported: Mutex<Cache<u64, ()>>,
}

/// The settings in force, and what was computed under them.
pub(crate) struct Rules {
    pub(crate) settings: Settings,
    pub(crate) judging: JudgeOptions,
    /// Tools that were judged under these settings, in any conversation.
    pub(crate) tools: Arc<Mutex<ToolCache>>,
    /// Where the memory of compiled tools is counted.
    pub(crate) shelf: Arc<Shelf>,
    /// Tools whose schemas refer to other documents, if those may be fetched.
    pub(crate) bundles: Option<Arc<ToolBundles>>,
    /// Grows with each change of the settings.
    pub(crate) generation: u64,
}

impl Rules {
    fn new(
        settings: Settings,
        bundles: Option<Arc<ToolBundles>>,
        generation: u64,
        shelf: Arc<Shelf>,
    ) -> Self {
        let judging = JudgeOptions::default()
            .policy(settings.tools.unwrap_or(Policy::Filter))
            .ignore_headers(settings.ignore_headers)
            .schema(settings.schema.clone());
        Self { settings, judging, tools: shelf.cache(), shelf, bundles, generation }
    }

    /// How tools are judged whose patterns may have so many states.
    pub(crate) fn judging_within(&self, pattern_states: usize) -> JudgeOptions {
        let mut limits = self.settings.schema.get_limits().clone();
        limits.pattern_states = limits.pattern_states.min(pattern_states);
        self.judging.clone().schema(self.settings.schema.clone().limits(limits))
    }
}

/// The bundles under `settings`: those of `before`, if the policy is the same.
fn bundles(
    settings: &Settings,
    listener: &Arc<dyn Listener>,
    before: Option<&Arc<ToolBundles>>,
) -> Option<Arc<ToolBundles>> {
    let policy = settings.fetch.clone()?;
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

/// The most events that are remembered, so that none is reported twice.
const MAX_REPORTED: usize = 10_000;

impl std::fmt::Debug for GuardedServer {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("GuardedServer").field("name", &self.name).finish_non_exhaustive()
    }
}

impl GuardedServer {
    /// A server that its operator calls `name`. If that is a URL, its query is left out, which may be secret.
    #[must_use]
    pub fn new(name: &str, settings: Settings, listener: Arc<dyn Listener>) -> Self {
        let bundles = bundles(&settings, &listener, None);
        let shelf = Arc::clone(MemoryLimit::default().compiled());
        Self {
            name: without_query(name).to_owned(),
            rules: ArcSwap::from_pointee(Rules::new(settings, bundles, 0, shelf)),
            listener,
            status: Status::default(),
            telemetry: None,
            eras: KnownEras::default(),
            supported: ArcSwap::from_pointee(vec![Revision::V2026_07_28.to_string()]),
            reported: Mutex::new(Cache::new(MAX_REPORTED)),
        }
    }

    /// Counts the memory of its compiled tools there. To be called before it is used.
    #[must_use]
    pub fn with_memory(self, memory: &MemoryLimit) -> Self {
        let Rules { settings, bundles, generation, .. } = &**self.rules.load();
        let compiled = Arc::clone(memory.compiled());
        let rules = Rules::new(settings.clone(), bundles.clone(), *generation, compiled);
        self.rules.store(Arc::new(rules));
        self
    }

    /// Exports the spans of its calls and counts its checks.
    #[must_use]
    pub fn with_telemetry(mut self, telemetry: Option<Telemetry>) -> Self {
        self.telemetry = telemetry;
        self
    }

    /// Where spans go, if anything is exported.
    pub(crate) fn telemetry(&self) -> Option<&Telemetry> {
        self.telemetry.as_ref()
    }

    /// What its operator calls it.
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// What the guard has seen of it so far.
    pub(crate) fn status(&self) -> &Status {
        &self.status
    }

    /// The eras that it is known to speak.
    pub(crate) fn eras(&self) -> &KnownEras {
        &self.eras
    }

    /// The protocol revisions that a client may choose from, newest first: those that the server has named, or
    /// 2026-07-28.
    pub(crate) fn supported(&self) -> Arc<Vec<String>> {
        self.supported.load_full()
    }

    pub(crate) fn set_supported(&self, revisions: &[Revision]) {
        self.supported.store(Arc::new(revisions.iter().map(ToString::to_string).collect()));
    }

    /// Puts new settings in force. Calls under way finish under the old ones; tools are judged again
    /// before the next call. Connections that are open keep the old `max_message`.
    pub(crate) fn set_settings(&self, settings: Settings) {
        let before = self.rules();
        let bundles = bundles(&settings, &self.listener, before.bundles.as_ref());
        let compiled = Arc::clone(&before.shelf);
        let rules = Rules::new(settings, bundles, before.generation + 1, compiled);
        self.rules.store(Arc::new(rules));
    }

    pub(crate) fn rules(&self) -> arc_swap::Guard<Arc<Rules>> {
        self.rules.load()
    }

    pub(crate) fn report(&self, event: Event) {
        self.status.record_event(&event);
        self.listener.on_event(event);
    }

    /// Records a check of the arguments or the result of a call of `tool`.
    pub(crate) fn record_check(&self, tool: &str, check: &Check, span: Option<&CallSpan>) {
        self.status.record_check(tool, check);
        let Some(telemetry) = &self.telemetry else { return };
        let Check { side, outcome, fuel, time } = *check;
        let check = Checked { side, outcome, fuel, time };
        telemetry.count_check(Some(self.name()), tool, &check);
        if let Some(span) = span {
            span.add_check(&check);
        }
    }

    /// Reports the findings about a call, without its values unless the settings ask for them. What listens to them
    /// runs in the context of `span`.
    pub(crate) fn report_call(
        &self,
        mut findings: Vec<Finding>,
        settings: &Settings,
        span: Option<&CallSpan>,
    ) {
        let _context = span.map(|span| {
            for finding in &findings {
                span.add_finding(finding);
            }
            span.attach()
        });
        if !settings.log_values {
            for finding in &mut findings {
                finding.found = None;
            }
        }
        match findings.len() {
            0 => {}
            1 => findings.into_iter().for_each(|finding| self.report(Event::Finding(finding))),
            _ => self.report(Event::Call(findings)),
        }
    }

    /// Reports a finding about a tool list, unless the same one was reported before.
    pub(crate) fn report_once(&self, finding: Finding) {
        self.report_event_once(Event::Finding(finding));
    }

    /// Reports an event, unless one with the same text was reported before.
    pub(crate) fn report_event_once(&self, event: Event) {
        let mut hasher = DefaultHasher::new();
        event.to_string().hash(&mut hasher);
        let is_new = lock(&self.reported).get_ref_or_guard(&hasher.finish()).is_err_and(|place| {
            place.insert(());
            true
        });
        if is_new {
            self.report(event);
        }
    }
}
