//! `tool-size`.

use toolbond_contract::declare_rule;

use super::{
    Found, Tool,
    size::{tokens, tool_bytes},
};

declare_rule! {
    /// A tool has more than 6,000 bytes.
    ///
    /// ## What it does
    ///
    /// Counts the bytes of a tool as JSON without spaces, `icons` and `_meta` apart, and estimates the tokens: four bytes a
    /// token, rounded up. The limit of 6,000 bytes is about 1,500 tokens. 97 % of published tools are smaller.
    ///
    /// ## Why is this bad
    ///
    /// Hosts send each tool with each request to the model. A large tool costs money and time, and takes room from the
    /// conversation and from other tools.
    ///
    /// ## Example
    ///
    /// A tool whose description is a manual.
    ///
    /// ## Use instead
    ///
    /// Say in a few sentences what the tool does and when to use it. Describe each parameter beside it. Move the manual
    /// to a resource. Split a tool that does many things.
    TOOL_SIZE = "tool-size", Info
}

/// The most bytes of a tool: 3 % of the 6,893 tools of 226 published servers have more.
const MOST: usize = 6_000;

pub(super) fn check(tool: &Tool<'_>, found: &mut Found<'_>) {
    let size = tool_bytes(tool.value);
    if size > MOST {
        let message =
            format!("expected at most {MOST} bytes, found {size} (about {} tokens)", tokens(size));
        found.tool(&[], message);
    }
}
