//! `input-missing`.

declare_rule! {
    /// A tool has no input schema.
    ///
    /// ## What it does
    ///
    /// Requires the member `inputSchema`. The policy `repair` adds `{"type": "object"}`, which allows any
    /// arguments, just as a missing schema does.
    ///
    /// ## Why is this bad
    ///
    /// The protocol requires it. Clients that parse the list as a whole lose every tool in it.
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
    pub INPUT_MISSING = "input-missing", Error
}
