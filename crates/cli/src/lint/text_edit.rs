//! Edits of the text of a tool that leave the rest of it byte for byte.

use std::ops::Range;

use jsonc_parser::ast;
use jsonc_parser::common::Ranged as _;
use serde_json::Value;
use toolpact_contract::Pointer;
use toolpact_targets::{Edit, Fix};

use crate::excerpt::{Positions, find, member};

/// A change of a text: what stands at `range` becomes `text`.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Replacement {
    pub(crate) range: Range<usize>,
    pub(crate) text: String,
    /// Line and column of the start and the end in the file.
    pub(crate) lines: Option<[(usize, usize); 2]>,
}

impl Replacement {
    /// The smallest change that makes `after` of `before`.
    pub(crate) fn between(before: &str, after: &str) -> Self {
        let same = |(a, b): &((usize, char), char)| a.1 == *b;
        let prefix: usize = before
            .char_indices()
            .zip(after.chars())
            .take_while(same)
            .map(|(_, c)| c.len_utf8())
            .sum();
        let (rest_before, rest_after) = (&before[prefix..], &after[prefix..]);
        let suffix: usize = rest_before
            .chars()
            .rev()
            .zip(rest_after.chars().rev())
            .take_while(|(a, b)| a == b)
            .map(|(a, _)| a.len_utf8())
            .sum();
        Self {
            range: prefix..before.len() - suffix,
            text: rest_after[..rest_after.len() - suffix].to_owned(),
            lines: None,
        }
    }

    /// The same change of the whole text, in which the part starts at `offset`.
    pub(crate) fn located(self, positions: &Positions<'_>, offset: usize) -> Self {
        let range = self.range.start + offset..self.range.end + offset;
        let lines = [positions.line_column_at(range.start), positions.line_column_at(range.end)];
        Self { range, lines: Some(lines), ..self }
    }
}

/// Applies `fix` to the text of a tool. Returns `None` if the text would not become the fixed tool, or stays as it is.
pub(crate) fn apply(tool: &str, fix: &Fix) -> Option<String> {
    let before: Value = serde_json::from_str(tool).ok()?;
    let mut expected = before.clone();
    fix.apply(&mut expected);
    let mut edits = Vec::new();
    find_edits(&before, &expected, &Pointer::root(), &mut edits);
    let mut text = tool.to_owned();
    // From the end, so that the indices of elements stay right.
    for edit in edits.iter().rev() {
        text = apply_edit(&text, edit)?;
    }
    let after: Value = serde_json::from_str(&text).ok()?;
    (after == expected && after != before).then_some(text)
}

/// Adds the smallest edits that make `after` of `before`: a fix may write a whole schema anew.
fn find_edits(before: &Value, after: &Value, at: &Pointer, edits: &mut Vec<Edit>) {
    match (before, after) {
        (before, after) if before == after => {}
        (Value::Object(before), Value::Object(after)) => {
            // Edits are applied from the last one on: added members come out in their order.
            for (name, value) in after.iter().rev().filter(|(name, _)| !before.contains_key(*name))
            {
                edits.push(Edit::Set { pointer: at.join(name), value: value.clone() });
            }
            for (name, value) in before {
                match after.get(name) {
                    Some(after) => find_edits(value, after, &at.join(name), edits),
                    None => edits.push(Edit::Remove { pointer: at.join(name) }),
                }
            }
        }
        (Value::Array(before), Value::Array(after)) if before.len() == after.len() => {
            for (index, (before, after)) in before.iter().zip(after).enumerate() {
                find_edits(before, after, &at.join(index), edits);
            }
        }
        (Value::Array(before), Value::Array(after)) if is_part(after, before) => {
            let mut kept = after.iter().peekable();
            for (index, value) in before.iter().enumerate() {
                if kept.next_if_eq(&value).is_none() {
                    edits.push(Edit::Remove { pointer: at.join(index) });
                }
            }
        }
        (_, after) => edits.push(Edit::Set { pointer: at.clone(), value: after.clone() }),
    }
}

/// Whether `part` is what is left of `whole` without some of its elements.
fn is_part(part: &[Value], whole: &[Value]) -> bool {
    let mut rest = part.iter().peekable();
    for value in whole {
        rest.next_if_eq(&value);
    }
    rest.peek().is_none()
}

fn apply_edit(text: &str, edit: &Edit) -> Option<String> {
    let parsed = jsonc_parser::parse_to_ast(
        text,
        &jsonc_parser::CollectOptions::default(),
        &jsonc_parser::ParseOptions::default(),
    );
    let root = parsed.ok()?.value?;
    let (range, new) = match edit {
        Edit::Set { pointer, value } => set(text, &root, pointer, value)?,
        Edit::Remove { pointer } => (remove(&root, pointer)?, String::new()),
        _ => return None,
    };
    Some(format!("{}{new}{}", &text[..range.start], &text[range.end..]))
}

/// The parent of the value at `pointer`, and its last token.
fn parent<'v, 'a>(
    root: &'v ast::Value<'a>,
    pointer: &Pointer,
) -> Option<(&'v ast::Value<'a>, String)> {
    let last = pointer.tokens().last()?;
    let (parent, _) = pointer.as_str().rsplit_once('/')?;
    Some((find(root, &Pointer::from(parent))?.1, last))
}

fn set(
    text: &str,
    root: &ast::Value<'_>,
    pointer: &Pointer,
    value: &Value,
) -> Option<(Range<usize>, String)> {
    if let Some((_, old)) = find(root, pointer) {
        let layout = Layout::at(text, old.start());
        return Some((old.start()..old.end(), layout.render(value)));
    }
    let (ast::Value::Object(object), name) = parent(root, pointer)? else { return None };
    let name = Value::from(name);
    let Some(last) = object.properties.last() else {
        let layout = Layout::at(text, object.start());
        let colon = layout.colon();
        let new = format!("{{{name}{colon}{}}}", layout.render(value));
        return Some((object.start()..object.end(), new));
    };
    // The new member is written as the last one is.
    let before = &text[..last.start()];
    let blank = before.len() - before.trim_end().len();
    let gap = &before[before.len() - blank..];
    let gap = if object.properties.len() == 1 && !gap.contains('\n') { " " } else { gap };
    let between = &text[last.name.end()..last.value.start()];
    let layout = Layout::at(text, last.start());
    let gap = if layout.is_spaced { gap } else { gap.trim_matches(' ') };
    let new = format!(",{gap}{name}{between}{}", layout.render(value));
    Some((last.end()..last.end(), new))
}

fn remove(root: &ast::Value<'_>, pointer: &Pointer) -> Option<Range<usize>> {
    let (parent, last) = parent(root, pointer)?;
    let (siblings, index): (Vec<Range<usize>>, usize) = match parent {
        ast::Value::Object(object) => {
            let found = member(object, &last)?;
            let siblings: Vec<_> =
                object.properties.iter().map(|one| one.start()..one.end()).collect();
            let index = siblings.iter().position(|one| one.start == found.start())?;
            (siblings, index)
        }
        ast::Value::Array(array) => {
            let index = last.parse().ok()?;
            (array.elements.iter().map(|one| one.start()..one.end()).collect(), index)
        }
        _ => return None,
    };
    let this = siblings.get(index)?;
    Some(
        match (
            index.checked_sub(1).and_then(|before| siblings.get(before)),
            siblings.get(index + 1),
        ) {
            (_, Some(next)) => this.start..next.start,
            (Some(previous), None) => previous.end..this.end,
            (None, None) => parent.start() + 1..parent.end() - 1,
        },
    )
}

/// How the text around a place is laid out.
struct Layout {
    /// The white space before the line of the place.
    indent: String,
    /// One more level, if values go over several lines.
    step: Option<String>,
    /// Whether there is a space after a colon.
    is_spaced: bool,
}

impl Layout {
    fn at(text: &str, offset: usize) -> Self {
        let line = text[..offset].rfind('\n').map_or("", |end| &text[end + 1..]);
        let blank = |line: &str| line.len() - line.trim_start_matches([' ', '\t']).len();
        let indents = text
            .lines()
            .skip(1)
            .filter(|line| !line.trim().is_empty())
            .map(|line| &line[..blank(line)]);
        // The text of a tool starts at its brace, so the last line has the indent of the tool.
        let outer = indents.clone().last().unwrap_or_default();
        let step =
            indents.filter_map(|indent| indent.strip_prefix(outer)).filter(|step| !step.is_empty());
        Self {
            indent: line[..blank(line)].to_owned(),
            step: step.min_by_key(|step| step.len()).map(str::to_owned),
            is_spaced: text.contains("\": ") || !text.contains("\":"),
        }
    }

    const fn colon(&self) -> &'static str {
        if self.is_spaced { ": " } else { ":" }
    }

    fn render(&self, value: &Value) -> String {
        let inner = |indent: String| Self { indent, step: self.step.clone(), ..*self };
        let comma = if self.is_spaced { ", " } else { "," };
        match (value, &self.step) {
            (Value::Object(members), Some(step)) if !members.is_empty() => {
                let layout = inner(format!("{}{step}", self.indent));
                let lines: Vec<_> = members
                    .iter()
                    .map(|(name, value)| {
                        let name = Value::from(name.as_str());
                        format!("{}{name}{}{}", layout.indent, self.colon(), layout.render(value))
                    })
                    .collect();
                format!("{{\n{}\n{}}}", lines.join(",\n"), self.indent)
            }
            (Value::Array(items), Some(step))
                if items.iter().any(|item| item.is_object() || item.is_array()) =>
            {
                let layout = inner(format!("{}{step}", self.indent));
                let lines: Vec<_> = items
                    .iter()
                    .map(|item| format!("{}{}", layout.indent, layout.render(item)))
                    .collect();
                format!("[\n{}\n{}]", lines.join(",\n"), self.indent)
            }
            (Value::Object(members), _) if !members.is_empty() => {
                let members: Vec<_> = members
                    .iter()
                    .map(|(name, value)| {
                        let name = Value::from(name.as_str());
                        format!("{name}{}{}", self.colon(), self.render(value))
                    })
                    .collect();
                let (open, close) = if self.is_spaced { ("{ ", " }") } else { ("{", "}") };
                format!("{open}{}{close}", members.join(comma))
            }
            (Value::Array(items), _) if !items.is_empty() => {
                let items: Vec<_> = items.iter().map(|item| self.render(item)).collect();
                format!("[{}]", items.join(comma))
            }
            (value, _) => value.to_string(),
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use toolpact_targets::{Edit, Fix};

    use super::{Replacement, apply};

    fn set(pointer: &str, value: Value) -> Fix {
        Fix::safe("", vec![Edit::Set { pointer: pointer.into(), value }])
    }

    fn remove(pointer: &str) -> Fix {
        Fix::safe("", vec![Edit::Remove { pointer: pointer.into() }])
    }

    #[test]
    fn the_rest_stays_byte_for_byte() {
        let text = "{\n      \"a\": [ 1,2 ],\n      \"b\": {  \"c\" :1.50 }\n    }";
        for (fix, expected) in [
            (set("/b/c", json!(2)), "{\n      \"a\": [ 1,2 ],\n      \"b\": {  \"c\" :2 }\n    }"),
            (
                set("/b/d", json!([true])),
                "{\n      \"a\": [ 1,2 ],\n      \"b\": {  \"c\" :1.50, \"d\" :[true] }\n    }",
            ),
            (
                set("/d", json!({ "e": 1 })),
                "{\n      \"a\": [ 1,2 ],\n      \"b\": {  \"c\" :1.50 },\n      \"d\": {\n        \"e\": 1\n      }\n    }",
            ),
            (remove("/a"), "{\n      \"b\": {  \"c\" :1.50 }\n    }"),
            (remove("/b"), "{\n      \"a\": [ 1,2 ]\n    }"),
            (remove("/b/c"), "{\n      \"a\": [ 1,2 ],\n      \"b\": {}\n    }"),
            (remove("/a/0"), "{\n      \"a\": [ 2 ],\n      \"b\": {  \"c\" :1.50 }\n    }"),
            (remove("/a/1"), "{\n      \"a\": [ 1 ],\n      \"b\": {  \"c\" :1.50 }\n    }"),
        ] {
            assert_eq!(apply(text, &fix).as_deref(), Some(expected), "{fix:?}");
        }
    }

    #[test]
    fn a_schema_that_is_written_anew_changes_where_it_differs() {
        let text =
            "{ \"inputSchema\": {\n  \"required\": [\"a\",  \"a\"],\n  \"x\":1e2, \"n\": null } }";
        let schema = json!({ "type": "object", "title": "t", "required": ["a"], "x": 1e2 });
        assert_eq!(
            apply(text, &set("/inputSchema", schema)).unwrap(),
            "{ \"inputSchema\": {\n  \"required\": [\"a\"],\n  \"x\":1e2,\n  \"type\":\"object\",\n  \"title\":\"t\" } }"
        );
    }

    #[test]
    fn compact_text_stays_compact() {
        let text = r#"{"a":{"b":1},"c":{}}"#;
        assert_eq!(
            apply(text, &set("/a/d", json!({ "e": [1, 2] }))).unwrap(),
            r#"{"a":{"b":1,"d":{"e":[1,2]}},"c":{}}"#
        );
        assert_eq!(
            apply(text, &set("/c/d", json!("x"))).unwrap(),
            r#"{"a":{"b":1},"c":{"d":"x"}}"#
        );
    }

    #[test]
    fn what_is_not_there_is_not_changed() {
        let text = r#"{"a": 1}"#;
        assert_eq!(apply(text, &remove("/b")), None);
        assert_eq!(apply(text, &set("/b/c", json!(1))), None);
        assert_eq!(apply(text, &set("/a", json!(1))), None);
    }

    fn json() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            "[a-c~/\"\\\\\n ]{0,3}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 24, 4, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
                prop::collection::vec(("[a-c~/]{1,2}", inner), 0..4)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        /// Whatever a fix writes instead of what, the text becomes that, and stays within its layout.
        #[test]
        fn any_value_becomes_any_other(before in json(), after in json(), is_pretty in any::<bool>()) {
            let tool = json!({ "name": "a", "x": before, "y": [1, { "z": 2 }] });
            let text = if is_pretty { format!("{tool:#}") } else { tool.to_string() };
            let fixed = apply(&text, &set("/x", after.clone()));
            prop_assert_eq!(fixed.is_some(), before != after);
            if let Some(fixed) = fixed {
                let value: Value = serde_json::from_str(&fixed).unwrap();
                prop_assert_eq!(&value["x"], &after);
                let last = if is_pretty { "\n  \"y\": [\n    1,\n    {\n      \"z\": 2\n    }\n  ]\n}" } else { ",\"y\":[1,{\"z\":2}]}" };
                prop_assert!(fixed.ends_with(last), "{}", fixed);
            }
        }
    }

    #[test]
    fn the_smallest_change_is_found() {
        let change = Replacement::between("äbc", "äxc");
        assert_eq!((change.range, change.text.as_str()), (2..3, "x"));
        let change = Replacement::between("aa", "aaa");
        assert_eq!((change.range, change.text.as_str()), (2..2, "a"));
    }
}
