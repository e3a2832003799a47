//! `null-keyword`.

use serde_json::Value;
use toolbond_schema::Dialect;

use super::idiom::{At, Found, Idiom, Node};
use crate::keyword::refuses_null;

declare_rule! {
    /// An unused keyword is `null` instead of being omitted.
    ///
    /// ## What it does
    ///
    /// Finds keywords with the value `null`, such as `"required": null`. The policy `repair` removes
    /// them. `default` and `const` may be `null`, and keywords that no dialect knows stay as they
    /// are.
    ///
    /// ## Why is this bad
    ///
    /// Serialisers write absent fields as `null`. The metaschema does not allow it, and one
    /// `"required": null` makes some clients lose every tool of the server.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "type": "object", "properties": {}, "required": null }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "type": "object", "properties": {} }
    /// ```
    NULL_KEYWORD = "null-keyword", Error
}

pub(super) const IDIOM: Idiom = Idiom { rule: &NULL_KEYWORD, find, fix, at: At::Anywhere };

fn find(node: &Node, dialect: Dialect, found: Found<'_>) {
    for (keyword, value) in node {
        if value.is_null() && refuses_null(keyword, dialect) {
            found(&[keyword], "expected the keyword to be omitted, found null".to_owned());
        }
    }
}

fn fix(node: &mut Node, dialect: Dialect) {
    node.retain(|keyword, value: &mut Value| !(value.is_null() && refuses_null(keyword, dialect)));
}
