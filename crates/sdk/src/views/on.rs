//! Tools in the form that a target accepts, and calls of them as calls of the tools themselves.

use std::{
    collections::HashMap,
    sync::{Arc, Mutex, PoisonError},
};

use rmcp::model::Tool;
use serde_json::Value;
pub(crate) use toolbond_targets::{Target, View, ViewFor};
use toolbond_targets::{UsedNames, name_views, view_tools};

/// Names of views that are kept. One more clears them.
const MAX_NAMES: usize = 10_000;

/// The own names of tools by target and name of the view, as far as they were listed.
#[derive(Debug, Default)]
pub(crate) struct ViewNames(Mutex<HashMap<(&'static str, String), String>>);

impl ViewNames {
    /// The own name of the tool whose view for `target` has this name.
    pub(crate) fn own_name(&self, target: &Target, name: &str) -> Option<String> {
        let names = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        names.get(&(target.name, name.to_owned())).cloned()
    }

    /// The own name of a tool that has a view of this name, for whatever target.
    pub(crate) fn own_name_for_any(&self, name: &str) -> Option<String> {
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

/// The views of a tool that clients got so far, by the name of their target.
#[derive(Debug, Default)]
pub(crate) struct Views(Mutex<HashMap<&'static str, Option<Arc<View>>>>);

impl Views {
    /// How to restore calls of the view of `tool` for `target`; `None` where the view is the tool itself.
    pub(crate) fn view(&self, tool: &Tool, target: &'static Target) -> Option<Arc<View>> {
        let views = || self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(view) = views().get(target.name) {
            return view.clone();
        }
        let tool = serde_json::to_value(tool).ok()?;
        let view = view_tools(std::slice::from_ref(&tool), target).pop()?;
        let view = (view.tool != tool).then(|| Arc::new(view));
        if let Some(view) = &view {
            let (tool, target, changes) = (&view.name, target.name, view.report.join(", "));
            tracing::info!(target: "toolbond", "tool `{tool}` has another form for {target}: {changes}");
        }
        // There are as many as there are targets, at most.
        views().insert(target.name, view.clone());
        view
    }
}

/// Returns `listed`, the tools of one page, in the form for `target`, with the `view` of each. A tool without a name of
/// its own left is left out.
pub(crate) fn view_page(
    known: &ViewNames,
    listed: Vec<Tool>,
    view: impl Fn(&Tool) -> Option<Arc<View>>,
    target: &'static Target,
) -> Vec<Tool> {
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
