//! Tools in the form that a target accepts, and calls of them as calls of the tools themselves.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::{
    ErrorData, RoleServer, ServerHandler,
    model::{CallToolRequestParams, PaginatedRequestParams, Tool},
    service::RequestContext,
};
use serde_json::Value;
use toolbond_targets::{Target, UsedNames, View, ViewFor, name_views, view_tools};

use super::{Enforced, list::MAX_PAGES, tool::ServerTool};
use crate::protocol::request_client;

/// Names of views that are kept. One more clears them.
const MAX_NAMES: usize = 10_000;

/// The own names of tools by target and name of the view, as far as they were listed.
#[derive(Debug, Default)]
pub(super) struct ViewNames(Mutex<HashMap<(&'static str, String), String>>);

impl ViewNames {
    /// The own name of the tool whose view for `target` has this name.
    fn own_name(&self, target: &Target, name: &str) -> Option<String> {
        let names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.get(&(target.name, name.to_owned())).cloned()
    }

    /// The own name of a tool that has a view of this name, for whatever target.
    pub(super) fn own_name_for_any(&self, name: &str) -> Option<String> {
        let names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.iter().find(|((_, view), _)| view == name).map(|(_, own)| own.clone())
    }

    /// Gives each tool of a page a name that no other tool has; `tools` are the own name of each and that of its view.
    fn name_page(&self, tools: &[(&str, &str)], target: &'static Target) -> Vec<Option<String>> {
        let mut names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let mut used = UsedNames::default();
        used.tools = tools.iter().map(|(own, _)| (*own).to_owned()).collect();
        let others =
            names.iter().filter(|((of, _), own)| *of == target.name && !used.tools.contains(*own));
        used.views = others.map(|((_, view), _)| view.clone()).collect();
        let page = name_views(tools, target, &used);
        if names.len() + page.len() > MAX_NAMES {
            names.clear();
        }
        for ((own, _), view) in tools.iter().zip(&page) {
            names.extend(view.clone().map(|view| ((target.name, view), (*own).to_owned())));
        }
        page
    }
}

impl<H: ServerHandler> Enforced<H> {
    /// The target that the client of a request gets views for.
    pub(super) fn target(&self, context: &RequestContext<RoleServer>) -> Option<&'static Target> {
        match self.shared.options.view_for {
            ViewFor::None => None,
            view_for => view_for.target(request_client(context).as_deref()),
        }
    }

    /// Returns a call of a view as a call of the tool itself. A call by a tool's own name stays as it is if the view has
    /// another name: clients may remember it.
    pub(super) async fn restore_call(
        &self,
        mut request: CallToolRequestParams,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolRequestParams, ErrorData> {
        let Some(target) = self.target(context) else { return Ok(request) };
        let Some(own) = self.own_name(target, &request.name, context).await? else {
            return Ok(request);
        };
        let Some(tool) = self.find_tool(&own, context).await? else { return Ok(request) };
        request.name = own.into();
        let view = tool.usable.as_ref().and_then(|usable| usable.view(target));
        if let (Some(view), Some(arguments)) = (view, &mut request.arguments)
            && let Value::Object(restored) = view.restore(Value::Object(std::mem::take(arguments)))
        {
            *arguments = restored;
        }
        Ok(request)
    }

    /// The own name of the tool whose view has this name; lists the tools where it is not known.
    async fn own_name(
        &self,
        target: &'static Target,
        name: &str,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<String>, ErrorData> {
        let known = || self.shared.view_names.own_name(target, name);
        let mut cursor = None;
        for _ in 0..MAX_PAGES {
            if let Some(own) = known() {
                return Ok(Some(own));
            }
            let request = cursor.map(|cursor| {
                let mut request = PaginatedRequestParams::default();
                request.cursor = Some(cursor);
                request
            });
            match self.list(request, context.clone()).await?.next_cursor {
                Some(next) => cursor = Some(next),
                None => break,
            }
        }
        Ok(known())
    }
}

/// Returns `listed`, the tools of one page, in the form for `target`; `tools` are the same tools with their views. A
/// tool without a name of its own left is left out.
pub(super) fn view_page(
    known: &ViewNames,
    listed: Vec<Tool>,
    tools: &[Arc<ServerTool>],
    target: &'static Target,
) -> Vec<Tool> {
    let mut usable = HashMap::new();
    for tool in tools.iter().filter_map(|tool| tool.usable.as_ref()) {
        // Of several tools with one name the first is listed.
        usable.entry(tool.contract.name()).or_insert(tool);
    }
    let view = |tool: &Tool| usable.get(tool.name.as_ref())?.view(target);
    let views: Vec<Option<Arc<View>>> = listed.iter().map(view).collect();
    let wanted = listed.iter().zip(&views).map(|(tool, view)| {
        let own = tool.name.as_ref();
        (own, view.as_ref().map_or(own, |view| view.view_name()))
    });
    let wanted: Vec<_> = wanted.collect();
    let page = known.name_page(&wanted, target);
    let tools = listed.into_iter().zip(views).zip(page);
    tools.filter_map(|((tool, view), name)| Some(viewed(tool, view.as_deref(), name?))).collect()
}

/// `tool` as its view, under `name`.
fn viewed(mut tool: Tool, view: Option<&View>, name: String) -> Tool {
    if let Some(view) = view {
        if let Some(Value::Object(schema)) = view.tool.get("inputSchema") {
            tool.input_schema = Arc::new(schema.clone());
        }
        let description = view.tool.get("description").and_then(Value::as_str);
        tool.description = description.map(|text| text.to_owned().into());
    }
    if tool.name != name {
        tool.name = name.into();
    }
    tool
}

/// The view of `tool` for `target`; `None` where that is the tool itself.
pub(super) fn view_tool(tool: &Value, target: &'static Target) -> Option<Arc<View>> {
    let view = view_tools(std::slice::from_ref(tool), target).pop()?;
    (view.tool != *tool).then(|| Arc::new(view))
}
