//! `duplicate-name`.

declare_rule! {
    /// Two tools of a list have the same name.
    ///
    /// ## What it does
    ///
    /// Keeps the first usable tool of each name and drops the later ones. Names are case-sensitive.
    ///
    /// ## Why is this bad
    ///
    /// A call selects a tool by name, so it can never reach the second one. Model APIs refuse a request with two
    /// tools of the same name, and with it all other tools.
    ///
    /// ## Example
    ///
    /// ```json
    /// [
    ///   { "name": "search", "inputSchema": { "type": "object" } },
    ///   { "name": "search", "inputSchema": { "type": "object", "properties": { "q": {} } } }
    /// ]
    /// ```
    ///
    /// ## Use instead
    ///
    /// Rename one of them: `search` and `search_text`.
    pub DUPLICATE_NAME = "duplicate-name", Error
}
