//! What was found in all lists.

use std::collections::BTreeMap;

use toolbond_contract::Severity;
use toolbond_guard::config::FailOn;
use toolbond_targets::Target;

use super::Baseline;
use super::baseline::Entry;
use super::list::{LintedList, Reported};
use crate::exit::Exit;

/// What was found in all lists.
#[derive(Default)]
pub(crate) struct Report {
    pub(crate) lists: Vec<LintedList>,
    pub(crate) targets: Vec<&'static Target>,
    pub(crate) fail_on: FailOn,
    /// Entries of the baseline that no longer occur.
    pub(crate) stale: Vec<Entry>,
    /// Whether to write what is left out otherwise.
    pub(crate) verbose: bool,
    /// Whether the lists are in files, so that `--fix` may change them.
    pub(crate) offers_fix: bool,
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

    /// How the check ends.
    pub(crate) fn exit(&self) -> Exit {
        let fails = self.new_findings().any(|(_, found)| self.fails(found.severity()));
        let is_stale = !self.stale.is_empty() && self.fail_on != FailOn::Never;
        if fails || is_stale { Exit::Findings } else { Exit::Clean }
    }

    /// The findings of this severity that are not in the baseline.
    pub(crate) fn count(&self, severity: Severity) -> usize {
        self.new_findings().filter(|(_, found)| found.severity() == severity).count()
    }
}

/// `1 tool`, `2 tools`.
pub(crate) fn plural(count: usize, noun: &str) -> String {
    if count == 1 { format!("1 {noun}") } else { format!("{count} {noun}s") }
}
