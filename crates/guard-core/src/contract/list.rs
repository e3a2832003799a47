//! Checking a page of a tool list, and giving its tools the shape that the client can read.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, OnceLock};

use serde::de::IgnoredAny;
use serde_json::{Value, json};
use toolbond_contract::{
    Action, Contract, Finding, Form, Mode, Pointer, ProjectError, convert_tool, judge_tools,
    lift_tool,
    project::{ProjectErrorKind, Shaped},
    project_tool,
    relax::{relax_tool, without_formats},
    rules::{SCHEMA_DIALECT, SCHEMA_LIMIT},
};
use toolbond_targets::{Target, UsedNames, name_views};

use super::catalog::{HeldOutput, Page, PageRequest, Tool};
use super::view::{rename_view, view_tool};
use crate::audience::Audience;
use crate::environment::{Bundle, Record, ToolStatus};
use crate::event::Event;
use crate::json::edit::{EditError, Span, apply, patch_value};
use crate::json::members::members;
use crate::json::scan::elements;
use crate::json::strict::value_bytes;
use crate::learned::{Learned, Stamp};
use crate::lock::lock;
use crate::server::{Rules, Server};
use crate::tool_cache::{JudgedTool, Shape, have_duplicates, judge};

/// Why a hidden tool is not offered.
pub const HIDDEN: &str = "its operator hides it";

/// Why a tool is not read whose value may take more memory than is left for it.
const TOO_LARGE: &str = "it is too large to be checked in the memory of the guard (--max-memory)";

/// What each tool of a page takes beside its value.
const TOOL_BYTES: usize = 1 << 10;

/// A checked page.
#[derive(Debug)]
pub struct CheckedPage {
    pub outcome: PageOutcome,
    /// What goes into the catalog; `None` where the page holds no list of tools.
    pub tools: Option<(Page, Vec<(String, Tool)>)>,
    /// The cursor to the next page, as JSON.
    pub next: Option<String>,
    /// The tools that are left out until their documents are fetched.
    pub pending: Vec<Arc<dyn Bundle>>,
}

impl CheckedPage {
    /// A page that passes as it is, and from which nothing goes into the catalog.
    fn passed(next: Option<String>) -> Self {
        Self { outcome: PageOutcome::Same, tools: None, next, pending: Vec::new() }
    }
}

/// The tools of a page.
struct CheckedTools {
    /// The texts for the client.
    texts: Vec<Text>,
    /// The tools for the catalog.
    tools: Vec<(String, Tool)>,
}

/// What the client gets.
#[derive(Debug, PartialEq, Eq)]
pub enum PageOutcome {
    /// The result as it is.
    Same,
    /// This result, as JSON.
    Replaced(String),
    /// An error with this message.
    Refused(String),
}

/// Checks pages of one list.
pub struct PageCheck<'a> {
    pub server: &'a Server,
    pub rules: &'a Rules,
    pub request: PageRequest,
    /// The names on other pages of the list: of two tools with the same name, the first counts.
    pub others: &'a UsedNames,
    pub audience: &'a Audience,
    /// Whether the page is checked again after a while, if documents are being fetched.
    pub may_wait: bool,
    /// The bytes that the parsed tools may take.
    pub memory: usize,
}

/// One tool of a page.
struct Entry<'a> {
    text: &'a str,
    /// The judgement from the cache.
    known: Option<Arc<JudgedTool>>,
    /// The tool, unless it is known or cannot be read; `null` where it is too large.
    value: Option<Value>,
    /// The name of a tool whose definition cannot be read, and why it cannot.
    unreadable: Option<(String, String)>,
}

impl<'a> Entry<'a> {
    fn new(text: &'a str, known: Option<Arc<JudgedTool>>) -> Self {
        if known.is_some() {
            return Self { text, known, value: None, unreadable: None };
        }
        match serde_json::from_str(text) {
            Ok(value) => Self { text, known, value: Some(value), unreadable: None },
            Err(error) => Self::unreadable(text, None, error.to_string()),
        }
    }

    /// A tool that is too large to be read.
    fn too_large(text: &'a str) -> Self {
        Self::unreadable(text, Some(Value::Null), TOO_LARGE.to_owned())
    }

    fn unreadable(text: &'a str, value: Option<Value>, reason: String) -> Self {
        // Other readers may read more than this one, and call it by its name.
        let name = members(text, ["name"]).ok().and_then(|[name]| name);
        let name = name.and_then(|name| serde_json::from_str::<String>(name).ok());
        Self { text, known: None, value, unreadable: name.map(|name| (name, reason)) }
    }

    /// The tool as the server wrote it; `null` where it cannot be read.
    fn value(&self) -> Cow<'_, Value> {
        match &self.value {
            Some(value) => Cow::Borrowed(value),
            None => Cow::Owned(serde_json::from_str(self.text).unwrap_or_default()),
        }
    }

    fn name(&self) -> Option<&str> {
        match (&self.unreadable, &self.known) {
            (Some((name, _)), _) => Some(name),
            (None, Some(known)) => known.name.as_deref(),
            (None, None) => self.value.as_ref()?.get("name")?.as_str(),
        }
    }
}

/// The text of a tool, for the client.
enum Text {
    Same,
    New(Arc<str>),
    LeftOut,
}

impl PageCheck<'_> {
    /// Checks `result`, a page of the list.
    ///
    /// A result that is not a list passes: the client can handle it. One that two readers
    /// may read in different ways does not.
    pub fn check(&self, result: &str) -> CheckedPage {
        let refused = |text: String| {
            self.server.report(Event::error(text.clone()));
            CheckedPage { outcome: PageOutcome::Refused(text), ..CheckedPage::passed(None) }
        };
        let [tools, next, ttl] = match members(result, ["tools", "nextCursor", "ttlMs"]) {
            Ok(found) => found,
            Err(_) if !result.starts_with('{') => return CheckedPage::passed(None),
            Err(error) => {
                return refused(format!("could not read the tool list of the server: {error}"));
            }
        };
        let next = next.filter(|next| *next != "null").map(str::to_owned);
        let Some(tools) = tools else { return CheckedPage::passed(next) };
        // They are counted before there is a vector of them.
        let count = serde_json::from_str::<Vec<IgnoredAny>>(tools).map_or(0, |all| all.len());
        if count.saturating_mul(TOOL_BYTES) > self.memory {
            return refused(format!(
                "tool list refused: its {count} tools need more memory than the guard has (--max-memory)"
            ));
        }
        let Some(raws) = elements(tools) else {
            let fits = value_bytes(tools) <= self.memory;
            let value = fits.then(|| serde_json::from_str::<Value>(tools).unwrap_or_default());
            for finding in judge_tools(json!({ "tools": value }), &self.rules.judging).findings {
                self.server.report_once(finding);
            }
            return CheckedPage::passed(next);
        };
        let known = |text| lock(&self.rules.tools).get(text);
        let fit = fitting(&raws, self.memory);
        let read = |(text, fits)| {
            if fits { Entry::new(text, known(text)) } else { Entry::too_large(text) }
        };
        let entries: Vec<_> = raws.into_iter().zip(fit).map(read).collect();
        let bundles = bundle_entries(self.rules, &entries);
        let page = Page {
            request: self.request,
            last: next.is_none(),
            bytes: tools.len()
                + added_bytes(&entries)
                + bundles.iter().flatten().map(|bundle| added(&**bundle)).sum::<usize>(),
            generation: self.rules.generation,
        };
        let pending = bundles.iter().flatten().filter(|bundle| bundle.is_pending());
        let pending: Vec<_> = pending.cloned().collect();
        if self.may_wait && !pending.is_empty() {
            return CheckedPage { pending, ..CheckedPage::passed(next) };
        }
        let (outcome, known) = match self.check_tools(&entries, &bundles) {
            Err(message) => {
                // A client may call a tool whose list it did not get.
                let reason: Arc<str> = message.as_str().into();
                let withheld = |entry: &Entry<'_>| {
                    Some((entry.name()?.to_owned(), Tool::Withheld(Arc::clone(&reason))))
                };
                let tools = entries.iter().filter_map(withheld).collect();
                (PageOutcome::Refused(message), tools)
            }
            Ok(CheckedTools { texts, tools: known }) => {
                let has_broken = known.iter().any(|(_, tool)| tool.is_broken());
                // A list that may change soon is not to be kept.
                let ttl = ttl.filter(|_| has_broken || !pending.is_empty());
                let outcome = rewrite(result, tools, &entries, texts, ttl);
                let failed =
                    |_: EditError| PageOutcome::Refused("could not edit the tool list".into());
                (outcome.unwrap_or_else(failed), known)
            }
        };
        CheckedPage { outcome, tools: Some((page, known)), next, pending }
    }

    /// Checks the tools of a page; fails where the list is refused.
    fn check_tools(
        &self,
        entries: &[Entry<'_>],
        bundles: &[Option<Arc<dyn Bundle>>],
    ) -> Result<CheckedTools, String> {
        let settings = &self.rules.settings;
        let judged = self.judge_entries(entries, bundles);
        self.record(entries, &judged);
        if settings.tools.is_some() {
            self.report(entries, &judged)?;
        }
        let mut tools = Vec::new();
        let mut texts = Vec::with_capacity(entries.len());
        let mut offered = HashSet::new();
        let mut places = Vec::new();
        let mut converted = 0;
        for (index, (entry, judged)) in entries.iter().zip(&judged).enumerate() {
            let name = entry.name();
            if let Some(name) = name.filter(|name| settings.is_hidden(name)) {
                tools.push((name.to_owned(), Tool::Withheld(HIDDEN.into())));
                texts.push(Text::LeftOut);
                continue;
            }
            if let (Some((name, error)), Some(_)) = (&entry.unreadable, settings.tools) {
                let reason = format!("its definition cannot be read: {error}");
                self.server
                    .report(Event::error(format!("server: tool `{name}` dropped: {reason}")));
                tools.push((name.clone(), Tool::Withheld(reason.into())));
                texts.push(Text::LeftOut);
                continue;
            }
            let Some(contract) = &judged.contract else {
                // An offered tool of the same name answers for it.
                if let (Some(name), Some(reason)) = (name, drop_reason(judged, index))
                    && (settings.tools.is_some() || settings.requires_contract(name))
                    && !offered.contains(name)
                {
                    tools.push((name.to_owned(), Tool::Withheld(reason.into())));
                }
                texts.push(if settings.tools.is_some() { Text::LeftOut } else { Text::Same });
                continue;
            };
            if self.others.tools.contains(contract.name()) {
                self.server.report(Event::warning(format!(
                    "tool `{}` is on two pages of the tool list; the first one counts",
                    contract.name()
                )));
                texts.push(Text::LeftOut);
                continue;
            }
            if let Some(reason) = self.unchecked_results(contract, judged) {
                tools.push((contract.name().to_owned(), Tool::Withheld(reason)));
                texts.push(if settings.tools.is_some() { Text::LeftOut } else { Text::Same });
                continue;
            }
            offered.insert(contract.name().to_owned());
            let (learned, stamp) = self.learned(contract);
            let shape = judged.shape(self.audience, stamp, || {
                self.shape_tool(contract, entry, learned.as_deref(), &mut converted)
            });
            places.push((texts.len(), tools.len()));
            texts.push(shape.text.map_or(Text::Same, Text::New));
            let held = HeldOutput { learned, ..HeldOutput::default() };
            let name = contract.name().to_owned();
            let (contract, judged) = (contract.clone(), Arc::clone(judged));
            let Shape { form, view, .. } = shape;
            tools.push((name, Tool::Offered { contract, judged, form, view, held }));
        }
        if let Some(target) = self.audience.target {
            self.name_views(target, entries, &mut texts, &mut tools, &places);
            self.report_views(target, &tools);
        }
        if converted > 0 {
            let noun = if converted == 1 { "schema" } else { "schemas" };
            self.server.report_event_once(Event::info(format!(
                "[older-dialect] converted {converted} {noun} of older dialects to JSON Schema 2020-12 for clients"
            )));
        }
        Ok(CheckedTools { texts, tools })
    }

    /// Tells once that the results of a tool cannot be checked. Returns why it is withheld, where its results are enforced.
    fn unchecked_results(&self, contract: &Contract, judged: &JudgedTool) -> Option<Arc<str>> {
        let Finding { pointer, message, rule, .. } = judged.unusable_output()?;
        let reason = format!("its results cannot be checked: {pointer}: {message} (rule `{rule}`)");
        let settings = &self.rules.settings;
        let (name, mode) = (contract.name(), settings.results_mode(contract.name()));
        if mode == Mode::Enforce {
            let text = format!(
                "server: tool `{name}` dropped: {reason}, and `enforce` passes none unchecked"
            );
            self.server.report_event_once(Event::error(text));
            return Some(reason.into());
        }
        // Otherwise the findings say so.
        if settings.tools.is_none() && mode != Mode::Off {
            let text = format!("server: tool `{name}`: {reason}");
            self.server.report_event_once(Event::warning(text));
        }
        None
    }

    /// Gives each view a name that no other tool of the list has. `places` are those of the offered tools in `texts`
    /// and in `tools`.
    fn name_views(
        &self,
        target: &'static Target,
        entries: &[Entry<'_>],
        texts: &mut [Text],
        tools: &mut [(String, Tool)],
        places: &[(usize, usize)],
    ) {
        let mut used = self.others.clone();
        used.tools.extend(entries.iter().filter_map(Entry::name).map(str::to_owned));
        let wanted = |(_, at): &(usize, usize)| match &tools[*at] {
            (own, Tool::Offered { view: Some(view), .. }) => (own.as_str(), view.view_name()),
            (own, _) => (own.as_str(), own.as_str()),
        };
        let wanted: Vec<_> = places.iter().map(wanted).collect();
        let names = name_views(&wanted, target, &used);
        let is_other =
            |(wanted, name): &(&(&str, &str), Option<String>)| name.as_deref() != Some(wanted.1);
        let others: Vec<_> = wanted
            .iter()
            .zip(names)
            .zip(places)
            .filter(|(it, _)| is_other(it))
            .map(|((_, name), place)| (name, *place))
            .collect();
        for (name, (text_at, tool_at)) in others {
            let (own, tool) = &mut tools[tool_at];
            let Tool::Offered { view, .. } = tool else { continue };
            let text = match &texts[text_at] {
                Text::New(text) => text,
                _ => entries[text_at].text,
            };
            let renamed = name.and_then(|name| rename_view(text, &name, view.as_deref(), target));
            if let Some((text, renamed)) = renamed {
                (texts[text_at], *view) = (Text::New(text.into()), Some(renamed));
                continue;
            }
            let reason = "its name for this client is that of another tool";
            self.server.report(Event::error(format!("server: tool `{own}` dropped: {reason}")));
            (texts[text_at], *tool) = (Text::LeftOut, Tool::Withheld(reason.into()));
        }
    }

    /// Reports how much views for `target` differ from the tools.
    fn report_views(&self, target: &Target, tools: &[(String, Tool)]) {
        let views = tools.iter().filter_map(|(_, tool)| match tool {
            Tool::Offered { view, .. } => view.as_deref(),
            Tool::Withheld(_) => None,
        });
        let (mut count, mut changes) = (0, 0);
        for view in views {
            (count, changes) = (count + 1, changes + view.report.len());
        }
        if count > 0 {
            self.server.report_event_once(Event::info(format!(
                "gave {count} of {} tools the form for {name}, with {changes} changes; `toolbond view --for {name}` shows them",
                tools.len(),
                name = target.name,
            )));
        }
    }

    /// Reports the findings about a page; fails where the list is refused because of them.
    fn report(&self, entries: &[Entry<'_>], judged: &[Arc<JudgedTool>]) -> Result<(), String> {
        let mut refusal = None;
        for (index, (entry, tool)) in entries.iter().zip(judged).enumerate() {
            let is_readable = entry.unreadable.is_none();
            for finding in tool.findings.iter().filter(|_| is_readable || tool.refuses_list) {
                let finding = at(finding, index);
                if finding.action == Action::ListRefused && refusal.is_none() {
                    refusal = Some(finding.to_string());
                }
                self.server.report_once(finding);
            }
        }
        if judged.iter().any(|tool| tool.refuses_list) {
            return Err(format!("tool list refused: {}", refusal.unwrap_or_default()));
        }
        Ok(())
    }

    /// Records the status of each tool in the status.
    fn record(&self, entries: &[Entry<'_>], judged: &[Arc<JudgedTool>]) {
        let settings = &self.rules.settings;
        for (entry, judged) in entries.iter().zip(judged) {
            let Some(name) = entry.name() else { continue };
            let status = match settings.tools {
                _ if settings.is_hidden(name) => ToolStatus::Hidden,
                _ if judged.unusable_output().is_some()
                    && settings.results_mode(name) == Mode::Enforce =>
                {
                    ToolStatus::Dropped
                }
                Some(_) => ToolStatus::from_findings(&judged.findings),
                None => ToolStatus::Kept,
            };
            let findings = &judged.findings;
            self.server.environment().record(&Record::Tool { name, findings, status });
        }
    }

    /// The tool as the client gets it, and how its results reach the client. Counts the schemas that are `converted` to
    /// 2020-12.
    fn shape_tool(
        &self,
        contract: &Contract,
        entry: &Entry<'_>,
        learned: Option<&Learned>,
        converted: &mut usize,
    ) -> Shape {
        let value = entry.value();
        let settings = &self.rules.settings;
        let author = if settings.tools.is_some() { contract.value() } else { &*value };
        let repairs = settings.results_mode(contract.name()) == Mode::Repair;
        let relaxed =
            learned.map_or(Cow::Borrowed(author), |it| relax_tool(author, it.relaxation()));
        let relaxed = if repairs { without_formats(&relaxed) } else { relaxed.clone() };
        let tool = self.convert_dialects(&relaxed, converted);
        let (tool, mut form) = self.project(&tool, contract.name());
        if learned.is_some() && tool.get("outputSchema").is_none() {
            // The results that are valid keep their form. Clients of a legacy revision need one that takes any value.
            let own = self.project(author, contract.name()).1;
            if own == Form::Envelope || self.audience.revision.is_natural() {
                form = own;
            }
        }
        let view = self.audience.target.and_then(|target| view_tool(&tool, target));
        let tool = view.as_ref().map_or(&*tool, |view| &view.tool);
        let text = patch_value(entry.text, &value, tool);
        Shape { text: (text != entry.text).then(|| text.into()), form, view }
    }

    /// What clients get of the output schema of a tool, and the stamp of what was learned of that; `None` is what its author
    /// wrote.
    fn learned(&self, contract: &Contract) -> (Option<Arc<Learned>>, Stamp) {
        let name = contract.name();
        if self.rules.settings.results_mode(name) != Mode::Repair {
            return (None, Stamp::default());
        }
        let (learned, stamp) = self.server.learned().get(contract).unzip();
        if let Some(learned) = &learned {
            let record = Record::BrokenOutput { tool: name, learned };
            self.server.environment().record(&record);
        }
        let omits = self.audience.omits_output() && contract.output().is_some();
        let learned = if omits { Some(Learned::gone().into()) } else { learned };
        (learned, stamp.unwrap_or_default())
    }

    /// The tool as the revision of the client can carry it, and how its results reach the client.
    fn project<'t>(&self, tool: &'t Value, name: &str) -> (Cow<'t, Value>, Form) {
        let revision = &self.audience.revision;
        let shaped = if !self.rules.settings.translate.revisions {
            Ok(Shaped::new(Cow::Borrowed(tool), Form::Natural))
        } else if revision.is_natural() {
            lift_tool(tool, revision)
        } else {
            project_tool(tool, revision)
        };
        match shaped {
            Ok(Shaped { tool, form, .. }) => (tool, form),
            Err(error) => {
                self.report_dropped_schema(name, &error);
                let mut tool = tool.clone();
                if let Some(members) = tool.as_object_mut() {
                    members.shift_remove("outputSchema");
                }
                (Cow::Owned(tool), Form::Undeclared)
            }
        }
    }

    /// The tool with its schemas in 2020-12, and how many were converted added to `count`.
    fn convert_dialects<'t>(&self, tool: &'t Value, count: &mut usize) -> Cow<'t, Value> {
        if !self.rules.settings.translate.dialects {
            return Cow::Borrowed(tool);
        }
        let converted = convert_tool(tool);
        let (done, failed): (Vec<_>, Vec<_>) =
            converted.findings.into_iter().partition(|it| it.action == Action::Converted);
        for finding in failed {
            self.server.report_once(finding);
        }
        *count += done.len();
        converted.tool
    }

    /// Reports that the client gets a tool without its output schema, which no form of it fits.
    fn report_dropped_schema(&self, tool: &str, error: &ProjectError) {
        let rule = match error.kind {
            ProjectErrorKind::UnsupportedDialect { .. } => &SCHEMA_DIALECT,
            _ => &SCHEMA_LIMIT,
        };
        let finding = rule.finding(error.kind.to_string()).tool(tool);
        let place = Pointer::root().concat(&error.pointer);
        self.server.report_once(finding.at(place).action(Action::MemberDropped));
    }
}

/// Which tools have values that fit into `memory` together. The largest are left out first, so that one of them costs no
/// other its place.
fn fitting(tools: &[&str], memory: usize) -> Vec<bool> {
    let mut sizes: Vec<_> =
        tools.iter().map(|tool| value_bytes(tool)).enumerate().map(|(at, it)| (it, at)).collect();
    sizes.sort_unstable();
    let (mut used, mut fit) = (0_usize, vec![false; tools.len()]);
    for (size, at) in sizes {
        used = used.saturating_add(size);
        fit[at] = used <= memory;
    }
    fit
}

/// Returns what has become of the documents that new tools refer to.
fn bundle_entries(rules: &Rules, entries: &[Entry<'_>]) -> Vec<Option<Arc<dyn Bundle>>> {
    let Some(documents) = rules.documents.as_ref().filter(|_| rules.settings.tools.is_some())
    else {
        return vec![None; entries.len()];
    };
    // Tools of one name are judged together, known or not.
    let is_judged_anew = has_twins(entries);
    let mut bytes = added_bytes(entries);
    let bundle = |entry: &Entry<'_>| {
        let is_hidden = entry.name().is_some_and(|name| rules.settings.is_hidden(name));
        if is_hidden || (entry.known.is_some() && !is_judged_anew) {
            return None;
        }
        documents.bundle(entry.text, &entry.value(), &mut bytes)
    };
    entries.iter().map(bundle).collect()
}

/// The bytes of the documents that were added to known tools.
fn added_bytes(entries: &[Entry<'_>]) -> usize {
    entries.iter().filter_map(|entry| Some(entry.known.as_ref()?.added_bytes)).sum()
}

/// Whether two of `entries` have the same name.
fn has_twins(entries: &[Entry<'_>]) -> bool {
    let readable = entries.iter().filter(|entry| entry.unreadable.is_none());
    have_duplicates(readable.filter_map(Entry::name))
}

impl PageCheck<'_> {
    /// Judges each tool, or takes it from the cache.
    fn judge_entries(
        &self,
        entries: &[Entry<'_>],
        bundles: &[Option<Arc<dyn Bundle>>],
    ) -> Vec<Arc<JudgedTool>> {
        let (rules, environment) = (self.rules, self.server.environment());
        let explain = |tool: &mut JudgedTool, entry: &Entry<'_>, bundle: Option<&dyn Bundle>| {
            environment.explain_references(&mut tool.findings, &entry.value(), bundle);
        };
        let new: Vec<_> = entries.iter().zip(bundles.iter().map(Option::as_deref)).collect();
        if has_twins(entries) {
            let values: Vec<_> = new.iter().map(bundled).collect();
            let judging = rules.judging_within(rules.shelf.pattern_states() / values.len().max(1));
            let mut together = judge(values, &judging, &rules.shelf);
            for (tool, (entry, bundle)) in together.iter_mut().zip(new) {
                explain(tool, entry, bundle);
            }
            return together.into_iter().map(Arc::new).collect();
        }
        let known = entries.iter().filter_map(|entry| entry.known.as_ref());
        let known = known.map(|tool| tool.pattern_states()).sum();
        let states = AtomicUsize::new(rules.shelf.pattern_states().saturating_sub(known));
        let new: Vec<_> = new.into_iter().filter(|(entry, _)| entry.known.is_none()).collect();
        let all: Vec<OnceLock<Arc<JudgedTool>>> = new.iter().map(|_| OnceLock::new()).collect();
        environment.for_each(new.len(), &|index| {
            let (entry, bundle) = new[index];
            let judge_within = |judging| judge(vec![bundled(&new[index])], judging, &rules.shelf);
            let Some(mut judged) = judge_within(&rules.judging).pop() else { return };
            let mut is_judged_alone = true;
            let take = |left: usize| left.checked_sub(judged.pattern_states());
            if let Err(left) = states.fetch_update(Relaxed, Relaxed, take) {
                // The tools before it left too little.
                drop(judged);
                is_judged_alone = false;
                let Some(again) = judge_within(&rules.judging_within(left)).pop() else { return };
                judged = again;
            }
            explain(&mut judged, entry, bundle);
            judged.added_bytes = bundle.map_or(0, added);
            let judged = Arc::new(judged);
            // What is not bundled may be so the next time, and another list may have room for it.
            let may_change = bundle.is_some_and(|bundle| bundle.ready().is_none());
            if is_judged_alone && entry.unreadable.is_none() && !may_change {
                lock(&rules.tools).insert(entry.text, Arc::clone(&judged));
            }
            let _ = all[index].set(judged);
        });
        let mut all = all.into_iter();
        let next = |entry: &Entry<'_>| {
            entry.known.clone().or_else(|| all.next().and_then(OnceLock::into_inner))
        };
        entries.iter().filter_map(next).collect()
    }
}

/// The tool of an entry, with its documents if they are there.
fn bundled((entry, bundle): &(&Entry<'_>, Option<&dyn Bundle>)) -> Value {
    match bundle.and_then(Bundle::ready) {
        Some((tool, _)) => tool.clone(),
        None => entry.value().into_owned(),
    }
}

/// The bytes of a tool with its documents.
fn added(bundle: &dyn Bundle) -> usize {
    bundle.ready().map_or(0, |(_, bytes)| bytes)
}

/// Why a tool is dropped.
fn drop_reason(tool: &JudgedTool, index: usize) -> Option<String> {
    let mut findings = tool.findings.iter();
    let finding = findings.find(|finding| finding.action == Action::ToolDropped)?;
    let Finding { message, pointer, rule, .. } = at(finding, index);
    Some(format!("{pointer}: {message} (rule `{rule}`)"))
}

/// The finding, about the tool at `index`.
fn at(finding: &Finding, index: usize) -> Finding {
    let mut finding = finding.clone();
    finding.index = Some(index);
    finding
}

/// The page `result` with the tools as `texts` has them, and with another `ttlMs` than `ttl`.
fn rewrite(
    result: &str,
    tools: &str,
    entries: &[Entry<'_>],
    texts: Vec<Text>,
    ttl: Option<&str>,
) -> Result<PageOutcome, EditError> {
    let span = |part: &str| Span::locate(result, part).ok_or(EditError);
    let mut edits = Vec::new();
    if let Some(ttl) = ttl {
        edits.push((span(ttl)?, "0".to_owned()));
    }
    if texts.iter().any(|text| matches!(text, Text::LeftOut)) {
        let kept: Vec<_> = entries
            .iter()
            .zip(&texts)
            .filter_map(|(entry, text)| match text {
                Text::Same => Some(entry.text),
                Text::New(text) => Some(&**text),
                Text::LeftOut => None,
            })
            .collect();
        edits.push((span(tools)?, format!("[{}]", kept.join(","))));
    } else {
        for (entry, text) in entries.iter().zip(texts) {
            if let Text::New(text) = text {
                edits.push((span(entry.text)?, text.to_string()));
            }
        }
    }
    if edits.is_empty() {
        return Ok(PageOutcome::Same);
    }
    apply(result, Span::from(0, result), edits).map(PageOutcome::Replaced)
}

#[cfg(test)]
mod tests;
