//! Views: a tool in the form that one target accepts.

mod build;
mod form;
mod merge;
mod names;
mod notes;
mod plan;

use std::borrow::Cow;

use serde_json::Value;
use toolbond_contract::{bundle::flatten, dialect::to_2020_12};

use crate::Target;
use form::Form;
pub use names::{UsedNames, name_views};
use plan::{Plan, Plans};

/// A tool in the form that one target accepts.
///
/// The input schema of a view accepts what the full schema accepts, in the form of the view. [`View::restore`] maps
/// the arguments of a call back; the full schema then judges them.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct View {
    /// The tool as the target gets it.
    pub tool: Value,
    /// The name of the tool in its own list, which may differ from the name in `tool`.
    pub name: String,
    /// What the view leaves out or writes in another way, in a few words each.
    pub report: Vec<String>,
    plans: Plans,
}

impl View {
    /// The name of the tool for the target.
    #[must_use]
    pub fn view_name(&self) -> &str {
        self.tool.get("name").and_then(Value::as_str).unwrap_or_default()
    }

    /// Maps the arguments of a call of the view back to those of the tool. Arguments in another form stay as they are.
    #[must_use]
    pub fn restore(&self, arguments: Value) -> Value {
        self.plans.restore(arguments)
    }

    /// Says which part of `arguments` does not have the form of the view, so that it cannot be restored: a list of keys and
    /// values that is none, or that has a key twice. The full schema would complain about a form that the caller never saw.
    ///
    /// ```
    /// use serde_json::json;
    /// use toolbond_targets::{target, view_tools};
    ///
    /// let labels = json!({ "type": "object", "additionalProperties": { "type": "string" } });
    /// let tool = json!({ "name": "t", "inputSchema": { "type": "object", "properties": { "labels": labels } } });
    /// let view = view_tools(&[tool], target("gemini")?).remove(0);
    /// let twice = json!({ "labels": [{ "key": "a", "value": "1" }, { "key": "a", "value": "2" }] });
    /// assert_eq!(
    ///     view.unreadable(&twice).unwrap(),
    ///     "labels: expected a list of objects with `key` and `value`, each key once"
    /// );
    /// assert_eq!(view.restore(twice.clone()), twice);
    /// # Ok::<(), toolbond_targets::UnknownTarget>(())
    /// ```
    #[must_use]
    pub fn unreadable(&self, arguments: &Value) -> Option<String> {
        self.plans.unreadable(arguments)
    }

    /// Writes arguments of the tool in the form of the view, as a model would.
    #[must_use]
    pub fn express(&self, arguments: &Value) -> Value {
        self.plans.express(arguments)
    }

    /// Whether arguments have another form in the view, so that calls have to be [restored](Self::restore).
    #[must_use]
    pub fn changes_arguments(&self) -> bool {
        self.plans.root.as_ref().is_some_and(|plan| *plan != Plan::Keep)
    }

    /// Whether the view is the tool as it was.
    #[must_use]
    pub fn is_unchanged(&self) -> bool {
        self.report.is_empty()
    }
}

/// Returns the view of each of `tools` for `target`. The names of views are distinct.
///
/// ```
/// use serde_json::json;
/// use toolbond_targets::{target, view_tools};
///
/// let tool = json!({
///     "name": "tag",
///     "inputSchema": {
///         "type": "object",
///         "properties": { "labels": { "type": "object", "additionalProperties": { "type": "string" } } },
///         "required": ["labels"]
///     }
/// });
/// let views = view_tools(&[tool], target("gemini")?);
/// let call = json!({ "labels": [{ "key": "team", "value": "blue" }] });
/// assert_eq!(views[0].restore(call), json!({ "labels": { "team": "blue" } }));
/// # Ok::<(), toolbond_targets::UnknownTarget>(())
/// ```
#[must_use]
pub fn view_tools(tools: &[Value], target: &'static Target) -> Vec<View> {
    let form = Form::of(target);
    let names = names::rename(tools, target);
    tools.iter().zip(names).map(|(tool, name)| view(tool, name, &form)).collect()
}

fn view(tool: &Value, view_name: Option<String>, form: &Form) -> View {
    let own = tool.get("name").and_then(Value::as_str).unwrap_or_default().to_owned();
    let mut view =
        View { tool: tool.clone(), name: own, report: Vec::new(), plans: Plans::default() };
    if let Some(name) = view_name {
        view.report.push(format!("the name `{}`", view.name));
        view.tool["name"] = name.into();
    }
    if let Some(schema) = tool.get("inputSchema").filter(|schema| schema.is_object())
        && tool.as_object().is_some_and(|tool| !form.accepts(tool))
    {
        view.tool["inputSchema"] = flatten(schema).unwrap_or(Cow::Borrowed(schema)).into_owned();
        let mut changes = Vec::new();
        if view.tool.as_object().is_some_and(|tool| !form.accepts(tool)) {
            let flat = &view.tool["inputSchema"];
            let current = to_2020_12(flat).unwrap_or(Cow::Borrowed(flat));
            let (schema, plans, built) = build::build(&current, form);
            (changes, view.plans) = (built, plans);
            view.tool["inputSchema"] = schema;
        }
        changes.sort();
        changes.dedup();
        if changes.is_empty() {
            changes.push("references or keywords in another place".to_owned());
        }
        view.report.extend(changes);
    }
    shorten(&mut view, form);
    view
}

/// Shortens the description of the tool to what the target takes.
fn shorten(view: &mut View, form: &Form) {
    let Some(text) = view.tool.get("description").and_then(Value::as_str) else { return };
    if form.description == usize::MAX || text.chars().count() <= form.description {
        return;
    }
    let mut short: String = text.chars().take(form.description - 1).collect();
    short.push('…');
    view.tool["description"] = short.into();
    view.report.push("the end of the description".to_owned());
}
