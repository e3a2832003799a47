//! The checked tools of a server, found by the content of a tool.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
    time::{Duration, Instant},
};

use rmcp::model::Tool;

use super::tool::ServerTool;
use crate::ServerOptions;

/// Tools with the same name that are kept: different callers may see different ones.
const MAX_VARIANTS: usize = 8;

/// Names that are kept. One more clears the cache.
const MAX_NAMES: usize = 10_000;

/// How long a tool is used without asking the handler again, if the server does not declare that its tools change.
/// The macros of `rmcp` build all tools to find one.
const FRESH: Duration = Duration::from_secs(1);

/// The tools with one name.
#[derive(Default)]
struct Variants {
    tools: Vec<Arc<ServerTool>>,
    /// The tool that was used last, and when the handler returned it.
    last: Option<(Instant, Arc<ServerTool>)>,
}

/// Checked tools by name.
#[derive(Default)]
pub(super) struct ToolCache {
    by_name: Mutex<HashMap<String, Variants>>,
}

impl ToolCache {
    /// Returns `tool` checked, if it was checked before. Schemas are compared by address first, so this is cheap for
    /// tools that are built once.
    pub(super) fn find(&self, tool: &Tool) -> Option<Arc<ServerTool>> {
        let by_name = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        by_name.get(tool.name.as_ref())?.tools.iter().find(|known| known.source == *tool).cloned()
    }

    /// Checks `tool`, reports its findings and keeps it, unless the outcome may change. `used` are the bytes of the
    /// bundled tools before it in its list.
    pub(super) fn insert(
        &self,
        tool: Tool,
        options: &ServerOptions,
        used: &mut usize,
    ) -> Arc<ServerTool> {
        let tool = Arc::new(ServerTool::new(tool, options, used));
        options.checks.report(&tool.findings);
        if tool.may_change {
            return tool;
        }
        let mut by_name = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        if by_name.len() >= MAX_NAMES && !by_name.contains_key(tool.source.name.as_ref()) {
            by_name.clear();
        }
        let variants = &mut by_name.entry(tool.source.name.to_string()).or_default().tools;
        if variants.len() >= MAX_VARIANTS {
            variants.remove(0);
        }
        variants.push(Arc::clone(&tool));
        tool
    }

    /// Returns the tool `name`, if the handler returned it a moment ago.
    pub(super) fn find_fresh(&self, name: &str) -> Option<Arc<ServerTool>> {
        let by_name = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        let (since, tool) = by_name.get(name)?.last.as_ref()?;
        (since.elapsed() < FRESH).then(|| Arc::clone(tool))
    }

    /// Marks `tool` as returned by the handler just now.
    pub(super) fn mark_fresh(&self, tool: &Arc<ServerTool>) {
        let mut by_name = self.by_name.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(variants) = by_name.get_mut(tool.source.name.as_ref()) {
            variants.last = Some((Instant::now(), Arc::clone(tool)));
        }
    }
}

impl fmt::Debug for ToolCache {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolCache").finish_non_exhaustive()
    }
}
