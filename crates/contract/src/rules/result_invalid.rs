//! `result-invalid`.

declare_rule! {
    /// Structured content is invalid under the output schema.
    ///
    /// ## What it does
    ///
    /// Validates `structuredContent` in its natural shape against the tool's output schema, and reports each
    /// violation up to the limit. Results with `isError: true` are not checked. Under `warn` the result passes.
    /// Under `repair` too, if it cannot be repaired. Under `enforce` a tool error replaces it, which says what was
    /// expected but repeats nothing of the data.
    ///
    /// ## Why is this bad
    ///
    /// Clients that validate results reject the answer, and code generated from the schema fails on values that
    /// the schema does not allow.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "outputSchema": { "type": "object", "properties": { "temperature": { "type": "number" } } },
    ///   "result": { "content": [], "structuredContent": { "temperature": null } }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// Return what the schema says, or say what you return:
    ///
    /// ```json
    /// {
    ///   "outputSchema": { "type": "object", "properties": { "temperature": { "type": ["number", "null"] } } },
    ///   "result": { "content": [], "structuredContent": { "temperature": null } }
    /// }
    /// ```
    pub RESULT_INVALID = "result-invalid", Error
}
