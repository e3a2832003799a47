//! `tool-entry`.

declare_rule! {
    /// An entry of a tool list is not a JSON object.
    ///
    /// ## What it does
    ///
    /// Drops entries that are strings, numbers, booleans, `null` or arrays. The other entries stay.
    ///
    /// ## Why is this bad
    ///
    /// One such entry makes clients that parse the list as a whole lose every tool in it.
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
    pub TOOL_ENTRY = "tool-entry", Error
}
