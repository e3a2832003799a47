//! `list-order`.

use serde_json::Value;
use toolbond_contract::{Pointer, declare_rule};

use super::show::quote;
use crate::LintFinding;

declare_rule! {
    /// A server lists its tools in another order each time.
    ///
    /// ## What it does
    ///
    /// Compares two answers to `tools/list` that have the same tools.
    ///
    /// ## Why is this bad
    ///
    /// Tools stand at the start of a request to the model. In another order, the prompt cache of the model misses, and
    /// each request costs as much as the first. Revision 2026-07-28 says that servers SHOULD keep the order.
    ///
    /// ## Example
    ///
    /// ```json
    /// [
    ///   { "tools": [{ "name": "open" }, { "name": "close" }] },
    ///   { "tools": [{ "name": "close" }, { "name": "open" }] }
    /// ]
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// [
    ///   { "tools": [{ "name": "close" }, { "name": "open" }] },
    ///   { "tools": [{ "name": "close" }, { "name": "open" }] }
    /// ]
    /// ```
    LIST_ORDER = "list-order", Warning
}

/// Compares two tool lists of one server, each a document as [`lint_tools`](crate::lint_tools) takes it. Returns a
/// finding if they have the same tools in another order.
///
/// ```
/// use serde_json::json;
/// use toolbond_targets::compare_order;
///
/// let first = json!({ "tools": [{ "name": "a" }, { "name": "b" }] });
/// let second = json!({ "tools": [{ "name": "b" }, { "name": "a" }] });
/// assert!(compare_order(&first, &first).is_none());
/// assert_eq!(compare_order(&first, &second).unwrap().finding.rule, "list-order");
/// ```
#[must_use]
pub fn compare_order(first: &Value, second: &Value) -> Option<LintFinding> {
    let (at, mut first) = names(first)?;
    let (_, mut second) = names(second)?;
    let index = first.iter().zip(&second).position(|(one, other)| one != other)?;
    let (one, other) = (first[index], second[index]);
    first.sort_unstable();
    second.sort_unstable();
    if first != second {
        return None;
    }
    let name = |name: Option<&str>| name.map_or_else(|| "a tool without a name".to_owned(), quote);
    let message = format!(
        "expected the same order of tools in each list, found {} and then {} at {index}",
        name(one),
        name(other)
    );
    Some(LIST_ORDER.finding(message).at(at.join(index)).into())
}

/// The place of the tools in `document`, and their names.
fn names(document: &Value) -> Option<(Pointer, Vec<Option<&str>>)> {
    ["/result/tools", "/tools", ""].into_iter().find_map(|at| {
        let tools = document.pointer(at)?.as_array()?;
        let names = tools.iter().map(|tool| tool.get("name").and_then(Value::as_str)).collect();
        Some((Pointer::from(at), names))
    })
}
