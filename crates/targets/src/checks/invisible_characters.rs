//! `invisible-characters`.

use serde_json::Value;
use toolbond_contract::{Role, declare_rule};

use super::{Found, Tool, invisible};
use crate::{
    Edit, Fix, LintFinding,
    node::{Node, walk},
};

declare_rule! {
    /// A text contains invisible characters.
    ///
    /// ## What it does
    ///
    /// Finds characters that people do not see and models read, in the name, the titles and descriptions of a tool, and in
    /// the property names, titles, descriptions and enum values of its schemas: tag characters (U+E0000 to U+E007F),
    /// zero width characters, controls of the direction of text, other control characters, and runs of variation
    /// selectors. Emoji sequences, joiners of scripts that need them, line breaks and tabs are fine. The fix removes the
    /// characters from descriptions and titles.
    ///
    /// ## Why is this bad
    ///
    /// Attackers hide instructions to the model in them. Where they got in by accident, names and values that look the
    /// same are different.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "name": "add", "description": "Adds two numbers.\u200b\u202e", "inputSchema": { "type": "object" } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "name": "add", "description": "Adds two numbers.", "inputSchema": { "type": "object" } }
    /// ```
    INVISIBLE_CHARACTERS = "invisible-characters", Warning
}

/// Checks the members of a tool.
pub(super) fn check(tool: &Tool<'_>, found: &mut Found<'_>) {
    let mut text = |place: &[&str], value: Option<&Value>, is_fixable| {
        if let Some(Value::String(text)) = value
            && let Some(message) = message(text)
            && let Some(finding) = found.tool(place, message)
            && is_fixable
        {
            remove(finding, text);
        }
    };
    text(&["name"], tool.value.get("name"), false);
    text(&["title"], tool.value.get("title"), true);
    text(&["description"], tool.value.get("description"), true);
    let annotations = tool.value.get("annotations");
    text(&["annotations", "title"], annotations.and_then(|all| all.get("title")), true);
    for role in [Role::Input, Role::Output] {
        if let Some(schema) = tool.value.get(role.member()) {
            found.enter(role);
            walk(schema, &mut |node| check_schema(node, found));
        }
    }
}

fn check_schema(node: &Node<'_>, found: &mut Found<'_>) {
    for keyword in ["title", "description"] {
        if let Some(Value::String(text)) = node.get(keyword)
            && let Some(message) = message(text)
            && let Some((_, finding)) = found.node(node, &[keyword], message)
        {
            remove(finding, text);
        }
    }
    for name in
        node.get("properties").and_then(Value::as_object).into_iter().flat_map(|all| all.keys())
    {
        if let Some(message) = message(name) {
            found.node(node, &["properties", name], message);
        }
    }
    let values = node.get("enum").and_then(Value::as_array).into_iter().flatten();
    for (index, value) in values.enumerate() {
        if let Some(message) = value.as_str().and_then(message) {
            found.node(node, &["enum", &index.to_string()], message);
        }
    }
}

/// What is wrong with `text`.
fn message(text: &str) -> Option<String> {
    if text.is_ascii() && !text.bytes().any(|byte| byte.is_ascii_control()) {
        return None;
    }
    let mut characters = invisible::find(text);
    let (at, first) = characters.next()?;
    let more = characters.count();
    let before = text[..at].chars().count();
    let name = invisible::kind(first);
    let first = u32::from(first);
    Some(match more {
        0 => format!("expected visible characters, found U+{first:04X} ({name}) at {before}"),
        _ => format!(
            "expected visible characters, found U+{first:04X} ({name}) at {before}, and {more} more"
        ),
    })
}

/// Adds a fix that removes the characters.
fn remove(finding: &mut LintFinding, text: &str) {
    let places: Vec<_> = invisible::find(text).map(|(at, _)| at).collect();
    let kept = text.char_indices().filter(|(at, _)| places.binary_search(at).is_err());
    let value = kept.map(|(_, c)| c).collect::<String>().into();
    let edits = vec![Edit::Set { pointer: finding.finding.pointer.clone(), value }];
    finding.fix = Some(Fix::safe("remove the invisible characters", edits));
}
