//! `tools/list` behind the contract.

use std::{
    collections::{HashMap, HashSet},
    sync::Arc,
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{ListToolsResult, PaginatedRequestParams, Tool},
    service::RequestContext,
};
use toolbond_contract::{Action, Policy, Revision, Severity, rules::DUPLICATE_NAME};

use super::{
    enforced::{Enforced, Shared},
    tool::ServerTool,
};
use crate::{
    fetched::fits_list,
    protocol::request_revision,
    views::{Target, view_page},
};

/// Pages of the handler's list that are searched for one tool.
pub(super) const MAX_PAGES: usize = 1_000;

impl<H: ServerHandler> Enforced<H> {
    /// Returns one page of tools, checked and in the form for the revision of the request.
    pub(super) async fn list(
        &self,
        request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        let (revision, target) = (request_revision(&context), self.target(&context));
        let mut page = self.handler.list_tools(request, context).await?;
        let tools = self.shared.check_tools(std::mem::take(&mut page.tools)).await?;
        self.shared.reject_list(&tools)?;
        page.tools = self.shared.listed(&tools, &revision);
        if let Some(target) = target {
            page.tools = self.shared.viewed(std::mem::take(&mut page.tools), tools, target).await?;
        }
        Ok(page)
    }

    /// Returns the tool `name` that the same caller would see in its list, or `None` if the list has no such tool.
    pub(super) async fn find_tool(
        &self,
        name: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<Arc<ServerTool>>, ErrorData> {
        if let Some(tool) = self.find_fresh(name) {
            return Ok(Some(tool));
        }
        if let Some(tool) = self.handler.get_tool(name) {
            let tool = self.shared.check_tools(vec![tool]).await?.pop();
            if let Some(tool) = &tool
                && !tool.may_change
            {
                self.shared.cache.mark_fresh(tool);
            }
            return Ok(tool);
        }
        let mut cursor = None;
        for _ in 0..MAX_PAGES {
            let request = cursor.map(|cursor| {
                let mut request = PaginatedRequestParams::default();
                request.cursor = Some(cursor);
                request
            });
            let page = self.handler.list_tools(request, context.clone()).await?;
            if let Some(tool) = page.tools.into_iter().find(|tool| tool.name == name) {
                return Ok(self.shared.check_tools(vec![tool]).await?.pop());
            }
            match page.next_cursor {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        Ok(None)
    }

    /// Returns the tool `name`, if the handler need not be asked again.
    pub(super) fn find_fresh(&self, name: &str) -> Option<Arc<ServerTool>> {
        let has_fixed_tools = self.shared.has_fixed_tools.get_or_init(|| {
            let tools = self.handler.get_info().capabilities.tools;
            tools.is_none_or(|tools| tools.list_changed != Some(true))
        });
        has_fixed_tools.then(|| self.shared.cache.find_fresh(name)).flatten()
    }
}

/// Whether a list may have all of `tools` with the documents that were added to them.
fn have_room(tools: &[Arc<ServerTool>]) -> bool {
    let mut used = 0;
    tools.iter().all(|tool| fits_list(&mut used, tool.added_bytes))
}

impl Shared {
    /// Returns `tools` checked, in their order. New ones are checked on another thread.
    async fn check_tools(
        self: &Arc<Self>,
        tools: Vec<Tool>,
    ) -> Result<Vec<Arc<ServerTool>>, ErrorData> {
        let found: Option<Vec<_>> = tools.iter().map(|tool| self.cache.find(tool)).collect();
        if let Some(found) = found
            && have_room(&found)
        {
            return Ok(found);
        }
        self.options.checks.documents.wait_for(&tools).await;
        let shared = Arc::clone(self);
        let check = move || {
            let mut used = 0;
            let check_one = |tool| match shared.cache.find(&tool) {
                Some(known) if fits_list(&mut used, known.added_bytes) => known,
                _ => shared.cache.insert(tool, &shared.options, &mut used),
            };
            tools.into_iter().map(check_one).collect()
        };
        // A listener for findings may panic. Tools that were not checked are neither listed nor called.
        tokio::task::spawn_blocking(check).await.map_err(|error| {
            tracing::error!(target: "toolbond", "could not check the tools: {error}");
            ErrorData::internal_error("internal error", None)
        })
    }

    /// Fails if the policy rejects lists with errors and this one has an error.
    fn reject_list(&self, tools: &[Arc<ServerTool>]) -> Result<(), ErrorData> {
        if self.options.checks.policy != Policy::Reject {
            return Ok(());
        }
        let error = tools
            .iter()
            .flat_map(|tool| &tool.findings)
            .find(|finding| finding.severity == Severity::Error);
        error.map_or(Ok(()), |finding| {
            Err(ErrorData::internal_error(format!("tool list refused: {finding}"), None))
        })
    }

    /// Returns `listed`, which are usable ones of `tools`, in the form for `target`. Views are made on another thread.
    async fn viewed(
        self: &Arc<Self>,
        listed: Vec<Tool>,
        tools: Vec<Arc<ServerTool>>,
        target: &'static Target,
    ) -> Result<Vec<Tool>, ErrorData> {
        let shared = Arc::clone(self);
        let view = move || {
            let mut usable = HashMap::new();
            for tool in tools.iter().filter_map(|tool| tool.usable.as_ref()) {
                // Of several tools with one name the first is listed.
                usable.entry(tool.contract.name()).or_insert(tool);
            }
            let view = |tool: &Tool| {
                let usable = usable.get(tool.name.as_ref())?;
                usable.views.view(&usable.natural, target)
            };
            view_page(&shared.view_names, listed, view, target)
        };
        tokio::task::spawn_blocking(view).await.map_err(|error| {
            tracing::error!(target: "toolbond", "could not make the views of the tools: {error}");
            ErrorData::internal_error("internal error", None)
        })
    }

    /// Returns the usable tools in the form for `revision`; of several tools with one name, the first.
    fn listed(&self, tools: &[Arc<ServerTool>], revision: &Revision) -> Vec<Tool> {
        let mut names = HashSet::new();
        let mut listed = Vec::with_capacity(tools.len());
        for (index, tool) in tools.iter().enumerate() {
            let Some(usable) = &tool.usable else { continue };
            if names.insert(tool.source.name.as_ref()) {
                listed.push(usable.for_revision(revision).clone());
            } else {
                let mut finding = DUPLICATE_NAME
                    .finding(
                        "expected a different name for each tool, found this name a second time",
                    )
                    .tool(tool.source.name.as_ref())
                    .action(Action::ToolDropped);
                finding.index = Some(index);
                self.options.checks.report(&[finding]);
            }
        }
        listed
    }
}
