//! The compiled contracts of a server, found again by the content of a tool.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use rmcp::model::Tool;

use super::{Options, entry::Entry};
use crate::report::report;

/// Tools of one name that are kept side by side: callers may be listed different ones.
const VARIANTS: usize = 8;

/// Names that are kept.
const NAMES: usize = 10_000;

/// How long a tool is not asked for again, where a server does not declare that its tools change. The macros of
/// `rmcp` build all tools anew to find one.
const TRUST: Duration = Duration::from_secs(1);

/// What is kept under one name.
#[derive(Default)]
struct Named {
    variants: Vec<Arc<Entry>>,
    /// The one that was given last, and when.
    last: Option<(Instant, Arc<Entry>)>,
}

/// Entries by the name of their tool.
#[derive(Default)]
pub(super) struct Store {
    entries: Mutex<HashMap<String, Named>>,
}

impl Store {
    /// The entry of `tool`, if it was judged before. Schemas are compared by address first, so this is
    /// cheap for tools that are built once.
    pub(super) fn find(&self, tool: &Tool) -> Option<Arc<Entry>> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        entries
            .get(tool.name.as_ref())?
            .variants
            .iter()
            .find(|entry| entry.source == *tool)
            .cloned()
    }

    /// Judges `tool`, reports what there is to say, and keeps the outcome.
    pub(super) fn judge(&self, tool: Tool, options: &Options) -> Arc<Entry> {
        let entry = Arc::new(Entry::judge(tool, options));
        report(&entry.findings, options.listener.as_ref());
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= NAMES && !entries.contains_key(entry.source.name.as_ref()) {
            entries.clear();
        }
        let variants = &mut entries.entry(entry.source.name.to_string()).or_default().variants;
        if variants.len() >= VARIANTS {
            variants.remove(0);
        }
        variants.push(Arc::clone(&entry));
        entry
    }

    /// The entry of the tool called `name`, if it was given a moment ago.
    pub(super) fn recent(&self, name: &str) -> Option<Arc<Entry>> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let (given, entry) = entries.get(name)?.last.as_ref()?;
        (given.elapsed() < TRUST).then(|| Arc::clone(entry))
    }

    /// Notes that `entry` was given now.
    pub(super) fn note(&self, entry: &Arc<Entry>) {
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(named) = entries.get_mut(entry.source.name.as_ref()) {
            named.last = Some((Instant::now(), Arc::clone(entry)));
        }
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}
