//! `arguments-invalid`.

declare! {
    /// Arguments keep the input schema.
    ///
    /// ## What it does
    ///
    /// Validates the arguments of a call against the tool's input schema, one finding for each broken rule
    /// up to the limit. Under `warn` the call goes on; under `enforce` it is answered with a tool error that
    /// lists them all, for the model to correct.
    ///
    /// ## Why is this bad
    ///
    /// A server that gets arguments outside its own schema fails later and with less to go by.
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
