//! Holding the messages of one server to its contracts; no I/O.

use std::collections::HashSet;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use serde_json::{Map, Value};
use toolpact_contract::{
    Contract, Finding, Form, JudgedCall, Mode, Outcome, Revision, Side, judge_arguments,
    judge_arguments_within, judge_result, judge_result_within, rule, tool_error,
};
use toolpact_schema::Instance;

use crate::catalog::{Catalog, Known, Look};
use crate::fetch::Failed;
use crate::list::HIDDEN;
use crate::message::{Initialized, object};
use crate::outline::{Outline, SMALL};
use crate::shape::shape;
use crate::status::{Check, OTHER};
use crate::tasks::{self, Tasks};
use crate::unique;
use crate::{Event, Listener, Settings, Ward};

/// Holds the messages of one server to its contracts.
///
/// It knows the tools of the server from the lists that pass through it, says what it finds to its
/// [`Listener`], and does no I/O. What it is asked to do may take as long as the fuel of a
/// validation lasts.
pub struct Inspector {
    pub(crate) ward: Arc<Ward>,
    pub(crate) catalog: Mutex<Catalog>,
    pub(crate) tasks: Mutex<Tasks>,
    said: Mutex<HashSet<u64>>,
    /// Held while the guard asks for the tool list: one asks, the others wait.
    pub(crate) fetching: tokio::sync::Mutex<Option<Failed>>,
}

impl std::fmt::Debug for Inspector {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Inspector").field("ward", &self.ward).finish_non_exhaustive()
    }
}

/// What becomes of a message.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Ruling {
    /// It leaves as it came.
    Same,
    /// Its result is replaced by this one, JSON.
    Replaced(String),
    /// An error takes its place.
    Refused(String),
}

/// How much a judgement may take.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Pace {
    /// As much as the settings allow: nothing else may wait for it.
    Full,
    /// More than anything takes that means no harm.
    Steady,
    /// So little that the next message can wait for it.
    Quick,
}

/// It takes more than its pace allows; nothing was said or remembered.
#[derive(Debug)]
pub(crate) struct Later;

/// The steps of a quick judgement: a tenth of a millisecond, or two.
const QUICK: u64 = 20_000;

/// The steps of a steady judgement: some milliseconds.
const STEADY: u64 = 400_000;

impl Pace {
    /// The steps that it allows, where those are not all that there are.
    fn fuel(self) -> Option<u64> {
        match self {
            Self::Full => None,
            Self::Steady => Some(STEADY),
            Self::Quick => Some(QUICK),
        }
    }

    /// Fails where a text of `bytes` is too long to be read at this pace.
    pub(crate) fn read(self, bytes: usize) -> Result<(), Later> {
        if self == Self::Quick && bytes > SMALL { Err(Later) } else { Ok(()) }
    }
}

/// The findings about lists that are remembered in order not to repeat them.
const SAID: usize = 10_000;

impl Inspector {
    /// An inspector of one server.
    #[must_use]
    pub fn new(settings: Settings, listener: Arc<dyn Listener>) -> Self {
        Self::of(Arc::new(Ward::new("server", settings, listener)))
    }

    /// An inspector of one conversation with `ward`.
    #[must_use]
    pub fn of(ward: Arc<Ward>) -> Self {
        Self {
            ward,
            catalog: Mutex::default(),
            tasks: Mutex::default(),
            said: Mutex::default(),
            fetching: tokio::sync::Mutex::default(),
        }
    }

    /// What it does at this moment.
    #[must_use]
    pub fn settings(&self) -> Arc<Settings> {
        self.ward.settings()
    }

    pub(crate) fn say(&self, event: Event) {
        self.ward.say(event);
    }

    /// Says a finding about a list, unless it was said before.
    pub(crate) fn say_once(&self, finding: Finding) {
        let mut hasher = DefaultHasher::new();
        finding.to_string().hash(&mut hasher);
        let mut said = lock(&self.said);
        if said.len() >= SAID {
            said.clear();
        }
        if said.insert(hasher.finish()) {
            drop(said);
            self.say(Event::Finding(finding));
        }
    }

    pub(crate) fn look(&self, revision: &Revision, name: &str) -> Look {
        if self.ward.settings().hides(name) {
            return Look::Known(Known::Dropped(HIDDEN.into()));
        }
        let generation = self.ward.rules().generation;
        lock(&self.catalog).under(generation).look(revision, name)
    }

    /// The server said who it is: the revision that is spoken from now on, where it names one.
    pub(crate) fn initialized(&self, result: &str) -> Option<Revision> {
        let initialized: Initialized<'_> = object(result).ok()?;
        let revision = initialized.version.as_deref().map(Revision::from);
        self.ward.status().met(initialized.server(), revision.as_ref());
        revision
    }

    /// A call of a tool came.
    pub(crate) fn called(&self, known: Option<&Known>, name: &str, revision: &Revision) {
        // Names of tools that are not there are anybody's.
        let name = if known.is_some() { name } else { OTHER };
        self.ward.status().called(name, revision);
    }

    pub(crate) fn tools_changed(&self) {
        lock(&self.catalog).changed();
    }

    /// The tool error to answer a call with, as JSON, where its arguments are not let through.
    pub(crate) fn arguments(
        &self,
        known: &Known,
        arguments: Option<&str>,
        revision: &Revision,
        pace: Pace,
    ) -> Result<Option<String>, Later> {
        let Known::Kept { contract, .. } = known else { return Ok(None) };
        let mode = self.ward.settings().arguments_of(contract.name());
        if mode == Mode::Off {
            return Ok(None);
        }
        pace.read(arguments.map_or(0, str::len))?;
        let start = Instant::now();
        if pace == Pace::Quick
            && let Some(Ok(instance)) = arguments.map(Instance::parse)
            && instance.is_object()
            && let Some(fuel) = contract.input().schema().accepts(&instance, QUICK)
        {
            self.count(contract.name(), Side::Arguments, Outcome::Valid, fuel, start);
            return Ok(None);
        }
        let judged = match (arguments.map(unique::read).transpose(), pace.fuel()) {
            (Ok(value), None) => judge_arguments(contract, value.as_ref(), mode),
            (Ok(value), Some(fuel)) => {
                judge_arguments_within(contract, value.as_ref(), mode, fuel).ok_or(Later)?
            }
            (Err(error), _) => unreadable("arguments-unfinished", contract.name(), &error, mode),
        };
        self.count(contract.name(), Side::Arguments, judged.outcome, judged.fuel, start);
        for finding in judged.findings {
            self.say(Event::Finding(finding));
        }
        Ok(judged.refusal.map(|refusal| complete(refusal, revision)))
    }

    /// What becomes of the result of a call; `known` is its tool, where it is known, and `outline`
    /// what the result was read as in passing.
    pub(crate) fn result(
        &self,
        known: Option<&Known>,
        result: &str,
        outline: Option<&Outline<'_>>,
        revision: &Revision,
        pace: Pace,
    ) -> Result<Ruling, Later> {
        let (contract, form) = match known {
            Some(Known::Kept { contract, form }) => (Some(contract), *form),
            _ => (None, Form::Undeclared),
        };
        let settings = self.ward.settings();
        let mode = contract.map_or(Mode::Off, |contract| settings.results_of(contract.name()));
        if mode == Mode::Off && !settings.project {
            return Ok(Ruling::Same);
        }
        pace.read(result.len())?;
        let name = contract.map_or("", |contract| contract.name());
        let judging = contract.filter(|_| mode != Mode::Off);
        if pace == Pace::Quick
            && let Some(outline) = outline
            && self.lets_pass(judging, outline)
        {
            return Ok(self.shape(result, &outline.members, form, revision, name));
        }
        let value = match unique::read_result(result) {
            Ok(value) => value,
            Err(error) => {
                let judged = unreadable("result-unfinished", name, &error, mode);
                return Ok(self.rule(judged, revision).unwrap_or(Ruling::Same));
            }
        };
        if let Some(contract) = contract {
            let start = Instant::now();
            let judged = match pace.fuel() {
                None => judge_result(contract, &value, mode),
                Some(fuel) => judge_result_within(contract, &value, mode, fuel).ok_or(Later)?,
            };
            self.count(name, Side::Result, judged.outcome, judged.fuel, start);
            if let Some(ruling) = self.rule(judged, revision) {
                return Ok(ruling);
            }
            if let Some(task) = tasks::created(&value) {
                lock(&self.tasks).add(task, known.cloned(), revision.clone());
            }
        }
        Ok(self.shape(result, &value, form, revision, name))
    }

    /// Whether the outline of a result is enough to find that it keeps the contract; else nothing was
    /// said or counted.
    fn lets_pass(&self, contract: Option<&Contract>, outline: &Outline<'_>) -> bool {
        if !outline.is_plain() {
            return false;
        }
        let Some((contract, output)) = contract.and_then(|it| Some((it, it.output()?))) else {
            return true;
        };
        let start = Instant::now();
        let structured = outline.structured.as_ref();
        let Some(fuel) = structured.and_then(|value| output.schema().accepts(value, QUICK)) else {
            return false;
        };
        self.count(contract.name(), Side::Result, Outcome::Valid, fuel, start);
        true
    }

    /// What becomes of a result, `value` or the outline of it, that is let through.
    fn shape(
        &self,
        text: &str,
        value: &Value,
        form: Form,
        revision: &Revision,
        tool: &str,
    ) -> Ruling {
        if !self.ward.settings().project {
            return Ruling::Same;
        }
        match shape(text, value, form, revision) {
            Ok(Some(shaped)) => Ruling::Replaced(shaped),
            Ok(None) => Ruling::Same,
            Err(error) => {
                if let Some(rule) = rule("result-shape") {
                    let finding = rule.finding(error.kind.to_string()).at(error.pointer).tool(tool);
                    self.say(Event::Finding(finding));
                }
                Ruling::Same
            }
        }
    }

    fn count(&self, tool: &str, side: Side, outcome: Outcome, fuel: u64, start: Instant) {
        let check = Check { side, outcome, fuel, time: start.elapsed() };
        self.ward.status().judged(tool, check);
    }

    /// Says the findings; what takes the place of the result, if anything does.
    fn rule(&self, judged: JudgedCall, revision: &Revision) -> Option<Ruling> {
        for finding in judged.findings {
            self.say(Event::Finding(finding));
        }
        judged.refusal.map(|refusal| Ruling::Replaced(complete(refusal, revision)))
    }
}

/// What cannot be read into a value (too deep, a number beyond all bounds) cannot be judged.
fn unreadable(id: &str, tool: &str, error: &serde_json::Error, mode: Mode) -> JudgedCall {
    let message = format!("cannot be read: {error}");
    let mut findings = Vec::new();
    if mode != Mode::Off
        && let Some(rule) = rule(id)
    {
        findings.push(rule.finding(&message).tool(tool));
    }
    let what = if id.starts_with("arguments") { "arguments for" } else { "result of" };
    let refusal = (mode == Mode::Enforce)
        .then(|| tool_error(format!("the {what} tool `{tool}` could not be checked: {message}")));
    JudgedCall { outcome: Outcome::Unfinished, findings, refusal, fuel: 0 }
}

/// The result as `revision` wants it, as JSON.
pub(crate) fn complete(mut refusal: Map<String, Value>, revision: &Revision) -> String {
    if revision.is_natural() {
        refusal.entry("resultType").or_insert_with(|| "complete".into());
    }
    Value::Object(refusal).to_string()
}

/// The value behind `mutex`: what holds it does not panic half-way through a change.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
