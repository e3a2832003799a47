//! Tools in the form that a target accepts, and calls of them as calls of the tools themselves.

use std::sync::Arc;

use serde_json::Value;
use toolbond_contract::arguments::large_integers;
use toolbond_targets::{Target, View, view_tools};

use crate::json::edit::patch_value;
use crate::json::strict;

/// The view of `tool` for `target`; `None` where that is the tool itself.
pub(super) fn view_tool(tool: &Value, target: &'static Target) -> Option<Arc<View>> {
    let view = view_tools(std::slice::from_ref(tool), target).pop()?;
    (view.tool != *tool).then(|| Arc::new(view))
}

/// The tool `text` under another name, and how to restore its calls; `view` is what it was so far.
pub(super) fn rename_view(
    text: &str,
    name: &str,
    view: Option<&View>,
    target: &'static Target,
) -> Option<(String, Arc<View>)> {
    let tool: Value = serde_json::from_str(text).ok()?;
    let mut renamed = match view {
        Some(view) => view.clone(),
        None => view_tools(std::slice::from_ref(&tool), target).pop()?,
    };
    *renamed.tool.get_mut("name")? = name.into();
    let text = patch_value(text, &tool, &renamed.tool);
    Some((text, Arc::new(renamed)))
}

/// The arguments would not be the same in the form of the tool.
#[derive(Debug, PartialEq, Eq)]
pub struct Unrestored {
    /// Why, for the model.
    pub reason: String,
}

const LARGE_INTEGER: &str = "they have an integer of more than 64 bits where the tool takes another form; send it as a string";

/// `arguments` of a call of `view` as the tool takes them, with the same text wherever the value is the same; `None`
/// where they stay as they are. Arguments that cannot be parsed stay, too: the check refuses them.
pub fn restore_arguments(view: &View, arguments: &str) -> Result<Option<String>, Unrestored> {
    let Ok(value) = strict::parse(arguments) else { return Ok(None) };
    if let Some(reason) = view.unreadable(&value) {
        return Err(Unrestored { reason });
    }
    let restored = view.restore(value.clone());
    let text = patch_value(arguments, &value, &restored);
    if text == arguments.trim() {
        return Ok(None);
    }
    if sorted_large_integers(arguments) != sorted_large_integers(&text) {
        return Err(Unrestored { reason: LARGE_INTEGER.to_owned() });
    }
    Ok(Some(text))
}

/// The integers in `text` that the check would take for others, sorted.
fn sorted_large_integers(text: &str) -> Vec<&str> {
    let mut found: Vec<_> = large_integers(text).collect();
    found.sort_unstable();
    found
}
