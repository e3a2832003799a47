//! `input-missing`.

declare! {
    /// A tool has an input schema.
    ///
    /// ## What it does
    ///
    /// Asks for the member `inputSchema`. The policy `repair` adds `{"type": "object"}`, which allows every
    /// argument, as no schema at all does.
    ///
    /// ## Why is this bad
    ///
    /// The protocol requires it; clients that parse the list as a whole lose every tool in it.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "name": "now" }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "name": "now", "inputSchema": { "type": "object", "additionalProperties": false } }
    /// ```
    INPUT_MISSING = "input-missing", Error
}
