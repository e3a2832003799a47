//! `arguments-unfinished`.

declare_rule! {
    /// Arguments cannot be checked within the budget.
    ///
    /// ## What it does
    ///
    /// Reports a validation that a limit stopped. An unfinished validation never counts as valid: under
    /// `repair` (the default) and `enforce` a tool error answers the call. Under `warn` the call
    /// goes on.
    ///
    /// ## Why is this bad
    ///
    /// Nobody knows whether the arguments are valid.
    ///
    /// ## Example
    ///
    /// A pattern that backtracks at each character:
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
    pub ARGUMENTS_UNFINISHED = "arguments-unfinished", Error
}
