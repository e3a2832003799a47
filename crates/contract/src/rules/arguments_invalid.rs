//! `arguments-invalid`.

declare! {
    /// Arguments are valid under the input schema.
    ///
    /// ## What it does
    ///
    /// Validates the arguments of a call against the tool's input schema, and reports each violation up to the
    /// limit. Under `warn` the call goes on. Under `enforce` the answer is a tool error that lists the violations,
    /// so that the model can correct them.
    ///
    /// ## Why is this bad
    ///
    /// A server that gets arguments outside its own schema fails later, with a less helpful error.
    ///
    /// ## Example
    ///
    /// ```json
    /// {
    ///   "inputSchema": { "type": "object", "properties": { "hours": { "type": "integer", "maximum": 24 } } },
    ///   "arguments": { "hours": 30 }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// ```json
    /// {
    ///   "inputSchema": { "type": "object", "properties": { "hours": { "type": "integer", "maximum": 24 } } },
    ///   "arguments": { "hours": 24 }
    /// }
    /// ```
    ARGUMENTS_INVALID = "arguments-invalid", Error
}
