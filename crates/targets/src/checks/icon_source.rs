//! `icon-source`.

use serde_json::Value;
use toolbond_contract::declare_rule;

use super::{Found, Tool, show::quote};

declare_rule! {
    /// An icon is neither an `https:` nor a `data:` URI.
    ///
    /// ## What it does
    ///
    /// Checks the `src` of each icon of a tool.
    ///
    /// ## Why is this bad
    ///
    /// By the protocol, clients must reject icons with other schemes, such as `javascript:` and `file:`, and have to
    /// make sure that an icon is an HTTPS or `data:` URI.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "name": "search", "description": "Searches.", "inputSchema": { "type": "object" },
    ///   "icons": [{ "src": "http://example.com/search.png" }]
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "name": "search", "description": "Searches.", "inputSchema": { "type": "object" },
    ///   "icons": [{ "src": "https://example.com/search.png" }]
    /// }
    /// ```
    ICON_SOURCE = "icon-source", Warning
}

pub(super) fn check(tool: &Tool<'_>, found: &mut Found<'_>) {
    let icons = tool.value.get("icons").and_then(Value::as_array).into_iter().flatten();
    for (index, icon) in icons.enumerate() {
        let message = match icon.get("src") {
            Some(Value::String(source)) if is_allowed(source) => continue,
            Some(Value::String(source)) => {
                format!("expected an `https:` or `data:` URI, found {}", quote(source))
            }
            Some(_) => "expected a URI (a string)".to_owned(),
            None => "missing required member `src`".to_owned(),
        };
        let index = index.to_string();
        match icon.get("src") {
            Some(_) => found.tool(&["icons", &index, "src"], message),
            None => found.tool(&["icons", &index], message),
        };
    }
}

fn is_allowed(source: &str) -> bool {
    let scheme = source.split_once(':').map_or("", |(scheme, _)| scheme);
    scheme.eq_ignore_ascii_case("https") || scheme.eq_ignore_ascii_case("data")
}
