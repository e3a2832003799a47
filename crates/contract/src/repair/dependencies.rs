//! `dependencies`.

use serde_json::{Map, Value};
use toolbond_schema::Dialect;

use super::idiom::{At, Found, Idiom, Node};

declare_rule! {
    /// A schema of 2019-09 or later uses `dependencies`.
    ///
    /// ## What it does
    ///
    /// Finds the keyword of older drafts. The policy `repair` splits it: lists of names become
    /// `dependentRequired`, schemas `dependentSchemas`.
    ///
    /// ## Why is this bad
    ///
    /// These dialects no longer have this keyword. Some validators still check it and others do not,
    /// so whether a call works depends on the client.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "dependencies": { "page": ["cursor"] } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "dependentRequired": { "page": ["cursor"] } }
    /// ```
    DEPENDENCIES = "dependencies", Warning
}

pub(super) const IDIOM: Idiom = Idiom { rule: &DEPENDENCIES, find, fix, at: At::Anywhere };

fn find(node: &Node, dialect: Dialect, found: Found<'_>) {
    if dialect >= Dialect::Draft201909
        && let Some(Value::Object(_)) = node.get("dependencies")
    {
        found(
            &["dependencies"],
            format!(
                "expected `dependentRequired` or `dependentSchemas`, found `dependencies`, \
                 which is no keyword of {dialect}"
            ),
        );
    }
}

fn fix(node: &mut Node, _: Dialect) {
    let Some(Value::Object(dependencies)) = node.get("dependencies").cloned() else { return };
    let (mut required, mut schemas) =
        (part(node, "dependentRequired"), part(node, "dependentSchemas"));
    for (name, dependency) in dependencies {
        let part = if dependency.is_array() { &mut required } else { &mut schemas };
        // Where both say something about one name, which of them counts is for the author to say.
        if part.insert(name, dependency).is_some() {
            return;
        }
    }
    node.shift_remove("dependencies");
    for (keyword, part) in [("dependentRequired", required), ("dependentSchemas", schemas)] {
        if !part.is_empty() {
            node.insert(keyword.to_owned(), part.into());
        }
    }
}

fn part(node: &Node, keyword: &str) -> Map<String, Value> {
    node.get(keyword).and_then(Value::as_object).cloned().unwrap_or_default()
}
