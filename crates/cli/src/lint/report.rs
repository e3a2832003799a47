//! What was found in all lists.

use std::collections::BTreeMap;

use toolbond_contract::Severity;
use toolbond_guard::config::FailOn;
use toolbond_targets::Target;

use super::Baseline;
use super::baseline::Entry;
use super::list::{LintedList, Reported};
use crate::exit::Exit;

/// How much is written.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Detail {
    /// The findings that fail the check, and nothing without one.
    Quiet,
    /// What most want to know.
    #[default]
    Normal,
    /// Everything.
    Verbose,
}

/// The most entries of a baseline that are named because they no longer occur.
const MAX_STALE: usize = 20;

/// The most characters of what is said about one.
const MAX_ENTRY: usize = 300;

/// What was found in all lists.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) lists: Vec<LintedList>,
    pub(crate) targets: Vec<&'static Target>,
    pub(crate) fail_on: FailOn,
    /// Entries of the baseline that no longer occur.
    pub(crate) stale: Vec<Entry>,
    /// How much is written.
    pub(crate) detail: Detail,
    /// Whether the counts of the rules are written in place of the findings.
    pub(crate) statistics: bool,
    /// Whether there is a baseline.
    pub(crate) has_baseline: bool,
    /// The files that `--fix` may change.
    pub(crate) fixable: Vec<String>,
}

impl Report {
    /// Marks the findings that `baseline` lists, and remembers those of its entries that do not occur.
    pub(crate) fn apply(&mut self, baseline: Baseline) {
        let mut entries: BTreeMap<String, (Entry, bool)> =
            baseline.findings.into_iter().map(|e| (e.fingerprint.clone(), (e, false))).collect();
        for reported in self.lists.iter_mut().flat_map(|list| &mut list.findings) {
            if let Some((_, seen)) = entries.get_mut(&reported.fingerprint) {
                *seen = true;
                reported.known = true;
            }
        }
        self.stale = entries.into_values().filter(|(_, seen)| !seen).map(|(e, _)| e).collect();
    }

    /// Whether everything is written.
    pub(crate) fn is_verbose(&self) -> bool {
        self.detail == Detail::Verbose
    }

    /// Whether a finding of this severity is written by formats for people.
    pub(crate) fn shows(&self, severity: Severity) -> bool {
        match self.detail {
            Detail::Quiet => self.fails(severity),
            Detail::Normal => severity > Severity::Info || self.fails(severity),
            Detail::Verbose => true,
        }
    }

    /// What is said about entries of the baseline that no longer occur, and how to update it.
    pub(crate) fn stale_lines(&self) -> Vec<String> {
        let short = |entry: &Entry| entry.to_string().chars().take(MAX_ENTRY).collect();
        let mut lines: Vec<String> = self.stale.iter().take(MAX_STALE).map(short).collect();
        if let Some(more @ 1..) = self.stale.len().checked_sub(MAX_STALE) {
            lines.push(format!("baseline: {} no longer occur", plural(more, "more entry")));
        }
        if !lines.is_empty() {
            lines.push("baseline: --write-baseline updates it".to_owned());
        }
        lines
    }

    /// The rules with a finding that is not in the baseline, each with its worst severity.
    pub(crate) fn rules(&self) -> BTreeMap<&'static str, Severity> {
        let mut rules = BTreeMap::new();
        for (_, found) in self.new_findings() {
            let worst = rules.entry(found.rule()).or_insert(Severity::Info);
            *worst = (*worst).max(found.severity());
        }
        rules
    }

    /// The findings that the baseline does not list, each with its list.
    pub(crate) fn new_findings(&self) -> impl Iterator<Item = (&LintedList, &Reported)> {
        self.lists.iter().flat_map(|list| list.new_findings().map(move |found| (list, found)))
    }

    /// Whether a finding of this severity fails the check.
    pub(crate) fn fails(&self, severity: Severity) -> bool {
        match self.fail_on {
            FailOn::Error => severity >= Severity::Error,
            FailOn::Warning => severity >= Severity::Warning,
            FailOn::Info => true,
            FailOn::Never => false,
        }
    }

    /// Whether nothing fails the check.
    pub(crate) fn is_clean(&self) -> bool {
        let fails = self.new_findings().any(|(_, found)| self.fails(found.severity()));
        let is_stale = !self.stale.is_empty() && self.fail_on != FailOn::Never;
        !fails && !is_stale
    }

    /// How the check ends.
    pub(crate) fn exit(&self) -> Exit {
        if self.is_clean() { Exit::Clean } else { Exit::Findings }
    }

    /// The findings of this severity that are not in the baseline.
    pub(crate) fn count(&self, severity: Severity) -> usize {
        self.new_findings().filter(|(_, found)| found.severity() == severity).count()
    }
}

/// `1 tool`, `2 tools`.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    match noun.strip_suffix('y') {
        _ if count == 1 => format!("1 {noun}"),
        Some(stem) if !stem.ends_with(['a', 'e', 'o']) => format!("{count} {stem}ies"),
        _ => format!("{count} {noun}s"),
    }
}
