//! Tools in the form that a target accepts, and calls of them as calls of the tools themselves.

use std::sync::Arc;

use serde_json::Value;
use toolpact_targets::{Target, View, view_tools};

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
pub(crate) struct Unrestored {
    /// Why, for the model.
    pub(crate) reason: String,
}

const LARGE_INTEGER: &str = "they have an integer of more than 64 bits where the tool takes another form; send it as a string";

/// `arguments` of a call of `view` as the tool takes them, with the same text wherever the value is the same; `None`
/// where they stay as they are. Arguments that cannot be parsed stay, too: the check refuses them.
pub(crate) fn restore_arguments(
    view: &View,
    arguments: &str,
) -> Result<Option<String>, Unrestored> {
    let Ok(value) = strict::parse(arguments) else { return Ok(None) };
    if let Some(reason) = view.unreadable(&value) {
        return Err(Unrestored { reason });
    }
    let restored = view.restore(value.clone());
    let text = patch_value(arguments, &value, &restored);
    if text == arguments.trim() {
        return Ok(None);
    }
    if large_integers(arguments) != large_integers(&text) {
        return Err(Unrestored { reason: LARGE_INTEGER.to_owned() });
    }
    Ok(Some(text))
}

/// The integers in `text`, which is JSON, that a `Value` does not hold exactly, sorted.
fn large_integers(text: &str) -> Vec<&str> {
    let mut found = Vec::new();
    let mut rest = text;
    while let Some(start) = rest.find(|c: char| c == '"' || c == '-' || c.is_ascii_digit()) {
        rest = &rest[start..];
        let end = if rest.starts_with('"') { string_end(rest) } else { number_end(rest) };
        let (token, after) = rest.split_at(end);
        let is_integer = token.bytes().all(|byte| byte == b'-' || byte.is_ascii_digit());
        if is_integer && token.parse::<i64>().is_err() && token.parse::<u64>().is_err() {
            found.push(token);
        }
        rest = after;
    }
    found.sort_unstable();
    found
}

/// Where the number that `text` starts with ends.
fn number_end(text: &str) -> usize {
    text.find(|c: char| !c.is_ascii_digit() && !"+-.eE".contains(c)).unwrap_or(text.len())
}

/// Where the string that `text` starts with ends.
fn string_end(text: &str) -> usize {
    let mut is_escaped = false;
    let is_end = |(_, byte): &(usize, u8)| {
        let is_end = *byte == b'"' && !is_escaped;
        is_escaped = *byte == b'\\' && !is_escaped;
        is_end
    };
    text.bytes().enumerate().skip(1).find(is_end).map_or(text.len(), |(at, _)| at + 1)
}

#[cfg(test)]
mod tests {
    use super::large_integers;

    #[test]
    fn integers_of_more_than_64_bits_are_found() {
        let text = r#"{"18446744073709551616":[18446744073709551615,-9223372036854775808,1e30,0.12345678901234567890123],
            "a\"99999999999999999999":-9223372036854775809,"b":18446744073709551616}"#;
        assert_eq!(large_integers(text), ["-9223372036854775809", "18446744073709551616"]);
    }
}
