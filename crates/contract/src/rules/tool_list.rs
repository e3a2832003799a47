//! `tool-list`.

declare_rule! {
    /// The document is not a tool list.
    ///
    /// ## What it does
    ///
    /// Requires a `tools/list` result (`{"tools": […]}`), a JSON-RPC response that holds one, a bare array of
    /// tools, or one tool. For anything else this is the only finding, at the place where the list should be.
    ///
    /// ## Why is this bad
    ///
    /// There is no tool that a client could call.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "tools": { "search": { "inputSchema": { "type": "object" } } } }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "tools": [{ "name": "search", "inputSchema": { "type": "object" } }] }
    /// ```
    pub TOOL_LIST = "tool-list", Error
}
