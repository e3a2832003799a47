//! `result-missing`.

declare_rule! {
    /// A tool with an output schema returns no structured content.
    ///
    /// ## What it does
    ///
    /// Requires the member `structuredContent` in every result that is not an error, does not ask for input
    /// (`"resultType": "input_required"`) and does not stand for a task. `null`, `0`, `false`, `""` and `[]`
    /// are values; only an absent member is missing.
    ///
    /// ## Why is this bad
    ///
    /// The protocol requires it, and clients that check it fail the call. Often a proxy dropped the
    /// member.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "outputSchema": { "type": "integer" },
    ///   "result": { "content": [{ "type": "text", "text": "72" }] }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "outputSchema": { "type": "integer" },
    ///   "result": { "content": [{ "type": "text", "text": "72" }], "structuredContent": 72 }
    /// }
    /// ```
    pub RESULT_MISSING = "result-missing", Error
}
