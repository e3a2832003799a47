//! `arguments-invalid`.

declare_rule! {
    /// Arguments are invalid under the input schema.
    ///
    /// ## What it does
    ///
    /// Validates the arguments of a call against the tool's input schema, and reports each violation up to the
    /// limit. What happens to the call depends on the mode for arguments:
    ///
    /// - `repair` (the default): arguments that can only mean one thing are repaired, and the call goes on.
    ///   Otherwise a tool error answers the call.
    /// - `enforce`: a tool error answers the call.
    /// - `warn`: the call goes on.
    ///
    /// The tool error lists the violations, so that the model can correct them. Under `repair` it lists those that
    /// no repair fixes.
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
    pub ARGUMENTS_INVALID = "arguments-invalid", Error
}
