//! `arguments-unfinished`.

declare! {
    /// Arguments can be checked within the budget.
    ///
    /// ## What it does
    ///
    /// Reports a validation that a limit ended before it was decided. That is never taken for valid: under
    /// `enforce` the call is answered with a tool error of its own.
    ///
    /// ## Why is this bad
    ///
    /// Whether the arguments are right is not known.
    ///
    /// ## Example
    ///
    /// A pattern that has to go back at each character:
    ///
    /// ```json
    /// {
    ///   "inputSchema": { "type": "object", "properties": { "id": { "pattern": "^((?=a)a|aa)+$" } } },
    ///   "arguments": { "id": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!" }
    /// }
    /// ```
    ///
    /// ## Use instead
    ///
    /// A simpler schema, smaller arguments, or more fuel for servers you trust:
    ///
    /// ```json
    /// {
    ///   "inputSchema": { "type": "object", "properties": { "id": { "pattern": "^a+$" } } },
    ///   "arguments": { "id": "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!" }
    /// }
    /// ```
    ARGUMENTS_UNFINISHED = "arguments-unfinished", Error
}
