//! `tools/list` under the contract.

use std::{collections::HashSet, sync::Arc};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{ListToolsResult, PaginatedRequestParams, Tool},
    service::RequestContext,
};
use toolpact_contract::{Action, Policy, Revision, Severity, rule};

use super::{Enforced, Shared, entry::Entry};
use crate::{protocol::revision_of, report::report};

/// Pages that are read in search of one tool.
const PAGES: usize = 1_000;

impl<H: ServerHandler> Enforced<H> {
    /// One page of tools, judged and as the request's revision can carry them.
    pub(super) async fn list(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let revision = revision_of(&context);
        let mut page = self.handler.list_tools(request, context).await?;
        let entries = self.shared.entries(std::mem::take(&mut page.tools)).await?;
        self.shared.refuse_list(&entries)?;
        page.tools = self.shared.tools(&entries, &revision);
        Ok(page)
    }

    /// The entry that a call of `name` is held to: that of the tool which the same request would be
    /// listed. Nothing where no tool of that name is listed.
    pub(super) async fn entry(
        &self,
        name: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<Arc<Entry>>, ErrorData> {
        if let Some(entry) = self.recent(name) {
            return Ok(Some(entry));
        }
        if let Some(tool) = self.handler.get_tool(name) {
            let entry = self.shared.entries(vec![tool]).await?.pop();
            if let Some(entry) = &entry {
                self.shared.store.note(entry);
            }
            return Ok(entry);
        }
        let mut cursor = None;
        for _ in 0..PAGES {
            let request = cursor.map(|cursor| {
                let mut request = PaginatedRequestParams::default();
                request.cursor = Some(cursor);
                request
            });
            let page = self.handler.list_tools(request, context.clone()).await?;
            if let Some(tool) = page.tools.into_iter().find(|tool| tool.name == name) {
                return Ok(self.shared.entries(vec![tool]).await?.pop());
            }
            match page.next_cursor {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        Ok(None)
    }

    /// The entry of the tool called `name`, where it need not be asked for again.
    pub(super) fn recent(&self, name: &str) -> Option<Arc<Entry>> {
        let is_fixed = self.shared.is_fixed.get_or_init(|| {
            let tools = self.handler.get_info().capabilities.tools;
            tools.is_none_or(|tools| tools.list_changed != Some(true))
        });
        is_fixed.then(|| self.shared.store.recent(name)).flatten()
    }
}

impl Shared {
    /// The entries of `tools`, in their order. Those that are new are judged off the event loop.
    async fn entries(self: &Arc<Self>, tools: Vec<Tool>) -> Result<Vec<Arc<Entry>>, ErrorData> {
        let found: Option<Vec<_>> = tools.iter().map(|tool| self.store.find(tool)).collect();
        if let Some(found) = found {
            return Ok(found);
        }
        let shared = Arc::clone(self);
        let judge = move || {
            let entry = |tool| match shared.store.find(&tool) {
                Some(entry) => entry,
                None => shared.store.judge(tool, &shared.options),
            };
            tools.into_iter().map(entry).collect()
        };
        // Judging does not panic, but whoever listens to it may. What is not judged is neither listed nor called.
        tokio::task::spawn_blocking(judge).await.map_err(|error| {
            tracing::error!(target: "toolpact", "tools cannot be judged: {error}");
            ErrorData::internal_error("internal error", None)
        })
    }

    /// Refuses a list with an error in it, where the policy says so.
    fn refuse_list(&self, entries: &[Arc<Entry>]) -> Result<(), ErrorData> {
        if self.options.policy != Policy::Reject {
            return Ok(());
        }
        let error = entries
            .iter()
            .flat_map(|entry| &entry.findings)
            .find(|finding| finding.severity == Severity::Error);
        error.map_or(Ok(()), |finding| {
            Err(ErrorData::internal_error(format!("tool list refused: {finding}"), None))
        })
    }

    /// What is listed of `entries`: of several tools of one name, the first.
    fn tools(&self, entries: &[Arc<Entry>], revision: &Revision) -> Vec<Tool> {
        let mut taken = HashSet::new();
        let mut tools = Vec::with_capacity(entries.len());
        for (index, entry) in entries.iter().enumerate() {
            let Some(kept) = &entry.kept else { continue };
            if taken.insert(entry.source.name.as_ref()) {
                tools.push(kept.tool(revision).clone());
            } else if let Some(rule) = rule("duplicate-name") {
                let mut finding = rule
                    .finding("expected a name used once, found a tool of this name before it")
                    .tool(entry.source.name.as_ref())
                    .action(Action::ToolDropped);
                finding.index = Some(index);
                report(&[finding], self.options.listener.as_ref());
            }
        }
        tools
    }
}
