//! `result-invalid`.

declare! {
    /// Structured content keeps the output schema.
    ///
    /// ## What it does
    ///
    /// Validates `structuredContent` in its natural shape against the tool's output schema, one finding for
    /// each broken rule up to the limit. Results with `isError: true` are never judged. Under `warn` the
    /// result passes; under `enforce` a tool error takes its place that says what was expected but repeats
    /// nothing of the data.
    ///
    /// ## Why is this bad
    ///
    /// Clients that validate throw a good answer away over a schema that is too strict, and code generated
    /// from the schema fails on what the schema did not promise.
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
    RESULT_INVALID = "result-invalid", Error
}
