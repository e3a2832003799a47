//! `exclusive-bound`.

use serde_json::Value;
use toolbond_schema::Dialect;

use super::idiom::{At, Found, Idiom, Node};

declare_rule! {
    /// `exclusiveMinimum` or `exclusiveMaximum` is a boolean.
    ///
    /// ## What it does
    ///
    /// Finds the booleans of draft-04 in a schema of a later dialect. The policy `repair` moves the
    /// bound: `"minimum": 0, "exclusiveMinimum": true` becomes `"exclusiveMinimum": 0`. It removes
    /// `false`, and `true` without a bound beside it, which have no effect.
    ///
    /// ## Why is this bad
    ///
    /// The metaschema does not allow it, and model APIs refuse the whole request.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "integer", "minimum": 0, "exclusiveMinimum": true }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "integer", "exclusiveMinimum": 0 }
    /// ```
    EXCLUSIVE_BOUND = "exclusive-bound", Error
}

pub(super) const IDIOM: Idiom = Idiom { rule: &EXCLUSIVE_BOUND, find, fix, at: At::Anywhere };

const BOUNDS: [(&str, &str); 2] =
    [("minimum", "exclusiveMinimum"), ("maximum", "exclusiveMaximum")];

fn find(node: &Node, dialect: Dialect, found: Found<'_>) {
    if dialect == Dialect::Draft4 {
        return;
    }
    for (_, exclusive) in BOUNDS {
        if let Some(Value::Bool(value)) = node.get(exclusive) {
            found(&[exclusive], format!("expected a number, found {value} (draft-04)"));
        }
    }
}

fn fix(node: &mut Node, _: Dialect) {
    for (bound, exclusive) in BOUNDS {
        match node.get(exclusive) {
            Some(Value::Bool(true)) => match node.shift_remove(bound) {
                Some(limit) => _ = node.insert(exclusive.to_owned(), limit),
                None => _ = node.shift_remove(exclusive),
            },
            Some(Value::Bool(false)) => _ = node.shift_remove(exclusive),
            _ => {}
        }
    }
}
