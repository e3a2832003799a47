//! `list-size`.

use toolbond_contract::declare_rule;

use super::{
    Tool,
    size::{tokens, tool_bytes},
};
use crate::LintFinding;

declare_rule! {
    /// The tools of a list have more than 200,000 bytes together.
    ///
    /// ## What it does
    ///
    /// Counts the bytes of all tools as JSON without spaces, `icons` and `_meta` apart, and estimates the tokens: four
    /// bytes a token, rounded up. The limit of 200,000 bytes is about 50,000 tokens. 95 % of published servers stay
    /// below it.
    ///
    /// ## Why is this bad
    ///
    /// Hosts send all tools with each request to the model. They cost money and time, and models choose worse among many.
    ///
    /// ## Example
    ///
    /// A server that offers each operation of a large API as a tool.
    ///
    /// ## Use instead
    ///
    /// Offer the tools that a task needs, let users choose groups of tools, or split the server.
    LIST_SIZE = "list-size", Warning
}

/// The most bytes of all tools: fewer than 5 % of 226 published servers have more.
const MOST: usize = 200_000;

pub(super) fn check(tools: &[Tool<'_>]) -> Vec<LintFinding> {
    let size: usize = tools.iter().map(|tool| tool_bytes(tool.value)).sum();
    if size <= MOST {
        return Vec::new();
    }
    let message = format!(
        "expected at most {MOST} bytes for all tools, found {size} (about {} tokens) in {} tools",
        tokens(size),
        tools.len()
    );
    vec![LIST_SIZE.finding(message).into()]
}
