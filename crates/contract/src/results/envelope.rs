//! `result-envelope`.

declare_rule! {
    /// A result lacks its `{"result": …}`, or has one too many.
    ///
    /// ## What it does
    ///
    /// Under `repair`, structured content that is valid only inside of `{"result": …}` is put there, if the output schema
    /// declares that property and no other; an object has to have a property that is declared inside. Structured content
    /// that is `{"result": …}` and nothing else is taken out of it, if the schema says nothing of such a property and the
    /// value is valid.
    ///
    /// ## Why is this bad
    ///
    /// Frameworks put values that are no objects into this envelope, in the schema and in results. A server, or a proxy, that
    /// does one without the other breaks its own schema, and clients that validate results reject the answer.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "outputSchema": { "type": "object", "properties": { "result": { "type": "integer" } }, "required": ["result"] },
    ///   "result": { "content": [], "structuredContent": 7 }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "outputSchema": { "type": "object", "properties": { "result": { "type": "integer" } }, "required": ["result"] },
    ///   "result": { "content": [], "structuredContent": { "result": 7 } }
    /// }
    /// ```
    RESULT_ENVELOPE = "result-envelope", Info
}

/// What the repair does, for the finding.
pub(super) const ADDED: &str = "put into `result`";

/// What the opposite does.
pub(super) const REMOVED: &str = "taken out of `result`";
