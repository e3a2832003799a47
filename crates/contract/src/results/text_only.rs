//! `result-text-only`.

declare_rule! {
    /// The structured content of a result is in its text only.
    ///
    /// ## What it does
    ///
    /// Under `repair`, a result without structured content (or with `null` that the output schema does not allow) whose only
    /// text block is JSON gets the value of that text as its structured content, if that is valid. The text block stays. The
    /// schema must not accept everything, and must not accept the text itself as a string. A `{"result": …}` around the value
    /// is added or taken off if only then it is valid.
    ///
    /// ## Why is this bad
    ///
    /// Servers declare an output schema and return text, as they did before. The protocol requires structured content, and
    /// clients that check it fail the call.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "outputSchema": { "type": "object", "properties": { "hours": { "type": "integer" } } },
    ///   "result": { "content": [{ "type": "text", "text": "{ \"hours\": 7 }" }] }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "outputSchema": { "type": "object", "properties": { "hours": { "type": "integer" } } },
    ///   "result": { "content": [{ "type": "text", "text": "{ \"hours\": 7 }" }], "structuredContent": { "hours": 7 } }
    /// }
    /// ```
    RESULT_TEXT_ONLY = "result-text-only", Info
}

/// What the repair does, for the finding.
pub(super) const DONE: &str = "read from the text block";
