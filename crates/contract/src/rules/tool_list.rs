//! `tool-list`.

declare! {
    /// What is given as a tool list is one.
    ///
    /// ## What it does
    ///
    /// Asks for a `tools/list` result (`{"tools": […]}`), a JSON-RPC response that holds one, a bare array of
    /// tools, or one tool. Anything else gets this one finding, at the place where the list should be.
    ///
    /// ## Why is this bad
    ///
    /// There is nothing to judge, and nothing a client could call.
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
    TOOL_LIST = "tool-list", Error
}
