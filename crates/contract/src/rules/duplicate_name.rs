//! `duplicate-name`.

declare! {
    /// No two tools of a list have the same name.
    ///
    /// ## What it does
    ///
    /// Keeps the first usable tool of a name and drops the later ones. Names are compared exactly, with case.
    ///
    /// ## Why is this bad
    ///
    /// A call names its tool, so the second one can never be reached; model APIs refuse a request with two
    /// tools of one name, and with it every other tool.
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
    DUPLICATE_NAME = "duplicate-name", Error
}
