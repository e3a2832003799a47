//! `tool-entry`.

declare! {
    /// Each entry of a tool list is a JSON object.
    ///
    /// ## What it does
    ///
    /// Drops entries that are strings, numbers, booleans, `null` or arrays, each alone.
    ///
    /// ## Why is this bad
    ///
    /// Clients that parse the list as a whole lose every tool in it over one such entry.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "tools": ["search", { "name": "fetch", "inputSchema": { "type": "object" } }] }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "tools": [{ "name": "fetch", "inputSchema": { "type": "object" } }] }
    /// ```
    TOOL_ENTRY = "tool-entry", Error
}
