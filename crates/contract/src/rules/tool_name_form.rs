//! `tool-name-form`.

use toolpact_schema::Pointer;

use crate::{Finding, json_type::shorten};

declare! {
    /// A tool name has 1 to 128 characters out of `A-Z a-z 0-9 _ . -`.
    ///
    /// ## What it does
    ///
    /// Warns about other names. The tool stays: the protocol says SHOULD, and a client may take it.
    ///
    /// ## Why is this bad
    ///
    /// Model APIs accept no more than these characters (most not even the dot), and many hosts drop
    /// the tool or fail the request.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "name": "Search the web", "inputSchema": { "type": "object" } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "name": "search_web", "title": "Search the web", "inputSchema": { "type": "object" } }
    /// ```
    TOOL_NAME_FORM = "tool-name-form", Warning
}

/// The most characters a name should have.
pub(crate) const LONGEST: usize = 128;

/// The finding that `name` has another form, if it has.
pub(crate) fn check(name: &str) -> Option<Finding> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let length = name.chars().count();
    let message = if let Some(c) = name.chars().find(|c| !allowed(*c)) {
        format!(
            "expected a name out of `A-Z a-z 0-9 _ . -`, found {c:?} in \"{}\"",
            shorten(name.escape_debug())
        )
    } else if length > LONGEST {
        format!("expected a name of at most {LONGEST} characters, found {length}")
    } else {
        return None;
    };
    Some(TOOL_NAME_FORM.finding(message).at(Pointer::root().join("name")))
}
