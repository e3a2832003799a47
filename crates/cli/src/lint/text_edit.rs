//! Edits of the text of a tool that leave the rest of it byte for byte.

use std::ops::Range;

use serde_json::Value;
use toolbond_targets::Fix;

use crate::excerpt::Positions;
use crate::patch::patch;

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
    if before == expected {
        return None;
    }
    let text = patch(tool, &before, &expected)?;
    let after: Value = serde_json::from_str(&text).ok()?;
    (after == expected).then_some(text)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use toolbond_targets::{Edit, Fix};

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
