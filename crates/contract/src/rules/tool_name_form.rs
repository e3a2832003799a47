//! `tool-name-form`.

use toolbond_schema::Pointer;

use crate::{Finding, json_type::shorten};

declare_rule! {
    /// A tool name has characters other than `A-Z a-z 0-9 _ . -`, or more than 128.
    ///
    /// ## What it does
    ///
    /// Warns about other names. The tool stays: the protocol says SHOULD, and some clients accept it.
    ///
    /// ## Why is this bad
    ///
    /// Model APIs accept only these characters (most not even the dot), and many hosts drop
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
    pub TOOL_NAME_FORM = "tool-name-form", Warning
}

/// The most characters a name should have.
pub(crate) const LONGEST: usize = 128;

/// Returns a finding if `name` does not have the recommended form.
pub(crate) fn check(name: &str) -> Option<Finding> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '.' | '-');
    let length = name.chars().count();
    let message = if let Some(c) = name.chars().find(|c| !allowed(*c)) {
        format!(
            "expected only the characters `A-Z a-z 0-9 _ . -`, found {c:?} in \"{}\"",
            shorten(name.escape_debug())
        )
    } else if length > LONGEST {
        format!("expected a name of at most {LONGEST} characters, found {length}")
    } else {
        return None;
    };
    Some(TOOL_NAME_FORM.finding(message).at(Pointer::root().join("name")))
}
