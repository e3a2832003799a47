//! The compiled contracts of a server, found again by the content of a tool.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::model::Tool;

use super::{Options, entry::Entry};
use crate::report::report;

/// Tools of one name that are kept side by side: callers may be listed different ones.
const VARIANTS: usize = 8;

/// Names that are kept.
const NAMES: usize = 10_000;

/// Entries by the name of their tool.
#[derive(Default)]
pub(super) struct Store {
    entries: Mutex<HashMap<String, Vec<Arc<Entry>>>>,
}

impl Store {
    /// The entry of `tool`, if it was judged before. Schemas are compared by address first, so this is
    /// cheap for tools that are built once.
    pub(super) fn find(&self, tool: &Tool) -> Option<Arc<Entry>> {
        let entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        let variants = entries.get(tool.name.as_ref())?;
        variants.iter().find(|entry| entry.source == *tool).cloned()
    }

    /// Judges `tool`, reports what there is to say, and keeps the outcome.
    pub(super) fn judge(&self, tool: Tool, options: &Options) -> Arc<Entry> {
        let entry = Arc::new(Entry::judge(tool, options));
        report(&entry.findings, options.listener.as_ref());
        let mut entries = self.entries.lock().unwrap_or_else(PoisonError::into_inner);
        if entries.len() >= NAMES && !entries.contains_key(entry.source.name.as_ref()) {
            entries.clear();
        }
        let variants = entries.entry(entry.source.name.to_string()).or_default();
        if variants.len() >= VARIANTS {
            variants.remove(0);
        }
        variants.push(Arc::clone(&entry));
        entry
    }
}

impl fmt::Debug for Store {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Store").finish_non_exhaustive()
    }
}
