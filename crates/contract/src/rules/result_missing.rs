//! `result-missing`.

declare! {
    /// A tool with an output schema returns structured content.
    ///
    /// ## What it does
    ///
    /// Asks for the member `structuredContent` in every result that is not an error. `null`, `0`, `false`,
    /// `""` and `[]` are values; only an absent member is missing.
    ///
    /// ## Why is this bad
    ///
    /// The protocol requires it, and clients that check it fail the call. Often a proxy in between dropped
    /// the member.
    ///
    /// ## Example
    ///
    /// ```json
    /// { "content": [{ "type": "text", "text": "72" }] }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// { "content": [{ "type": "text", "text": "72" }], "structuredContent": 72 }
    /// ```
    RESULT_MISSING = "result-missing", Error
}
